"""The section of the HTML page that lists the fields that a change moves, with the reasons."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from harness.engine.result.events import Finished
from harness.moves import Moved
from harness.report.html.elements import Child, code, el, table
from harness.report.wording.moves import change_words, in_order, reasons_words


def moves_section(result: Finished) -> Element | None:
    """Return the moved fields, each with its reasons and their places on both sides.

    It is None if neither subject is a change of the other.
    """
    started = result.started
    if started.moved is None:
        return None
    section = el("section", el("h2", "Moved fields"), id="moved")
    if not started.moved:
        section.append(el("p", "None: nothing that decides a field differs between the two."))
        return section
    compared = set(started.compared)
    rows: list[list[Child]] = [
        [code(one.field), "compared" if one.field in compared else "not compared", _reasons(one)]
        for one in in_order(started.moved, compared)
    ]
    section.append(table(["Field", "", "Why"], rows, class_="plain"))
    return section


def _reasons(moved: Moved) -> Element:
    items = []
    for reason in moved.reasons:
        places = " → ".join(place for place in (reason.first, reason.second) if place)
        items.append(el("li", change_words(reason), " ", code(places)))
    return el("details", el("summary", reasons_words(moved)), el("ul", *items))
