"""Makes faults in reads: a field is read with the value of another time.

A step must read what earlier steps resolved, and a provider what the user gave. A fault makes a step read the given
value, or a provider the resolved one. It changes only reads of fields that another function may have written before;
for other fields both values are equal. `harness.audit.stages` finds the wrong value while the mutant runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from harness.audit.operators.operator import Edit, FaultContext, operator
from harness.audit.reading.walk import is_read_of_parameter, outer_function
from harness.audit.stages import GIVEN, RESOLVED


@operator
def pristine_reads(node: cst.Attribute, context: FaultContext) -> Iterator[Edit]:
    """A step reads a field as the user gave it, although another function has written the field before."""
    if is_read_of_parameter(context.here, provider=False):
        yield from _reads_of(node, GIVEN, context)


@operator
def resolved_reads(node: cst.Attribute, context: FaultContext) -> Iterator[Edit]:
    """A provider reads a field as it is resolved so far, after another function has written the field."""
    if is_read_of_parameter(context.here, provider=True):
        yield from _reads_of(node, RESOLVED, context)


def _reads_of(node: cst.Attribute, record: str, context: FaultContext) -> Iterator[Edit]:
    if context.vocabulary.is_written_before(node.attr.value, outer_function(context.here)):
        yield context.becomes(node, f"{record}.{node.attr.value}")
