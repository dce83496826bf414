"""Before and after of `pin_whitelist`."""

from __future__ import annotations

from examples import Example

_HEAD = 'from app.arg import A, Arg\n\n\nclass Args:\n    size: A[int, Arg(help="", resolvable=True)] = 1\n'
_TEST = '''\
"""What the resolution may declare, pinned: a field that joins or leaves the whitelist is meant to."""

from app.args import Args
from app.overrides_runtime import resolvable_fields

PINNED = (
    "size",
)


def test_the_whitelist_is_the_pinned_one():
    assert sorted(resolvable_fields(Args)) == sorted(PINNED)
'''


EXAMPLES = (
    Example(
        "A new module",
        "",
        _TEST,
        file="test/test_resolvable_fields.py",
        options={"path": "test/test_resolvable_fields.py"},
        others={"app/args.py": _HEAD},
    ),
    Example(
        "A module that is there: the tuple alone changes",
        'import pytest\n\nPINNED = ("old",)  # the whitelist\n',
        'import pytest\n\nPINNED = (\n    "size",\n)  # the whitelist\n',
        file="test/test_resolvable_fields.py",
        options={"path": "test/test_resolvable_fields.py"},
        others={"app/args.py": _HEAD},
    ),
    Example(
        "A tuple that lists them already",
        'PINNED = ("size",)\n',
        file="test/test_resolvable_fields.py",
        options={"path": "test/test_resolvable_fields.py"},
        others={"app/args.py": _HEAD},
    ),
)
