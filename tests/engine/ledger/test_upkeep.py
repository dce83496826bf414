"""What of a ledger wants attention: past its day, explains nothing, holds for too much."""

from __future__ import annotations

import datetime
from pathlib import Path

from harness.engine.ledger.entries import Ledger, load_ledger
from harness.engine.ledger.upkeep import Finding, Tried, check
from harness.world.chain import Writer

DAY = datetime.date(2030, 6, 15)
ENTRY = """
[[difference]]
id = "pages"
subjects = ["legacy", "sglang==0.5.14#slice"]
fields = ["page_size"]
reason = "meant"
reference = "#1"
owner = "ann"
{more}
"""
NARROW = '[difference.when]\n"args.tp_size" = 2\n'
SITE = """
[[unreached]]
subject = "legacy"
field = "page_size"
source = "_handle_page_size"
reason = "never None there"
"""


def ledger(tmp_path: Path, text: str) -> Ledger:
    path = tmp_path / "ledger.toml"
    path.write_text(f'format = "stackproof.ledger/1"\n{text}', encoding="utf-8")
    return load_ledger(path)


def run(
    explained: int = 0,
    *,
    stale: bool = False,
    subjects: tuple[str, str] = ("legacy", "sglang==0.5.14#slice"),
    ran: int | None = None,
) -> Tried:
    """Return a run of 100 cases; with ``ran`` its first side has the write of ``SITE``, which ran so often."""
    writer = Writer(field="page_size", slot="1", source="_handle_page_size", file="a.py", line=3)
    return Tried(
        name="a run",
        subjects=subjects,
        cases=100,
        compared=frozenset({"page_size"}),
        explained={"pages": explained} if explained else {},
        stale=frozenset({"pages"} if stale else ()),
        writes=([(writer, ran)] if ran is not None else [], []),
    )


def faults(found: list[Finding]) -> list[tuple[str, str]]:
    return [(one.fault, one.entry) for one in found]


def test_an_entry_holds_through_its_last_day(tmp_path: Path) -> None:
    entries = ledger(tmp_path, ENTRY.format(more=f"expires = 2030-06-15\n{NARROW}"))
    assert check(entries, DAY, []) == []
    (found,) = check(entries, DAY + datetime.timedelta(days=1), [])
    assert found.fault == "expired"
    assert "2030-06-15" in found.text
    assert "ask ann" in found.text


def test_an_unreached_site_expires_too(tmp_path: Path) -> None:
    entries = ledger(tmp_path, f"{SITE}expires = 2030-06-14\n")
    assert faults(check(entries, DAY, [])) == [("expired", "unreached page_size in _handle_page_size")]


def test_an_entry_without_conditions_is_broad_unless_it_says_so(tmp_path: Path) -> None:
    assert faults(check(ledger(tmp_path, ENTRY.format(more="")), DAY, [])) == [("broad", "pages")]
    assert faults(check(ledger(tmp_path, ENTRY.format(more="[[difference.any]]")), DAY, [])) == [("broad", "pages")]
    assert check(ledger(tmp_path, ENTRY.format(more='scope = "every case"')), DAY, [run(90)]) == []
    absent = ENTRY.replace("fields", "absent").format(more="")
    assert check(ledger(tmp_path, absent), DAY, []) == []


def test_an_entry_that_explains_most_of_a_run_is_broad(tmp_path: Path) -> None:
    entries = ledger(tmp_path, ENTRY.format(more=NARROW))
    assert check(entries, DAY, [run(50)]) == []
    (found,) = check(entries, DAY, [run(51)])
    assert (found.fault, "51 of the 100 cases of a run" in found.text) == ("broad", True)


def test_an_entry_is_stale_when_no_run_that_it_concerns_needs_it(tmp_path: Path) -> None:
    entries = ledger(tmp_path, ENTRY.format(more=NARROW))
    assert faults(check(entries, DAY, [run(stale=True), run(stale=True)])) == [("stale", "pages")]
    assert check(entries, DAY, [run(stale=True), run(1)]) == []
    assert check(entries, DAY, [run(stale=True, subjects=("legacy", "declarative"))]) == []
    assert faults(check(entries, DAY, [run(stale=True, subjects=("sglang==0.5.14#slice", "legacy"))])) == [
        ("stale", "pages")
    ]


def test_a_run_that_did_not_know_the_entry_says_nothing_of_it(tmp_path: Path) -> None:
    entries = ledger(tmp_path, ENTRY.format(more=NARROW))
    assert faults(check(entries, DAY, [run()])) == [("untried", "pages")]


def test_a_site_that_ran_or_is_no_more_is_stale(tmp_path: Path) -> None:
    entries = ledger(tmp_path, SITE)
    assert check(entries, DAY, [run(ran=0)]) == []
    assert "ran 3 times" in check(entries, DAY, [run(ran=3)])[0].text
    assert "no such write" in check(entries, DAY, [run()])[0].text
    assert check(entries, DAY, [run(subjects=("declarative", "declarative"))]) == []
