"""A write to the environment lost: a variable keeps the value it had."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operator import Edit, Example, Operator, Place
from harness.audit.walk import is_environment_write


class DroppedEnvironmentWrites(Operator):
    """A statement that sets or unsets a variable becomes pass."""

    examples = (
        Example("envs.SGLANG_X.set(True)\n", ("pass\n",)),
        Example("if not variable.is_set():\n    variable.set(1)\n", ("if not variable.is_set():\n    pass\n",)),
        Example("os.environ.pop('X', None)\n", ("pass\n",)),
    )
    unchanged = ("envs.SGLANG_X.get()\n", "x.pop('X')\n", "y = envs.SGLANG_X.is_set()\n")

    def edits(self, node: cst.CSTNode, place: Place) -> Iterator[Edit]:
        """Yield the statement ``node`` without its write."""
        if isinstance(node, cst.Expr) and is_environment_write(node.value):
            yield place.becomes(node, "pass", "write")
