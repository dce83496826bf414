"""A member lost: one value is no longer among those that are looked for, or gone through."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.displays import without_item
from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import Node


class DroppedMembers(Operator):
    """A tuple, list or set that ``in`` looks into, or that a loop goes through, is without one member."""

    examples = (
        Example("x = a in ('b', 'c')\n", ("x = a in ('c',)\n", "x = a in ('b',)\n")),
        Example("x = a not in {'b'}\n", ("x = a not in set()\n",)),
        Example(
            "KNOWN = [\n    'b',\n    'c',\n    *MORE,\n]\nx = a in KNOWN\n",
            (
                "KNOWN = [\n    'c',\n    *MORE,\n]\nx = a in KNOWN\n",
                "KNOWN = [\n    'b',\n    *MORE,\n]\nx = a in KNOWN\n",
                "KNOWN = [\n    'b',\n    'c',\n]\nx = a in KNOWN\n",
            ),
        ),
        Example(
            "for kernel in (envs.A, envs.B):\n    kernel.set(True)\n",
            (
                "for kernel in (envs.B,):\n    kernel.set(True)\n",
                "for kernel in (envs.A,):\n    kernel.set(True)\n",
            ),
        ),
    )
    unchanged = ("x = ('b', 'c')\n", "x = a in b\n", "f(('b', 'c'))\n", "x = a in ()\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the display ``node`` without each of its members."""
        if isinstance(node, cst.Tuple | cst.List | cst.Set) and (
            _is_searched(place.here) or place.vocabulary.is_table(_assigned_to(place))
        ):
            yield from without_item(node, node.elements, place, "guard")


def _is_searched(here: Node) -> bool:
    parent = here.parent
    if isinstance(parent, cst.For | cst.CompFor):
        return parent.iter is here.node
    return isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, cst.In | cst.NotIn)


def _assigned_to(place: Place) -> str:
    """Return the name that the display is assigned to: whole, as a branch of a conditional, or in a frozenset."""
    inner = place.here.node
    for outer in reversed(place.here.ancestors):
        if isinstance(outer, cst.Assign) and isinstance(outer.targets[0].target, cst.Name):
            return outer.targets[0].target.value
        if isinstance(outer, cst.AnnAssign) and isinstance(outer.target, cst.Name):
            return outer.target.value
        if isinstance(outer, cst.IfExp) and inner is outer.test:
            return ""
        if not isinstance(outer, cst.IfExp | cst.Arg | cst.Call):
            return ""
        inner = outer
    return ""
