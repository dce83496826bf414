"""The coverage of a search in words: writes and branches that ran, names that were drawn, inputs that met."""

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
    """Return how much of a subject ran, in lines; none for a subject that is not recorded.

    Listed are the write sites that should have run and did not, those of ``gated`` fields first because a verdict
    depends on them. Decisions without one of their branches, and places with an excuse, are many and usual: they are
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
    """Return the fault or the excuse of a write site; empty for one that ran without an excuse."""
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
    """Return a field and the place that writes it."""
    return f"{place.field} in {place}"


def drawn_words(result: Finished) -> str:
    """Return the numbers of architectures and named machines that were drawn; empty if cases have neither."""
    parts = []
    for what, drawn, drawable in (
        ("architectures", result.drawn.architectures, result.started.drawable.architectures),
        ("machines", result.drawn.machines, result.started.drawable.machines),
    ):
        if drawable:
            parts.append(f"{len(drawn & drawable)} of {len(drawable)} {what}")
    return ", ".join(parts)


def interactions_words(interactions: Interactions) -> str:
    """Return the shares of all pairs and triples of options that were together in a case."""
    space = interactions.space
    words = f"pairs {percent(interactions.pairs, space.pairs)} of {space.pairs:,}"
    if space.sampled:
        sample = "" if space.sampled == space.triples else f" (of a sample of {space.sampled:,})"
        words += f", triples {percent(interactions.triples, space.sampled)} of {space.triples:,}{sample}"
    return f"{words}, of {space.parameters} inputs"


def percent(part: int, whole: int) -> str:
    """Return a share in percent, rounded down: only all is 100 %."""
    return f"{1000 * part // whole / 10:g} %"
