"""The section of the HTML page that shows how much the cases covered.

It shows the write sites and branches that ran on both sides, and how many combinations of inputs were in some case.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from harness.engine.result.events import Covered, Decided, Finished, Reached
from harness.engine.result.excerpts import Excerpts
from harness.report.html.elements import Child, add, code, el, table
from harness.report.wording.reach import drawn_words, interactions_words


def coverage_section(result: Finished) -> Element:
    """Return the section: which inputs the cases had, and for each subject what ran and every place that did not."""
    started = result.started
    section = el("section", el("h2", "Coverage"), id="coverage")
    facts = el("ul")
    if drawn := drawn_words(result):
        add(facts, el("li", f"Drawn: {drawn}."))
    if result.interactions.space.parameters:
        add(facts, el("li", f"Together in a case: {interactions_words(result.interactions)}."))
    add(section, facts)
    never = _never_drawn(result)
    if never:
        add(section, el("p", "Never drawn: ", ", ".join(never), "."))
    for side, label in enumerate((started.first, started.second)):
        add(section, _side(label, result.covered[side], result.excerpts[side], started.gated))
    return section


def _never_drawn(result: Finished) -> list[str]:
    drawn, drawable = result.drawn, result.started.drawable
    return [
        *sorted(drawable.architectures - drawn.architectures),
        *sorted(drawable.machines - drawn.machines),
    ]


def _side(label: str, covered: Covered, excerpts: Excerpts, gated: Sequence[str]) -> Element:
    node = el("div", el("h3", code(label)), class_="covered")
    if not covered.writes and not covered.decisions:
        add(node, el("p", "This subject does not record what runs.", class_="quiet"))
        return node
    should = [site for site in covered.writes if site.due]
    ran = sum(1 for site in should if site.count)
    add(node, _bar("write sites ran", ran, len(should)))
    add(node, _bar("branches of decisions were seen", covered.outcomes, 2 * len(covered.decisions)))
    add(node, _writes([site for site in covered.writes if not site.count], excerpts, gated))
    add(node, _decisions([site for site in covered.decisions if site.seen != 3], excerpts))
    return node


def _bar(what: str, part: int, whole: int) -> Element:
    said = f"{part:,} of {whole:,} {what}"
    return el("p", el("meter", value=part, min=0, max=max(whole, 1), aria_label=said), " ", said)


def _writes(missing: Sequence[Reached], excerpts: Excerpts, gated: Sequence[str]) -> Element | None:
    if not missing:
        return None
    rows: list[list[Child]] = []
    for site in missing:
        place = site.writer
        why = f"cannot run: {site.excuse}" if site.excuse else "never ran"
        if site.missed and place.field in gated:
            why += ", and the gate asks for it"
        line = code(excerpts.line(place.file, place.line).strip())
        rows.append([code(place.field), line, _where(place.source, place.file, place.line), why])
    listed = table(["Field", "Line", "Where", ""], rows, class_="plain lines")
    return el(
        "details", el("summary", f"Write sites without a run ({len(missing)})"), listed, class_="more", open=True
    )


def _decisions(missing: Sequence[Decided], excerpts: Excerpts) -> Element | None:
    if not missing:
        return None
    rows: list[list[Child]] = []
    for site in missing:
        place = site.decision
        why = f"never {site.lacks}" + (f": {site.excuse}" if site.excuse else "")
        rows.append([code(place.text), why, _where(place.source, place.file, place.line)])
    listed = table(["Decision", "", "Where"], rows, class_="plain lines")
    return el(
        "details", el("summary", f"Decisions that did not go both ways ({len(missing)})"), listed, class_="more"
    )


def _where(source: str, file: str, line: int) -> Element:
    return el("span", f"{source} ({file}:{line})", class_="where")
