"""The result as one HTML file. It needs no network and no other file, and can be read without its script.

The page's content security policy names its script and its style by their hashes, so that a browser runs no others.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Final
from xml.etree.ElementTree import Element

from harness.engine.result.events import Finished
from harness.report.html.causes import causes_section
from harness.report.html.coverage import coverage_section
from harness.report.html.elements import Child, add, code, el, raw, serialised, table
from harness.report.html.heat import fields_section, heat_sections
from harness.report.html.moves import moves_section
from harness.report.wording.causes import difference_words
from harness.report.wording.launches import launch_command
from harness.report.wording.stack import Stack

_SIGNS: Final = {"equivalent": "✓", "different": "✕", "inconclusive": "?"}
_STEPS: Final = {"landed": "landed", "passed": "gate passed", "failed": "gate failed", "open": "not gated yet"}
_STEP_SIGNS: Final = {"landed": "✓", "passed": "✓", "failed": "✕", "open": "○"}


def html(result: Finished, stack: Stack | None = None) -> bytes:
    """Return the page. If the gate is one step of a stack, ``stack`` is shown too. Equal results give equal bytes."""
    sections: list[Element | None] = [
        causes_section(result),
        moves_section(result),
        _stack(stack) if stack is not None else None,
        fields_section(result),
        *heat_sections(result),
        coverage_section(result),
        _ledger(result),
        _notes(result),
    ]
    shown = [section for section in sections if section is not None]
    page = el("html", _head(result), lang="en")
    main = el("main", _verdict(result), *shown, id="main")
    add(
        page,
        el(
            "body",
            el("a", "To the result", href="#main", class_="skip"),
            _nav(shown),
            main,
            raw("script", _own("page.js")),
        ),
    )
    return serialised(page)


def _own(name: str) -> str:
    return (files("harness.report.html") / name).read_text("utf-8")


def _head(result: Finished) -> Element:
    started = result.started
    style, script = _own("page.css"), _own("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none';"
        " form-action 'none'"
    )
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", f"{result.verdict}: {started.first} → {started.second} (stackproof)"),
        raw("style", style),
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _nav(sections: list[Element]) -> Element:
    links = [el("a", section[0].text or "", href=f"#{section.get('id')}") for section in sections]
    return el("nav", *links, aria_label="Parts of the report")


def _verdict(result: Finished) -> Element:
    started, counts = result.started, result.counts
    sign = el("span", _SIGNS[result.verdict], class_="sign", aria_hidden="true")
    head = el("header", el("h1", sign, " ", result.verdict), class_=f"verdict {result.verdict}")
    reason = el("p", result.reason + (", stopped by Ctrl-C" if result.interrupted else ""), class_="reason")
    if result.verdict == "inconclusive":
        add(reason, " (", el("a", "what ran", href="#coverage"), ")")
    add(head, reason)
    subjects = el("dl", class_="subjects")
    for said, label, identity in zip(
        ("First", "Second"), (started.first, started.second), started.identities, strict=True
    ):
        add(subjects, el("dt", said), el("dd", code(label), " ", el("span", identity, class_="where")))
    add(head, subjects)
    numbers = el("ul", class_="numbers")
    for count, said, kind in (
        (counts.cases, f"cases of seed {started.seed}", ""),
        (counts.resolved, "resolve alike", ""),
        (counts.refused, "refused alike", ""),
        (counts.explained, "differ as the ledger explains", "explained" if counts.explained else ""),
        (counts.different, "differ", "differs" if counts.different else ""),
        (counts.failed, "without an outcome", "unreached" if counts.failed else ""),
    ):
        add(numbers, el("li", el("b", f"{count:,}"), " ", said, class_=kind or None))
    add(head, numbers)
    return head


def _stack(stack: Stack) -> Element:
    done = sum(1 for step in stack.steps if step.state == "landed")
    section = el("section", el("h2", "Stack"), id="stack")
    said = f"{done} of {len(stack.steps)} steps of {stack.name} have landed"
    add(section, el("p", el("meter", value=done, min=0, max=max(len(stack.steps), 1), aria_label=said), " ", said))
    steps = el("ol", class_="steps")
    for number, step in enumerate(stack.steps):
        here = number == stack.current
        item = el(
            "li", class_=f"step {step.state}{' current' if here else ''}", aria_current="step" if here else None
        )
        sign = el("span", _STEP_SIGNS[step.state], class_="sign", aria_hidden="true")
        add(item, sign, el("b", step.title), " ", el("span", _STEPS[step.state], class_="state"))
        add(item, " (this gate)" if here else None)
        if step.commit:
            add(item, " ", code(step.commit))
        if step.fields:
            add(item, el("div", "moves ", ", ".join(step.fields), class_="where"))
        if step.note:
            add(item, el("div", step.note))
        add(steps, item)
    add(section, steps)
    return section


def _ledger(result: Finished) -> Element | None:
    started = result.started
    if not started.ledger.entries:
        return None
    rows: list[list[Child]] = []
    entries = {entry.id: entry for entry in started.ledger.entries}
    for bucket in result.explained:
        entry = entries[bucket.difference.entry or ""]
        name, first, second = difference_words(bucket.difference)
        values = el("span", code(name), ": ", code(first), " → ", code(second))
        launch = code(launch_command(bucket.witness, started.flags))
        rows.append([entry.id, f"{bucket.count:,}", values, entry.reason, entry.reference, launch])
    section = el("section", el("h2", "Ledger"), id="ledger")
    if rows:
        heads = ["Entry", "Cases", "Such as", "Reason", "Reference", "Smallest launch"]
        add(section, table(heads, rows, class_="plain"))
    if result.stale:
        add(section, el("p", "Stale, since they explained nothing: ", ", ".join(result.stale), "."))
    return section


def _notes(result: Finished) -> Element | None:
    started = result.started
    absent = [f"{name} is not a field of {label}, so not compared" for name, label in started.absent.items()]
    notes = [*absent, *started.notes]
    return (
        el("section", el("h2", "Notes"), el("ul", *(el("li", note) for note in notes)), id="notes") if notes else None
    )
