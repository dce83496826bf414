"""A name taken for part of one: what was to be equal need only contain it, or the other way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.vocabulary import constant, is_constant, name_of
from harness.audit.walk import Node

_EQUALITY: Final[Mapping[type[cst.BaseCompOp], tuple[str]]] = {cst.In: ("==",), cst.NotIn: ("!=",)}


class ContainedNames(Operator):
    """A comparison with a text that is part of another one becomes a search for it, and a search a comparison."""

    examples = (
        Example(
            "x = a == 'fa'\ny = a in ('fa', 'fa_long', None)\n",
            ("x = 'fa' in str(a)\ny = a in ('fa', 'fa_long', None)\n",),
        ),
        Example(
            "x = y.a != 'fa'\ny.a = 'my_fa'\n",
            ("x = 'fa' not in str(y.a)\ny.a = 'my_fa'\n",),
        ),
        Example("x = 'fa' in name\n", ("x = 'fa' == name\n",)),
        Example("x = 'fa' not in name\n", ("x = 'fa' != name\n",)),
    )
    unchanged = (
        "x = a == 'fa'\n",
        "x = a == 'fa'\na = 'other'\n",
        "x = 'fa' in ('fa', 'other')\n",
        "x = a == 1\n",
        "x = a == '' or a == 'b'\n",
    )

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the other question about the same text."""
        if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
            return
        (part,) = node.comparisons
        if isinstance(part.operator, cst.Equal | cst.NotEqual) and _is_text(part.comparator):
            here = Node(part.comparator, (*place.here.ancestors, node, part), "guard")
            if _is_part_of_another(part.comparator, here, place):
                word = "in" if isinstance(part.operator, cst.Equal) else "not in"
                left = place.source.outer_text(node.left)
                yield place.becomes(node, f"{place.source.text_of(part.comparator)} {word} str({left})", "guard")
        elif isinstance(part.comparator, cst.Name | cst.Attribute) and _is_text(node.left):
            yield from (
                place.becomes(part.operator, other, "guard") for other in _EQUALITY.get(type(part.operator), ())
            )


def _is_text(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.SimpleString) and is_constant(node) and bool(constant(node))


def _is_part_of_another(node: cst.BaseExpression, here: Node, place: Place) -> bool:
    assert isinstance(node, cst.SimpleString)
    text = constant(node)
    others = place.vocabulary.others(name_of(here), text)
    return any(isinstance(other, str) and str(text) in other for other in others)
