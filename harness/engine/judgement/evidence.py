"""Which lines of the subjects' sources bear out a result: what wrote or refused in a witness, and what never ran."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.difference.compare import Difference
from harness.engine.result.events import Covered
from harness.engine.result.excerpts import Excerpts, Line, read_excerpts, said_place
from harness.engine.result.traces import WitnessTrace
from harness.engine.search.plan import Request


def excerpts_of(
    request: Request,
    differences: Sequence[Difference],
    traces: Sequence[WitnessTrace],
    covered: tuple[Covered, Covered],
) -> tuple[Excerpts, Excerpts]:
    """Return what a report shows of the sources of the first and of the second subject.

    These are the lines around the places that ``differences`` and ``traces`` name, and those of what of ``covered``
    did not run.
    """
    first, second = (
        read_excerpts(
            spec.tree.root,
            near=[
                *(Line(write.file, write.line) for trace in traces for write in trace.chains[side]),
                *(place for difference in differences for place in _named(difference, side)),
            ],
            lines=_never(covered[side]),
        )
        for side, spec in enumerate((request.first, request.second))
    )
    return first, second


def _named(difference: Difference, side: int) -> list[Line]:
    """Return the places of one side that the difference was made at."""
    texts = [pair[side] for pair in (difference.writers, difference.checks, difference.decision) if pair is not None]
    return [said[1] for text in texts if (said := said_place(text)) is not None]


def _never(covered: Covered) -> list[Line]:
    """Return the places that write and never ran, and the decisions that did not go both ways."""
    writes = [Line(site.writer.file, site.writer.line) for site in covered.writes if not site.count]
    decisions = [Line(site.decision.file, site.decision.line) for site in covered.decisions if site.seen != 3]
    return writes + decisions
