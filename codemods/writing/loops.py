"""Reads loops over string literals, for attribute names that are the variable of a loop."""

from __future__ import annotations

from typing import Any

import libcst as cst
import libcst.matchers as m


def written_out(node: cst.For) -> tuple[str, frozenset[str]]:
    """Return the loop's variable and its values if these are string literals, else the empty string and no values."""
    values: list[Any] = []
    if isinstance(node.iter, (cst.Tuple, cst.List, cst.Set)):
        for element in node.iter.elements:
            text = element.value
            values.append(text.evaluated_value if isinstance(text, cst.SimpleString) else None)
    if not isinstance(node.target, cst.Name) or not values or not all(isinstance(item, str) for item in values):
        return "", frozenset()
    # If the body assigns the variable, it may be something else.
    rebound = m.findall(node.body, m.AssignTarget(m.Name(node.target.value)) | m.NamedExpr(m.Name(node.target.value)))
    return ("", frozenset()) if rebound else (node.target.value, frozenset(values))
