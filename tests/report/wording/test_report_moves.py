"""Moved fields in the reports that a person reads."""

from __future__ import annotations

import msgspec
from made_results import HOSTILE, result
from rich.console import Console

from harness.engine.result.events import Finished
from harness.moves import Moved, Reason
from harness.report.ci.github import summary
from harness.report.html.page import html
from harness.report.terminal.gate import print_result
from harness.report.wording.moves import moved_lines

TAG = Reason(kind="tag", name="resolvable", change="new", detail="(none) → True", first="a.py:3", second="a.py:4")
GONE = Reason(kind="writer", name="Args._handle", change="gone", first="a.py:9")
MOVED = (
    Moved(field="outside", reasons=(TAG,)),
    Moved(field="dtype", reasons=(GONE,)),
    Moved(field="page_size", reasons=(TAG, GONE, GONE, GONE, GONE)),
)


def moved(*fields: Moved) -> Finished:
    made = result()
    return msgspec.structs.replace(made, started=msgspec.structs.replace(made.started, moved=fields))


def test_what_is_compared_comes_first_with_its_first_reasons() -> None:
    assert moved_lines(MOVED, ("page_size", "dtype")) == [
        "moved    page_size: tag resolvable: (none) → True (a.py:4); writer Args._handle gone (a.py:9);"
        " writer Args._handle gone (a.py:9); and 2 more",
        "moved    dtype: writer Args._handle gone (a.py:9)",
        "moved    outside (not compared): tag resolvable: (none) → True (a.py:4)",
    ]


def test_many_fields_are_counted() -> None:
    many = [Moved(field=f"field_{number}", reasons=(TAG,)) for number in range(60)]
    lines = moved_lines(many, ())
    assert len(lines) == 41
    assert lines[-1].strip().startswith("and 20 more")


def test_nothing_is_said_of_two_subjects_that_are_no_change() -> None:
    console = Console(record=True, width=200)
    print_result(result(), console)
    assert "moved" not in console.export_text()
    assert b'id="moved"' not in html(result())
    assert "moved field" not in summary(result()).decode()


def test_a_change_that_moves_nothing_says_so() -> None:
    console = Console(record=True, width=200)
    print_result(moved(), console)
    assert "moved    no field" in console.export_text()
    assert b"nothing that decides a field differs" in html(moved())
    assert "No field moved." in summary(moved()).decode()


def test_the_page_has_every_reason_with_both_places() -> None:
    page = html(moved(*MOVED)).decode()
    assert page.count("<li>writer Args._handle gone ") == 5
    assert "a.py:3 → a.py:4" in page
    assert "3 moved fields" in summary(moved(*MOVED)).decode()


def test_hostile_names_are_text() -> None:
    hostile = Moved(field=HOSTILE, reasons=(msgspec.structs.replace(GONE, name=HOSTILE, detail=HOSTILE),))
    page, text = html(moved(hostile)).decode(), summary(moved(hostile)).decode()
    assert "<script>alert" not in page
    assert "<img" not in page
    for said in (page, text, *moved_lines([hostile], ())):
        assert "\x1b" not in said


def test_the_summary_tells_the_causes_before_what_moved() -> None:
    said = summary(moved(*MOVED)).decode()
    assert said.index("### `page_size` in 3 cases") < said.index("### 3 moved fields") < said.index("### Fields")
