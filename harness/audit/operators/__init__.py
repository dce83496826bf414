"""The operators: each makes one kind of fault, and each module has those that break the same sort of code.

To add an operator, write a decorated function in one of these modules.
"""

from __future__ import annotations

from functools import cache

from harness.audit.operators import conditions, declarations, order, reads, values, writes
from harness.audit.operators.operator import Operator

_MODULES = (conditions, declarations, order, reads, values, writes)


@cache
def all_operators() -> tuple[Operator, ...]:
    """Return every operator, sorted by name."""
    found = [member for module in _MODULES for member in vars(module).values() if isinstance(member, Operator)]
    return tuple(sorted(found, key=lambda operator: operator.name))
