"""The sections of the HTML page that show the fields: a table of all fields, and heat maps.

One heat map shows each field by architecture, the other by machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element

from harness.engine.result.events import Finished
from harness.report.html.causes import anchor
from harness.report.html.elements import Child, add, between, code, el, table
from harness.report.wording.overview import Cell, Column, FieldRow, cell, columns, field_rows

_ORDER: Final = ("differs", "explained", "unreached", "agrees", "absent")
_STATES: Final = {
    "differs": "differs",
    "explained": "differs as the ledger explains",
    "unreached": "not reached",
    "agrees": "agrees",
    "absent": "not compared",
}
# Each colour has a sign, for readers who cannot tell the colours apart.
_SIGNS: Final = {"differ": "✕", "explained": "≈", "agree": "", "refuse": "–", "unreached": "?"}
_LEGEND: Final = (
    ("agree", "agree"),
    ("differ d1", "differ in less than 1 % of the cases"),
    ("differ d2", "in less than 10 %"),
    ("differ d3", "in more"),
    ("explained", "differ as the ledger explains"),
    ("refuse", "all launches refused"),
    ("unreached", "not reached"),
)


def rows_by_state(result: Finished) -> list[FieldRow]:
    """Return the rows of `field_rows`, those that differ first. Rows of the same state keep their order."""
    return sorted(field_rows(result), key=lambda row: _ORDER.index(row.state))


def fields_section(result: Finished) -> Element:
    """Return the table of the fields. Each row has links to the buckets of its field."""
    rows: list[list[Child]] = []
    for row in rows_by_state(result):
        ran = [_ran(*counts) for counts in zip(row.ran, row.sites, strict=True)]
        said = f"not a field of {row.absent}" if row.absent else _STATES[row.state]
        state = el("span", said, class_=f"state {row.state}")
        cases = f"{row.cases:,}" if row.cases else ""
        rows.append([code(row.name), state, cases, _causes(row, result), *ran])
    heads: list[Child] = ["Field", "", "Cases", "Causes"]
    heads += [el("span", "Writes ran, ", code(label)) for label in (result.started.first, result.started.second)]
    return el("section", el("h2", "Fields"), table(heads, rows, class_="fields"), id="fields")


def _ran(ran: int, sites: int) -> Child:
    if ran == sites:
        return f"{ran} of {sites}" if sites else None
    return el("span", f"{ran} of {sites}", class_="state unreached")


def _causes(row: FieldRow, result: Finished) -> Element:
    """Return links to the buckets of a row. A row without any may differ only as a consequence of another field."""
    links = [
        el("a", str(number + 1), href=f"#{anchor(result.buckets[number])}", title=f"cause {number + 1}")
        for number in row.causes
    ]
    if not links and row.state == "differs":
        return el("span", "in consequence", class_="where")
    return el("span", *between(" ", links))


def heat_sections(result: Finished) -> list[Element]:
    """Return the heat maps by architecture and by machine.

    The first is left out if cases have no model, the second if they have no machine.
    """
    rows = [row for row in rows_by_state(result) if row.state != "absent"]
    architectures, machines = columns(result)
    sections = [
        ("architectures", "Fields by architecture", architectures),
        ("machines", "Fields by machine", machines),
    ]
    return [_section(id, title, rows, groups) for id, title, groups in sections if groups]


def _section(id: str, title: str, rows: Sequence[FieldRow], groups: Sequence[Column]) -> Element:
    head = el("tr", el("td"))
    for column in groups:
        add(head, el("th", el("span", column.name), scope="col"))
    body = el("tbody")
    for row in rows:
        line = el("tr", el("th", row.name, scope="row", title=row.name))
        for column in groups:
            add(line, _cell(row, column))
        add(body, line)
    grid = el("table", el("thead", head), body, class_="heat", role="grid", aria_label=title)
    legend = el("ul", class_="legend")
    for kind, said in _LEGEND:
        add(legend, el("li", el("span", _SIGNS[kind.split()[0]], class_=f"c {kind}"), said))
    # The script in page.js moves the focus, and shows the title of the cell that has it in this line.
    hint = "Arrow keys go from cell to cell once one has the focus."
    readout = el("output", hint, class_="readout", aria_live="polite")
    return el("section", el("h2", title), legend, readout, el("div", grid, class_="scroll"), id=id)


def _cell(row: FieldRow, column: Column) -> Element:
    found = cell(row, column.group)
    kind = f"differ {_level(found)}" if found.outcome == "differ" else found.outcome
    said = f"{row.name}, {column.name}: {_words(found, column)}"
    return el("td", _SIGNS[found.outcome], class_=f"c {kind}", title=said)


def _level(found: Cell) -> str:
    share = found.cases / max(found.of, 1)
    return "d1" if share < 0.01 else "d2" if share < 0.1 else "d3"


def _words(found: Cell, column: Column) -> str:
    of = f"{found.cases:,} of {found.of:,} cases"
    if found.outcome == "differ":
        return f"differ in {of}"
    if found.outcome == "explained":
        return f"differ in {of} as the ledger explains"
    if found.outcome == "agree":
        return f"agree in {found.cases:,} cases"
    if found.outcome == "refuse":
        return f"all {found.cases:,} launches refused"
    return "never drawn" if column.group is None else "no place that writes it ran"
