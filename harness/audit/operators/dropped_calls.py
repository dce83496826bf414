"""A call lost: a handler, a helper, a check does not run."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import is_environment_write, is_text_call


class DroppedCalls(Operator):
    """A statement that only calls something becomes pass."""

    examples = (
        Example("self._handle_moe()\n", ("pass\n",)),
        Example("if a:\n    apply(\n        x,\n    )\n", ("if a:\n    pass\n",)),
    )
    # Another operator drops what is written to the environment; what is only said changes nothing.
    unchanged = ("x = f()\n", "envs.X.set(1)\n", "logger.info('text')\n", "raise f()\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the statement ``node`` without its call."""
        if not isinstance(node, cst.Expr) or not isinstance(node.value, cst.Call):
            return
        if not is_environment_write(node.value) and not is_text_call(node.value):
            yield place.becomes(node, "pass", "write")
