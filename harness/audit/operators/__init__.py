"""The operators, each a kind of fault, in modules by what they break. A new operator is a function in one of them."""

from __future__ import annotations

from functools import cache

from harness.audit.operators import conditions, declarations, order, reads, values, writes
from harness.audit.operators.operator import Operator

_MODULES = (conditions, declarations, order, reads, values, writes)


@cache
def all_operators() -> tuple[Operator, ...]:
    """Return every operator, by name."""
    found = [member for module in _MODULES for member in vars(module).values() if isinstance(member, Operator)]
    return tuple(sorted(found, key=lambda operator: operator.name))
