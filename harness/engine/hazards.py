"""Finds the steps of a package that must keep their order, and tries what happens if two are exchanged.

A pair of steps is constrained for a field if both ran for one case, and the later step reads what the earlier one
writes, or writes what the earlier one reads or writes. Whether the order matters is then tried: the cases for which
both ran are resolved again with the two steps exchanged. If the two are not neighbours, the exchange also moves them
past the steps in between.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from harness.common.errors import UsageError, hint
from harness.generate.cases import CaseMaker
from harness.generate.values.domains import domains_of
from harness.subjects.kinds import PackageSubject, Recorded
from harness.subjects.open import open_subject
from harness.subjects.profile import entry_of
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case
from harness.world.chain import PlacedStep
from harness.world.profiles import real_launches

Conflict = Literal["read after write", "write after read", "write after write"]

# Time limits of one request to the child, in seconds. The child leaves out the cases that it did not get to.
_SECONDS_A_PAIR: Final = 60.0
_SECONDS_TO_RECORD: Final = 600.0


class Constraint(msgspec.Struct, frozen=True):
    """Why two steps of a pair have an order: the later one does ``kind`` to ``field``."""

    field: str
    kind: Conflict


class StepPair(msgspec.Struct, frozen=True):
    """Two steps that ran for the same cases, and the result of exchanging them.

    ``together`` is the number of cases that ran both, ``run`` the number of these that were tried, ``changed`` the
    number whose outcome changed, and ``first`` the id of the first such case. ``error`` says why the two could not be
    exchanged.
    """

    earlier: PlacedStep
    later: PlacedStep
    constraints: list[Constraint]
    together: int
    run: int = 0
    changed: int = 0
    first: str = ""
    error: str = ""

    @property
    def fields(self) -> list[str]:
        """The fields for which the order may matter, each once."""
        return list(dict.fromkeys(constraint.field for constraint in self.constraints))


class Hazards(msgspec.Struct, frozen=True):
    """The pairs that were found, in the order of the steps, and the number of steps, cases and seconds."""

    subject: str
    steps: int
    cases: int
    seed: int
    seconds: float
    pairs: list[StepPair]


@dataclass(frozen=True)
class HazardSearch:
    """The package to search, the number of cases, the seed, and one field (None: all)."""

    spec: SubjectSpec
    cases: int
    seed: int = 0
    field: str | None = None


def find_hazards(asked: HazardSearch) -> Hazards:
    """Return the constrained pairs of a package, and how many cases changed when each was exchanged.

    Raises UsageError for a subject whose steps do not declare, and for a field that no step writes.
    """
    started = time.monotonic()
    subject = open_subject(asked.spec)
    if not isinstance(subject, PackageSubject):
        raise UsageError(f"{asked.spec.label} is no package of this repository, and has no steps that declare")
    with subject:
        cases = _cases(subject, asked)
        recorded = subject.recorded(cases, _SECONDS_TO_RECORD)
        if asked.field is not None:
            written = {name for step in recorded.steps for name in step.writes}
            if asked.field not in written:
                raise UsageError(f"--field {asked.field}: no step writes it{hint(asked.field, written)}")
        pairs = []
        for earlier, later, constraints, numbers in _constrained(recorded, asked.field):
            first, second = recorded.steps[earlier], recorded.steps[later]
            tried = subject.exchanged(first.source, second.source, numbers, _SECONDS_A_PAIR)
            pairs.append(
                StepPair(
                    earlier=first,
                    later=second,
                    constraints=constraints,
                    together=len(numbers),
                    run=tried.run,
                    changed=len(tried.changed),
                    first=cases[tried.changed[0]].id if tried.changed else "",
                    error=tried.error,
                )
            )
    took = time.monotonic() - started
    return Hazards(asked.spec.label, len(recorded.steps), len(cases), asked.seed, took, pairs)


def _cases(subject: PackageSubject, asked: HazardSearch) -> list[Case]:
    """Return the cases: the real launches, then what a campaign of the package with itself would draw."""
    spec = asked.spec
    description = subject.describe()
    entry = entry_of(spec.profile, sliced=spec.slice)
    domains = domains_of(description, description, spec.values, spec.not_drawn, entry)
    launches = [subject.launch_case(launch) for launch in real_launches()]
    return list(CaseMaker(domains, launches).cases(asked.seed, asked.cases))


def _constrained(recorded: Recorded, field: str | None) -> Iterator[tuple[int, int, list[Constraint], Sequence[int]]]:
    """Yield each pair of steps with its constraints and the cases for which both ran, in the order of the steps."""
    together: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, ran in enumerate(recorded.ran):
        ordered = sorted(ran)
        for place, earlier in enumerate(ordered):
            for later in ordered[place + 1 :]:
                together[earlier, later].append(number)
    for (earlier, later), numbers in sorted(together.items()):
        constraints = [
            one
            for one in _constraints(
                recorded.steps[earlier].writes,
                set(recorded.reads[earlier]),
                recorded.steps[later].writes,
                set(recorded.reads[later]),
            )
            if field in (None, one.field)
        ]
        if constraints:
            yield earlier, later, constraints, numbers


def _constraints(
    wrote: Sequence[str], read: set[str], writes: Sequence[str], reads: set[str]
) -> Iterator[Constraint]:
    """Yield what orders a step that ``wrote`` and ``read`` before one that ``writes`` and ``reads``."""
    for name in wrote:
        if name in reads:
            yield Constraint(name, "read after write")
    for name in writes:
        if name in read:
            yield Constraint(name, "write after read")
        if name in wrote:
            yield Constraint(name, "write after write")
