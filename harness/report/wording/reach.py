"""Puts the coverage of a search into words.

It says which write sites and branches ran, which architectures and machines the cases had, and how many combinations
of inputs were in some case.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from typing import Final

from harness.common.errors import visible
from harness.engine.result.events import Covered, Decided, Finished, Interactions, Reached
from harness.report.wording.words import counted
from harness.world.chain import Write, Writer

_SHOWN: Final = 12


def reach_lines(label: str, covered: Covered, gated: Collection[str] = (), *, verbose: bool = False) -> list[str]:
    """Return lines that say how much of a subject ran; none for a subject that is not recorded.

    They list the write sites that should have run and did not, those of ``gated`` fields first, because the verdict
    depends on these. Decisions that took only one branch and places with an excuse are usual and many: they are
    counted, and listed only if ``verbose``.
    """
    if not covered.writes:
        return []
    ran = sum(bool(site.count) for site in covered.writes)
    due = sum(site.due for site in covered.writes)
    branches = f"{covered.outcomes} of {2 * len(covered.decisions)} branches of decisions were seen"
    lines = [f"reach    {label}: {ran} of {due} write sites ran, {branches}"]
    sites = sorted(covered.writes, key=lambda site: site.writer.field not in gated)
    faults = [words for site in sites if site.due and (words := _site_words(site))]
    excused = [_site_words(site) for site in sites if not site.due]
    undecided = [_decision_words(site) for site in covered.decisions if site.seen != 3 and not site.excuse]
    excused += [_decision_words(site) for site in covered.decisions if site.seen != 3 and site.excuse]
    shown = [*faults, *undecided, *excused] if verbose else faults[:_SHOWN]
    lines += [f"         {words}" for words in shown]
    if not verbose:
        left = (
            (len(faults) - len(shown), "more of these", "more of these"),
            (len(undecided), "decision with a branch never seen", "decisions with a branch never seen"),
            (len(excused), "place with an excuse", "places with an excuse"),
        )
        if words := ", ".join(counted(*one) for one in left if one[0] > 0):
            lines.append(f"         not listed: {words} (--verbose lists them)")
    return lines


def _site_words(site: Reached) -> str:
    """Return what is wrong with a write site, or why it cannot run; empty if it ran and has no excuse."""
    if not site.excuse:
        return "" if site.count else f"{place_words(site.writer)} never ran"
    if site.count:
        times = "once" if site.count == 1 else f"{site.count} times"
        return f"{place_words(site.writer)} ran {times}, and was said to be out of reach: {visible(site.excuse)}"
    return f"{place_words(site.writer)} cannot run: {visible(site.excuse)}"


def _decision_words(site: Decided) -> str:
    place = site.decision
    text = visible(textwrap.shorten(place.text, 60, placeholder=" ..."))
    why = f", and cannot be: {visible(site.excuse)}" if site.excuse else ""
    return f"{text} in {place} was never {site.lacks}{why}"


def place_words(place: Writer | Write) -> str:
    """Return a field and the place that writes it, as text."""
    return f"{place.field} in {place}"


def drawn_words(result: Finished) -> str:
    """Return how many of the architectures and named machines were in some case; empty if cases have neither."""
    parts = []
    for what, drawn, drawable in (
        ("architectures", result.drawn.architectures, result.started.drawable.architectures),
        ("machines", result.drawn.machines, result.started.drawable.machines),
    ):
        if drawable:
            parts.append(f"{len(drawn & drawable)} of {len(drawable)} {what}")
    return ", ".join(parts)


def interactions_words(interactions: Interactions) -> str:
    """Return which share of all pairs, and of all triples, of options was in some case."""
    space = interactions.space
    words = f"pairs {percent(interactions.pairs, space.pairs)} of {space.pairs:,}"
    if space.sampled:
        sample = "" if space.sampled == space.triples else f" (of a sample of {space.sampled:,})"
        words += f", triples {percent(interactions.triples, space.sampled)} of {space.triples:,}{sample}"
    return f"{words}, of {space.parameters} inputs"


def percent(part: int, whole: int) -> str:
    """Return a share in percent, rounded down, so that 100 % means every one."""
    return f"{1000 * part // whole / 10:g} %"
