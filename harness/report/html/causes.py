"""The section of the HTML page that shows each bucket.

A bucket is shown with its smallest launch, the writes of both sides, and the source lines that decided.
"""

from __future__ import annotations

import json
from xml.etree.ElementTree import Element

from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import writer_texts
from harness.engine.result.events import Finished
from harness.engine.result.excerpts import CONTEXT, Excerpts
from harness.formats.launch import LaunchFlags
from harness.report.html.elements import Child, add, between, code, el, table
from harness.report.wording.causes import CauseWords, cause_words, difference_words, slug
from harness.report.wording.launches import launch_command, machine_words, model_words
from harness.report.wording.places import Spot, involved, partings, spots
from harness.report.wording.words import cases_word
from harness.world.case import Case
from harness.world.chain import Place

_FORMS = 20
_CHAIN = 60


def anchor(bucket: Bucket) -> str:
    """Return the id of a bucket's element, for links."""
    return f"cause-{slug(bucket)}"


def causes_section(result: Finished) -> Element | None:
    """Return the section with all buckets, most frequent first; None if nothing differs. Only the first is open."""
    if not result.buckets:
        return None
    section = el("section", el("h2", f"Causes ({len(result.buckets)})"), id="causes")
    if len(result.buckets) > 1:
        buttons = [
            el("button", said, type="button", data_all=what)
            for what, said in (("open", "Open all"), ("close", "Close all"))
        ]
        add(section, el("p", *buttons, class_="tools"))
    for number in range(len(result.buckets)):
        add(section, _cause(result, number))
    return section


def command(text: str) -> Element:
    """Return an element that shows a command, with a button that copies it."""
    return el(
        "div",
        el("pre", code(text), tabindex=0),
        el("button", "Copy", type="button", data_copy=True),
        class_="command",
    )


def _cause(result: Finished, number: int) -> Element:
    bucket, started = result.buckets[number], result.started
    cause = cause_words(bucket, started)
    first, second = cause.sides
    node = el("details", id=anchor(bucket), class_="cause", open=number == 0)
    values = el("span", code(first.value), " → ", code(second.value), class_="values")
    count = el("span", _cases(bucket.count), class_="count")
    add(node, el("summary", el("span", f"{number + 1}. {cause.name}", class_="name"), count, values))
    add(node, el("p", "The smallest launch", *_world(", on ", bucket.witness, started.flags), "."))
    add(node, command(cause.smallest.command))
    if bucket.difference.along:
        add(node, el("p", "With it differ ", *between(", ", map(code, bucket.difference.along)), "."))
    sides = el("div", class_="sides")
    for side, spot in enumerate(spots(result, number)):
        add(sides, _side(result, number, side, cause, spot))
    add(
        node,
        sides,
        _forms(bucket, (first.label, second.label)),
        _others(bucket, started.flags),
        _explanation(bucket, result.explanations[number]),
    )
    return node


def _side(result: Finished, number: int, side: int, cause: CauseWords, spot: Spot) -> Element:
    bucket, trace = result.buckets[number], result.traces[number]
    node = el(
        "div",
        el("h3", cause.sides[side].label),
        el("p", code(cause.sides[side].value), class_="value"),
        class_="side",
    )
    refusal = trace.refusals[side]
    if refusal is not None and spot.place is None:
        add(node, el("p", "Refused in ", code(refusal.origin), "."))
    if spot.place is not None:
        add(
            node,
            el("p", "By " if refusal is None else "Refused in ", code(spot.what or ""), " ", _where(spot.place)),
        )
        add(node, excerpt(result.excerpts[side], spot.place))
    elif refusal is None:
        add(node, el("p", _no_line(bucket, side), class_="quiet"))
    parting = partings(result, number)[side]
    if parting.place is not None:
        what = bucket.difference.name if bucket.difference.writers is not None else "the two"
        add(node, el("p", f"Before, {what} diverged at ", code(parting.what or ""), " ", _where(parting.place)))
        add(node, excerpt(result.excerpts[side], parting.place))
    add(node, _chain(result, number, side))
    add(
        node,
        el(
            "details",
            el("summary", "Show every write with this command"),
            command(cause.resolve[side]),
            class_="more",
        ),
    )
    return node


def _no_line(bucket: Bucket, side: int) -> str:
    difference = bucket.difference
    if difference.writers is not None and difference.writers[side] is None:
        return "As given: no line of this side writes it."
    return "It resolves the launch." if difference.kind == "refusal" else "No line is known to have decided it."


def _where(place: Place) -> Element:
    return el("span", f"{place.file}:{place.line}", class_="where")


def excerpt(excerpts: Excerpts, place: Place) -> Element | None:
    """Return the source lines around a place, with the line of the place marked; None if its file was not read."""
    lines = excerpts.around(place.file, place.line, CONTEXT)
    if not lines:
        return None
    body = el("tbody")
    shown = [(number, text.expandtabs()) for number, text in lines]
    indent = min((len(text) - len(text.lstrip()) for _, text in shown if text.strip()), default=0)
    for number, text in shown:
        here = number == place.line
        mark = el(
            "tr",
            el("td", str(number), class_="number"),
            el("td", code(text[indent:] or " ")),
            class_="here" if here else None,
        )
        add(body, mark)
    return el("div", el("table", body, class_="source"), class_="scroll", tabindex=0)


def _chain(result: Finished, number: int, side: int) -> Element | None:
    bucket = result.buckets[number]
    writes = involved(bucket, result.traces[number].chains[side])
    if not writes:
        return None
    names = [bucket.difference.name, *bucket.difference.along]
    node = el("ol", class_="chain")
    for write in writes[-_CHAIN:]:
        said = f"{write.field} = {json.dumps(write.value)}" if len(names) > 1 else json.dumps(write.value)
        add(
            node, el("li", code(said), " ", el("span", f"{write.source} ({write.file}:{write.line})", class_="where"))
        )
    left_out = f", the last {_CHAIN} of {len(writes)}" if len(writes) > _CHAIN else ""
    return el("div", el("h4", f"Its writes, in order{left_out}"), node)


def _forms(bucket: Bucket, labels: tuple[str, str]) -> Element | None:
    if len(bucket.parts) < 2:
        return None
    rows: list[list[Child]] = []
    for part, count in bucket.parts[:_FORMS]:
        name, first, second = difference_words(part)
        by = [code(text) for text in (() if part.writers is None else writer_texts(part.writers))]
        rows.append([name, f"{count:,}", code(first), code(second), el("span", *between(" → ", by), class_="where")])
    shared = None
    if bucket.shared is not None:
        shared = el("p", "All with ", code(bucket.shared[1]), " in ", code(labels[bucket.shared[0]]), ".")
    left = len(bucket.parts) - _FORMS
    return el(
        "details",
        el("summary", f"One cause in {len(bucket.parts)} forms"),
        shared,
        table(["", "cases", *labels, "by"], rows, class_="plain"),
        el("p", f"And {left} more forms, in the JSON report.") if left > 0 else None,
        class_="more",
    )


def _world(before: str, case: Case, flags: LaunchFlags) -> list[Element | str | None]:
    """Return the text ``before``, then the machine and the model of a case; nothing if launches have neither."""
    words = {"hardware": machine_words(case.hardware), "model": model_words(case.model)}
    found = [code(words[name]) for name in flags.takes]
    return [before, *between("; ", found)] if found else []


def _others(bucket: Bucket, flags: LaunchFlags) -> Element | None:
    if not bucket.others:
        return None
    node = el("details", el("summary", f"Other launches that show it ({len(bucket.others)})"), class_="more")
    for case in bucket.others:
        if world := _world("On ", case, flags):
            add(node, el("p", *world))
        add(node, command(launch_command(case, flags)))
    return node


def _explanation(bucket: Bucket, text: str) -> Element | None:
    lines = text.splitlines()
    if not lines or (len(lines) == 1 and bucket.difference.kind in ("field", "environment")):
        return None  # it would only repeat the two values that are shown above
    said = el("ul", *(el("li", code(line)) for line in lines[:_CHAIN]), class_="lines")
    return el("details", el("summary", "Change by change"), said, class_="more")


def _cases(count: int) -> str:
    return f"{count:,} {cases_word(count)}"
