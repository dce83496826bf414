"""Another constant: the number beside it, the other truth value, another value of the same field, None and back."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.vocabulary import Constant, constant, is_constant, is_member, name_of


class Constants(Operator):
    """One constant becomes another that could stand in its place."""

    examples = (
        Example("x.page_size = 64\n", ("x.page_size = 65\n", "x.page_size = 63\n")),
        Example("x.overlap = True\n", ("x.overlap = False\n",)),
        Example("x.ratio = 0.5\n", ("x.ratio = 1.5\n",)),
        # Another value that occurs for the field, not just any text.
        Example(
            "def f(x):\n    x.backend = 'fa3'\n    return x.backend == 'fa4'\n",
            (
                "def f(x):\n    x.backend = 'fa4'\n    return x.backend == 'fa4'\n",
                "def f(x):\n    x.backend = 'fa3'\n    return x.backend == 'fa3'\n",
            ),
        ),
        Example(
            "def f(x):\n    if x.backend is None:\n        x.backend = 'fa3'\n",
            ("def f(x):\n    if x.backend is None:\n        x.backend = None\n",),
        ),
        Example("KNOWN = ('a', 'b')\n", ("KNOWN = ('b', 'b')\n", "KNOWN = ('a', 'a')\n")),
        Example("x = {'key': y}\n", ("x = {'key_': y}\n",)),
        Example("def f(x):\n    x.mode = Mode.FULL\n", ("def f(x):\n    x.mode = None\n",)),
        Example("x = Mode.FULL, Mode.OFF\n", ("x = Mode.OFF, Mode.OFF\n", "x = Mode.FULL, Mode.FULL\n")),
    )
    unchanged = (
        '"""A docstring."""\n__all__ = ["a"]\n',
        "def f(x: Literal['a']) -> Literal[1]:\n    'A docstring.'\n",
        "assert x, f'not {x} but {1}'\n",
        "raise ValueError('text')\n",
        "x: A[int, Arg('help', choices=('a',))]\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "logger.warning('text')\n",
        # That is for the comparison operators.
        "x = y is None\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield what the constant ``node`` may become."""
        if is_member(node):
            yield from _members(node, place)
        elif isinstance(node, cst.SimpleString | cst.Integer | cst.Float | cst.Name) and is_constant(node):
            value = constant(node)
            for other in _others(value, place):
                quote = node.quote if isinstance(node, cst.SimpleString) else '"'
                yield place.becomes(node, _written(other, quote))


def _others(value: Constant, place: Place) -> list[Constant]:
    known = place.vocabulary.others(name_of(place.here), value)
    others: list[Constant] = []
    if isinstance(value, bool):
        others.append(not value)
    elif isinstance(value, int):
        others += [value + 1, value - 1]
    elif isinstance(value, float):
        others.append(value + 1)
    elif isinstance(value, str):
        others += [other for other in known if isinstance(other, str)][:1]
    elif not _is_identity(place):
        others += [other for other in known if other is not None][:1]
    if value is not None and place.role == "value" and None in known:
        others.append(None)
    return others if others or not isinstance(value, str) else [f"{value}_"]


def _members(node: cst.CSTNode, place: Place) -> Iterator[Edit]:
    assert isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name)
    owner = node.value.value
    other = place.vocabulary.other_member(owner, node.attr.value)
    if other is not None:
        yield place.becomes(node, f"{owner}.{other}")
    elif place.role == "value":
        yield place.becomes(node, "None")


def _is_identity(place: Place) -> bool:
    """Return whether the constant is compared by ``is``, whose outcome its own operator turns round."""
    parent = place.here.parent
    if isinstance(parent, cst.Comparison):
        parent = parent.comparisons[0]
    return isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, cst.Is | cst.IsNot)


def _written(value: Constant, quote: str) -> str:
    """Return the literal of ``value``, a text in the quotes of the one that it replaces if they suit."""
    if isinstance(value, str) and value.isprintable() and not set(value) & {"'", '"', "\\"}:
        return f"{quote}{value}{quote}"
    return repr(value)
