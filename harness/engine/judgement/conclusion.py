"""The result of a campaign, put together from its totals and its minimised buckets."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from harness.engine.difference.folding import fold
from harness.engine.judgement.evidence import excerpts_of
from harness.engine.judgement.totals import Totals
from harness.engine.judgement.verdict import judge
from harness.engine.result.events import Finished, Started
from harness.engine.search.plan import Request, Shrunk


def concluded(
    request: Request, started: Started, totals: Totals, shrunk: Sequence[Shrunk], *, interrupted: bool
) -> Finished:
    """Return the result: the verdict, the buckets folded by cause with their evidence, and what ran.

    ``shrunk`` holds every bucket of ``totals``, minimised or not. ``interrupted`` says that a Ctrl-C ended the search
    or the minimising early. Later changes of ``totals`` do not change the result.
    """
    found = fold([answer.bucket for answer in shrunk if answer.bucket.difference.entry is None], totals.runs())
    # A folded bucket has the witness of one of its buckets, the same object, so the witness leads to its account.
    accounts = {id(answer.bucket.witness): answer for answer in shrunk}
    explained = [answer.bucket for answer in shrunk if answer.bucket.difference.entry is not None]
    used = {bucket.difference.entry for bucket in explained} | set(started.absent_explained.values())
    traces = tuple(accounts[id(bucket.witness)].trace for bucket in found)
    covered = totals.covered()
    verdict, reason = judge(totals.counts, started, covered)
    return Finished(
        verdict=verdict,
        reason=reason,
        counts=copy.copy(totals.counts),
        buckets=tuple(found),
        explanations=tuple(accounts[id(bucket.witness)].explanation for bucket in found),
        traces=traces,
        explained=tuple(explained),
        stale=tuple(entry.id for entry in started.ledger.entries if entry.id not in used),
        covered=covered,
        excerpts=excerpts_of(request, [bucket.difference for bucket in found], traces, covered),
        breakdown=copy.deepcopy(totals.breakdown),
        interactions=totals.seen.total(),
        started=started,
        interrupted=interrupted,
    )
