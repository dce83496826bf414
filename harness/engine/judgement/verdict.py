"""The verdict of a campaign, and its reason in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.engine.result.events import Counts, Covered, Started, Verdict

_NAMED: Final = 3
"""How many fields a sentence names before it only counts the rest."""


def judge(counts: Counts, started: Started, covered: Sequence[Covered] = ()) -> tuple[Verdict, str]:
    """Return the verdict on the cases of a campaign, and its reason in words.

    If a write site of a gated field never ran, the search proves nothing about that field. ``covered`` of both
    subjects says which ran; a site with an excuse does not count.
    """
    fields = len(started.compared)
    if counts.different:
        return "different", f"{counts.different} of {counts.cases} cases differ"
    if counts.failed:
        return "inconclusive", f"{counts.failed} of {counts.cases} cases gave no outcome to compare"
    if not counts.resolved:
        return "inconclusive", f"none of {counts.cases} cases resolved on both sides"
    missed = [site for side in covered for site in side.missed(started.gated)]
    if missed:
        places = "a place that writes" if len(missed) == 1 else f"{len(missed)} places that write"
        names = _some([name for name in started.gated if any(site.writer.field == name for site in missed)])
        return "inconclusive", f"{counts.cases} cases agree, but {places} {names} never ran"
    apart = f", {counts.explained} of them but for what the ledger explains" if counts.explained else ""
    return "equivalent", f"{counts.cases} cases agree in {fields} field{'s' if fields != 1 else ''}{apart}"


def _some(names: Sequence[str]) -> str:
    """Return the first of the names in words, and how many more there are."""
    if len(names) > _NAMED + 1:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} other fields"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
