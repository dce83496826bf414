"""Before and after of `rename_keyword`."""

from __future__ import annotations

from examples import Example

_ARG = """\
class Arg:
    help: str = ""
    model_overridable: bool = False


def model_overridable_fields(record):
    return [name for name, arg in record if arg.model_overridable]
"""
_FIELD = """\
from app.arg import A, Arg


class Args:
    size: A[int, Arg(help="", model_overridable=True)] = 1
"""
_OTHERS = {
    "app/arg.py": _ARG,
    "app/args.py": 'from app.arg import A, Arg\n\n\nclass Args:\n    size: A[int, Arg(help="")] = 1\n',
}

EXAMPLES = (
    Example(
        "A field's tag",
        _FIELD,
        _FIELD.replace("model_overridable", "resolvable"),
        others=_OTHERS,
    ),
    Example(
        "The class and the helper",
        _ARG,
        _ARG.replace("model_overridable", "resolvable"),
        file="app/arg.py",
        others=_OTHERS,
    ),
    Example(
        "Who reads it, and what is left",
        """\
from app.arg import model_overridable_fields as fields

names = getattr(arg, "model_overridable", False) and arg.model_overridable
other(model_overridable=True)
model_overridable = 1
""",
        """\
from app.arg import resolvable_fields as fields

names = getattr(arg, "resolvable", False) and arg.resolvable
other(model_overridable=True)
model_overridable = 1
""",
        file="app/reader.py",
        others=_OTHERS,
        left=("something else",),
    ),
    Example("A file without it", "overridable = 1\n", file="app/other.py", others=_OTHERS),
)
