"""The result for each field, and for each field by architecture and by machine. Several reports show these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from harness.engine.difference.buckets import Bucket
from harness.engine.result.breakdown import REFUSAL, Group
from harness.engine.result.events import Finished
from harness.world.profiles import hardware_names

FieldState = Literal["differs", "explained", "agrees", "unreached", "absent"]
CellOutcome = Literal["differ", "explained", "agree", "refuse", "unreached"]

REFUSAL_ROW: Final = REFUSAL


class FieldRow(NamedTuple):
    """The result for one thing that was compared: a field, a variable that differed in some case, or `REFUSAL_ROW`.

    ``cases`` is the number of cases in which it differed, whether by itself or as a consequence. ``causes`` are the
    numbers of its buckets in the result. For each side, ``sites`` is the number of its write sites that can run, and
    ``ran`` the number of those that ran; both are 0 for a subject that is not recorded. ``absent`` is the label of
    the subject that lacks the field, empty if both have it.
    """

    name: str
    kind: Literal["field", "variable", "refusal"]
    state: FieldState
    cases: int
    causes: tuple[int, ...]
    ran: tuple[int, int]
    sites: tuple[int, int]
    absent: str = ""


class Cell(NamedTuple):
    """The result for one field in the cases of one group.

    ``cases`` is the number of cases with this outcome, and ``of`` the number in which the field was compared.
    """

    outcome: CellOutcome
    cases: int
    of: int


class Column(NamedTuple):
    """The cases of one architecture or machine. ``group`` is None if no case had it, although cases could have."""

    name: str
    group: Group | None


def field_rows(result: Finished) -> list[FieldRow]:
    """Return a row for each compared field, each variable that differed, the refusals, and each absent field."""
    compared = result.started.compared
    different = _totals(result, "different")
    explained = _totals(result, "explained")
    variables = sorted((different.keys() | explained.keys()) - set(compared) - {REFUSAL})
    rows = []
    for name in (*compared, *variables, REFUSAL_ROW):
        kind: Literal["field", "variable", "refusal"] = (
            "refusal" if name == REFUSAL_ROW else "variable" if name in variables else "field"
        )
        ran, sites = _sites(result, name)
        cases = different.get(name, 0)
        state: FieldState = "agrees"
        if cases:
            state = "differs"
        elif name in explained:
            state = "explained"
        elif (kind == "field" and not result.counts.resolved) or (any(sites) and not any(ran)):
            state = "unreached"
        causes = tuple(number for number, bucket in enumerate(result.buckets) if _is_in(name, bucket))
        rows.append(FieldRow(name, kind, state, cases, causes, ran, sites))
    for name, label in result.started.absent.items():
        rows.append(FieldRow(name, "field", "absent", 0, (), (0, 0), (0, 0), label))
    return rows


def columns(result: Finished) -> tuple[list[Column], list[Column]]:
    """Return a column for each architecture, by name, and one for each machine.

    A case may also have an architecture that no subject names; these share the last column. Machines with a profile
    come first, in the order of the profiles. The first list is empty if launches have no model, the second if they
    have no machine.
    """
    breakdown, drawable = result.breakdown, result.started.drawable
    architectures = [Column(name, breakdown.architectures.get(name)) for name in sorted(drawable.architectures)]
    others = sorted(breakdown.architectures.keys() - drawable.architectures)
    if others:
        together = Group()
        for name in others:
            together.add(breakdown.architectures[name])
        architectures.append(Column(f"{len(others)} others", together))
    place = {name: number for number, name in enumerate(hardware_names())}
    machines = sorted(
        breakdown.machines.keys() | drawable.machines, key=lambda name: (place.get(name, len(place)), name)
    )
    takes = result.started.flags.takes
    return (
        architectures if "model" in takes else [],
        [Column(name, breakdown.machines.get(name)) for name in machines] if "hardware" in takes else [],
    )


def cell(row: FieldRow, group: Group | None) -> Cell:
    """Return the outcome of a field in a group.

    If none of a field's writers ran in any case, the outcome is ``unreached`` in every group.
    """
    if group is None:
        return Cell("unreached", 0, 0)
    of = group.resolved + (group.refused if row.kind == "refusal" else 0)
    if row.name in group.different:
        return Cell("differ", group.different[row.name], of)
    if row.name in group.explained:
        return Cell("explained", group.explained[row.name], of)
    if row.state == "unreached":
        return Cell("unreached", 0, 0)
    if of:
        return Cell("agree", of, of)
    return Cell("refuse", group.refused, 0) if group.refused else Cell("unreached", 0, 0)


def _totals(result: Finished, what: Literal["different", "explained"]) -> dict[str, int]:
    """Return the number of cases in which each field or variable differed.

    A case is in the group of one architecture, so the sum over the architectures counts each case once.
    """
    totals: dict[str, int] = {}
    for group in result.breakdown.architectures.values():
        counts: Mapping[str, int] = getattr(group, what)
        for name, count in counts.items():
            totals[name] = totals.get(name, 0) + count
    return totals


def _sites(result: Finished, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many write sites of a field ran, for each side, then how many can run, for each side."""
    ran, sites = [], []
    for covered in result.covered:
        writes = [site for site in covered.writes if site.writer.field == name and site.due]
        ran.append(sum(1 for site in writes if site.count))
        sites.append(len(writes))
    return (ran[0], ran[1]), (sites[0], sites[1])


def _is_in(name: str, bucket: Bucket) -> bool:
    difference = bucket.difference
    if difference.kind not in ("field", "environment"):
        return name == REFUSAL_ROW
    return name == difference.name or name in difference.along or any(name == part.name for part, _ in bucket.parts)
