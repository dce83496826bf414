"""Explicit lists of what runs, such as slots and passes: displays of calls or functions that a module declares."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from harness.audit.walk import Node


def entries_of(here: Node) -> Sequence[cst.BaseElement]:
    """Return the entries of the tuple or list at ``here`` if a module or class declares it so, else none.

    It is what a name is given, or an argument of a call, such as a stage's of its passes.
    """
    node = here.node
    assert isinstance(node, cst.Tuple | cst.List)
    if here.in_function() or not isinstance(here.parent, cst.Assign | cst.AnnAssign | cst.Arg):
        return ()
    values = [element.value for element in node.elements]
    if all(isinstance(value, cst.Call) for value in values):
        return node.elements
    return node.elements if all(isinstance(value, cst.Name | cst.Attribute) for value in values) else ()
