"""Loops over texts that are written out: what an attribute's name may be where it is the loop's variable."""

from __future__ import annotations

from typing import Any

import libcst as cst
import libcst.matchers as m


def written_out(node: cst.For) -> tuple[str, frozenset[str]]:
    """Return the loop's variable and the strings it goes through; no strings where they are not written out."""
    values: list[Any] = []
    if isinstance(node.iter, (cst.Tuple, cst.List, cst.Set)):
        for element in node.iter.elements:
            text = element.value
            values.append(text.evaluated_value if isinstance(text, cst.SimpleString) else None)
    if not isinstance(node.target, cst.Name) or not values or not all(isinstance(item, str) for item in values):
        return "", frozenset()
    # The variable must be the loop's alone.
    rebound = m.findall(node.body, m.AssignTarget(m.Name(node.target.value)) | m.NamedExpr(m.Name(node.target.value)))
    return ("", frozenset()) if rebound else (node.target.value, frozenset(values))
