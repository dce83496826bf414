"""Which lines of the subjects' sources bear out a result: what wrote or refused in a witness, and what never ran."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.events import Covered, Started
from harness.engine.excerpts import Excerpts, Place, read_excerpts
from harness.engine.plan import Request
from harness.engine.traces import Trace


def excerpts_of(
    request: Request, started: Started, traces: Sequence[Trace], covered: tuple[Covered, Covered]
) -> tuple[Excerpts, Excerpts]:
    """Return what a report shows of the sources of the first and of the second subject."""
    first, second = (
        read_excerpts(
            spec.tree.root,
            near=[Place(write.file, write.line) for trace in traces for write in trace.chains[side]],
            lines=_never(covered[side]),
            refusals=[refusal for trace in traces if (refusal := trace.refusals[side]) is not None],
            files=_files(started, side),
        )
        for side, spec in enumerate((request.first, request.second))
    )
    return first, second


def _files(started: Started, side: int) -> list[str]:
    """Return the files that take part in the resolution, in its order."""
    writers = [place.file for place in started.writers[side]]
    return list(dict.fromkeys([*writers, *(place.file for place in started.decisions[side])]))


def _never(covered: Covered) -> list[Place]:
    """Return the places that write and never ran, and the decisions that did not go both ways."""
    writes = [Place(site.writer.file, site.writer.line) for site in covered.writes if not site.count]
    decisions = [Place(site.decision.file, site.decision.line) for site in covered.decisions if site.seen != 3]
    return writes + decisions
