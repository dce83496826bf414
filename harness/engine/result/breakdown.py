"""How the cases came out by architecture and by machine: the numbers behind a report's heat maps.

Cases are counted while they are compared, and the counts of all jobs are added up; no case is resolved again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from harness.engine.difference.compare import Difference
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.profiles import hardware_names, hardware_profile, per_profiles

REFUSAL: Final = "(refusal)"
"""The name under which cases are counted that differ in whether a launch is refused, or by which check."""


@per_profiles
def _named() -> dict[Hardware, str]:
    return {hardware_profile(name): name for name in hardware_names()}


class Group(msgspec.Struct, kw_only=True):
    """The cases of one architecture, or of one machine.

    ``resolved`` are those that both resolved, ``refused`` those that at least one refused (or died of), ``failed``
    those without an outcome to compare. ``different`` and ``explained`` (by the ledger) count the cases of the
    first two by what differed in them: a field, a variable, or `REFUSAL`.
    """

    resolved: int = 0
    refused: int = 0
    failed: int = 0
    different: dict[str, int] = msgspec.field(default_factory=dict)
    explained: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def cases(self) -> int:
        """All cases."""
        return self.resolved + self.refused + self.failed

    def add(self, other: Group) -> None:
        """Add the counts of other cases."""
        self.resolved += other.resolved
        self.refused += other.refused
        self.failed += other.failed
        for mine, theirs in ((self.different, other.different), (self.explained, other.explained)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count


class Breakdown(msgspec.Struct, kw_only=True):
    """The groups by the model's first architecture, and by machine: a profile's name, or ``PLATFORM (other)``."""

    architectures: dict[str, Group] = msgspec.field(default_factory=dict)
    machines: dict[str, Group] = msgspec.field(default_factory=dict)

    def count(self, case: Case, found: Sequence[Difference], *, resolved: bool, failed: bool) -> None:
        """Count one case and the differences ``found`` in it; ``resolved`` says whether both sides resolved it."""
        for groups, name in (
            (self.architectures, case.model.architectures[0]),
            (self.machines, _named().get(case.hardware) or other_machine(case.hardware)),
        ):
            group = groups.get(name)
            if group is None:
                group = groups[name] = Group()
            if failed:
                group.failed += 1
                continue
            if resolved:
                group.resolved += 1
            else:
                group.refused += 1
            for difference in found:
                counts = group.different if difference.entry is None else group.explained
                for what in _names(difference):
                    counts[what] = counts.get(what, 0) + 1

    def add(self, other: Breakdown) -> None:
        """Add the groups of other cases."""
        for mine, theirs in ((self.architectures, other.architectures), (self.machines, other.machines)):
            for name, group in theirs.items():
                mine.setdefault(name, Group()).add(group)


def other_machine(hardware: Hardware) -> str:
    """Return the name of the group of all machines of the platform that have no profile."""
    return f"{hardware.platform} (other)"


def _names(difference: Difference) -> tuple[str, ...]:
    """Return the names that a difference counts for: its own, and those of the fields that follow from it."""
    if difference.kind in ("field", "environment"):
        return difference.name, *difference.along
    return (REFUSAL,)
