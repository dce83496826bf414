"""Resolves a case: runs all slots, in order, over its record."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from harness.world.case import Case, Outcome
from harness.world.fields import FieldSpec
from harness.world.records import argument_specs
from harness.world.slice import resolve_slice
from legacy.server_args import ServerArgs
from legacy.slots import SLOTS

# Functions in this folder count as the origin of a refusal.
_HERE: Final = str(Path(__file__).parent) + "/"


@cache
def arguments() -> dict[str, FieldSpec]:
    """Return the arguments that a case may set, by name; `harness.world.fields.check_args` refuses all others."""
    return argument_specs()


def resolve(case: Case) -> Outcome:
    """Return the outcome of ``case``: the resolved fields, or the refusal that a handler raised.

    Raises UsageError for an argument that is no field, or whose value is not of the field's type.
    """
    return resolve_slice(case, arguments=arguments(), record=ServerArgs, run=_run, root=_HERE)


def _run(record: ServerArgs) -> None:
    for slot in SLOTS:
        slot.run(record)
