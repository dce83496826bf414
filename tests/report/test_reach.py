"""How much of the subjects ran, in words."""

from __future__ import annotations

from harness.engine.result.events import Covered, Decided, Reached
from harness.report.wording.reach import reach_lines
from harness.world.chain import Decision, Writer


def site(field: str, count: int, excuse: str = "") -> Reached:
    writer = Writer(field=field, slot="13 _handle_page_size", source="f", file="legacy/a.py", line=7)
    return Reached(writer=writer, count=count, excuse=excuse)


def lines(
    *sites: Reached, decisions: tuple[Decided, ...] = (), gated: tuple[str, ...] = (), verbose: bool = False
) -> list[str]:
    return reach_lines("old", Covered(writes=sites, decisions=decisions), gated, verbose=verbose)


def test_a_subject_that_says_nothing_gets_no_line() -> None:
    assert lines() == []


def test_what_never_ran_is_named() -> None:
    assert lines(site("dtype", 3), site("page_size", 0)) == [
        "reach    old: 1 of 2 write sites ran, 0 of 0 branches of decisions were seen",
        "         page_size in f (legacy/a.py:7) never ran",
    ]


def test_what_cannot_run_is_counted_apart_and_listed_on_demand() -> None:
    sites = site("dtype", 3), site("page_size", 0, "a reason")
    head = "reach    old: 1 of 1 write sites ran, 0 of 0 branches of decisions were seen"
    assert lines(*sites) == [head, "         not listed: 1 place with an excuse (--verbose lists them)"]
    assert lines(*sites, verbose=True) == [head, "         page_size in f (legacy/a.py:7) cannot run: a reason"]


def test_an_excuse_that_is_wrong_is_said_too() -> None:
    first, second = lines(site("page_size", 2, "a reason"))
    assert first == "reach    old: 1 of 1 write sites ran, 0 of 0 branches of decisions were seen"
    assert second.endswith("ran 2 times, and was said to be out of reach: a reason")


def test_decisions_with_one_branch_are_counted_and_listed_on_demand() -> None:
    decisions = tuple(
        Decided(decision=Decision(text=f"is_{seen}()", source="f", file="legacy/a.py", line=seen), seen=seen)
        for seen in range(4)
    )
    head = "reach    old: 1 of 1 write sites ran, 4 of 8 branches of decisions were seen"
    assert lines(site("dtype", 1), decisions=decisions) == [
        head,
        "         not listed: 3 decisions with a branch never seen (--verbose lists them)",
    ]
    assert lines(site("dtype", 1), decisions=decisions, verbose=True) == [
        head,
        "         is_0() in f (legacy/a.py:0) was never asked",
        "         is_1() in f (legacy/a.py:1) was never false",
        "         is_2() in f (legacy/a.py:2) was never true",
    ]


def test_a_long_list_is_cut() -> None:
    sites = [site(f"field{number}", 0) for number in range(30)]
    shown = lines(*sites)
    assert len(shown) == 14
    assert shown[-1] == "         not listed: 18 more of these (--verbose lists them)"
    assert len(lines(*sites, verbose=True)) == 31


def test_what_the_verdict_waits_for_comes_first_and_what_cannot_happen_last() -> None:
    decision = Decision(text="is_set()", source="f", file="legacy/a.py", line=1)
    cannot = Decision(text="is_new()", source="f", file="legacy/a.py", line=2, never="true", excuse="a reason")
    shown = lines(
        site("dtype", 0, "no way there"),
        *(site(f"field{number}", 0) for number in range(8)),
        site("page_size", 0),
        site("enable", 2, "no way there"),
        decisions=(Decided(decision=cannot, seen=2), Decided(decision=decision, seen=2)),
        gated=("page_size",),
        verbose=True,
    )
    assert [line.split(maxsplit=1)[0] for line in shown[1:]] == [
        "page_size",
        *(f"field{number}" for number in range(8)),
        "enable",
        "is_set()",
        "dtype",
        "is_new()",
    ]
    shown = lines(site("dtype", 1), decisions=(Decided(decision=cannot, seen=2),), verbose=True)
    assert shown[1].endswith("was never true, and cannot be: a reason")
