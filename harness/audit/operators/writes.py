"""Makes faults in writes and calls: a statement is lost, so that what it writes or changes stays as it was."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operators.operator import Edit, FaultContext, operator
from harness.audit.reading.walk import is_environment_write, is_field_write, is_text_call


@operator
def dropped_writes(node: cst.Assign | cst.AugAssign | cst.AnnAssign, context: FaultContext) -> Iterator[Edit]:
    """An assignment to a field or an item becomes pass."""
    # Without an assignment to a local name the code usually ends in a NameError, which every gate catches.
    if is_field_write(node):
        yield context.becomes(node, "pass", "write")


@operator
def dropped_environment_writes(node: cst.Expr, context: FaultContext) -> Iterator[Edit]:
    """A statement that sets or unsets an environment variable becomes pass."""
    if is_environment_write(node.value):
        yield context.becomes(node, "pass", "write")


@operator
def dropped_calls(node: cst.Expr, context: FaultContext) -> Iterator[Edit]:
    """A statement that only calls something (a handler, a helper, a check) becomes pass."""
    call = node.value
    if isinstance(call, cst.Call) and not is_environment_write(call) and not is_text_call(call):
        yield context.becomes(node, "pass", "write")
