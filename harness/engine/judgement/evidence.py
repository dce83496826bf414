"""Finds the source lines that a report shows: what wrote or refused in a witness, and what never ran."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.difference.compare import Difference
from harness.engine.result.events import Covered
from harness.engine.result.excerpts import Excerpts, read_excerpts
from harness.engine.result.traces import WitnessTrace
from harness.engine.search.plan import Request
from harness.world.chain import Place


def excerpts_of(
    request: Request,
    differences: Sequence[Difference],
    traces: Sequence[WitnessTrace],
    covered: tuple[Covered, Covered],
) -> tuple[Excerpts, Excerpts]:
    """Return the source lines of the first and of the second subject that a report shows.

    These are the lines around the places in ``differences`` and ``traces``, and the lines of the write sites and
    decisions of ``covered`` that did not run, or not both ways.
    """
    first, second = (
        read_excerpts(
            spec.tree.root,
            near=[
                *(write for trace in traces for write in trace.chains[side]),
                *(place for difference in differences for place in _named(difference, side)),
            ],
            lines=_never(covered[side]),
        )
        for side, spec in enumerate((request.first, request.second))
    )
    return first, second


def _named(difference: Difference, side: int) -> list[Place]:
    """Return the places of one side that made the difference."""
    pairs = (difference.writers, difference.checks, difference.decision)
    return [place for pair in pairs if pair is not None and (place := pair[side]) is not None]


def _never(covered: Covered) -> list[Place]:
    """Return the write sites that never ran, and the decisions that did not take both branches."""
    writes = [site.writer for site in covered.writes if not site.count]
    return [*writes, *(site.decision for site in covered.decisions if site.seen != 3)]
