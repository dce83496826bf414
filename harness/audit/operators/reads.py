"""Faults in reads: a field is read as it was too early or too late.

A step must see what earlier steps resolved, and a provider what the user gave. The faults exchange the two for fields
that another function writes before; `harness.audit.stages` finds the other value while the mutant runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operators.operator import Edit, FaultContext, operator
from harness.audit.reading.walk import is_read_of_parameter, outer_function
from harness.audit.stages import GIVEN, RESOLVED


@operator
def pristine_reads(node: cst.Attribute, context: FaultContext) -> Iterator[Edit]:
    """A field that another function writes before is read as the user gave it."""
    if is_read_of_parameter(context.here, provider=False):
        yield from _reads_of(node, GIVEN, context)


@operator
def resolved_reads(node: cst.Attribute, context: FaultContext) -> Iterator[Edit]:
    """A field that another function writes before is read by a provider as it is resolved so far."""
    if is_read_of_parameter(context.here, provider=True):
        yield from _reads_of(node, RESOLVED, context)


def _reads_of(node: cst.Attribute, record: str, context: FaultContext) -> Iterator[Edit]:
    if context.vocabulary.is_written_before(node.attr.value, outer_function(context.here)):
        yield context.becomes(node, f"{record}.{node.attr.value}")
