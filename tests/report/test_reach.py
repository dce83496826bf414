"""How much of the subjects ran, in words."""

from __future__ import annotations

from harness.engine.events import Reached
from harness.report.words import reach_lines
from harness.world.chain import Writer


def site(field: str, count: int, excuse: str = "") -> Reached:
    writer = Writer(field=field, slot="13 _handle_page_size", source="f", file="legacy/a.py", line=7)
    return Reached(writer=writer, count=count, excuse=excuse)


def test_a_subject_that_says_nothing_gets_no_line() -> None:
    assert reach_lines("old", []) == []


def test_what_never_ran_is_named() -> None:
    assert reach_lines("old", [site("dtype", 3), site("page_size", 0)]) == [
        "reach    old: 1 of 2 write sites ran",
        "         page_size in f (legacy/a.py:7) never ran",
    ]


def test_what_cannot_run_is_not_counted_but_said() -> None:
    assert reach_lines("old", [site("dtype", 3), site("page_size", 0, "a reason")]) == [
        "reach    old: 1 of 1 write sites ran",
        "         page_size in f (legacy/a.py:7) cannot run: a reason",
    ]


def test_an_excuse_that_is_wrong_is_said_too() -> None:
    first, second = reach_lines("old", [site("page_size", 2, "a reason")])
    assert first == "reach    old: 1 of 1 write sites ran"
    assert second.endswith("ran 2 times, and the ledger says that it cannot: take that entry out")
