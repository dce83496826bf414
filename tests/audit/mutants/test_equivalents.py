"""Faults that are listed as changing nothing: found again after other edits, and missed after their own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import declarative
from harness.audit.mutants.equivalents import Equivalents, Fault, entry_text, faults_of, load_equivalents
from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.judge import Catch, Result
from harness.common.errors import UsageError
from harness.engine.difference.compare import Difference
from harness.report.terminal.audited import Audited, audit_document, say_audit

pytestmark = pytest.mark.slow

SOURCE = """
LIMIT = 7


class Caps:
    def cap(self, size):
        if size > LIMIT:
            size = LIMIT
        if size > LIMIT:
            size = LIMIT
        return size


def other(size):
    return size > LIMIT
"""


def package(folder: Path, text: str) -> MutablePackage:
    place = folder / "toy"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(text, encoding="utf-8")
    return MutablePackage(place)


def comparisons(toy: MutablePackage) -> list[tuple[Mutant, Fault]]:
    return list(faults_of(toy, toy.mutants(operators=["comparisons"])).items())


def listed(path: Path, *entries: str) -> Equivalents:
    path.write_text('format = "stackproof.equivalents/1"\n' + "\n".join(entries), encoding="utf-8")
    return load_equivalents(path)


def test_faults_are_told_apart_and_named_by_their_function(tmp_path: Path) -> None:
    toy = package(tmp_path, SOURCE)
    found = comparisons(toy)
    assert [fault.function for _, fault in found] == ["Caps.cap", "Caps.cap", "other"]
    assert len({fault for _, fault in found}) == 3
    constants = faults_of(toy, toy.mutants(operators=["constants"]))
    assert {fault.function for fault in constants.values()} == {""}


def test_every_mutant_of_the_successor_has_a_fault_of_its_own_and_what_is_listed_is_one() -> None:
    successor = MutablePackage(Path(declarative.__file__).parent)
    mutants = successor.mutants()
    assert len(set(faults_of(successor, mutants).values())) == len(mutants)
    load_equivalents(successor.folder / "equivalents.toml").check(successor)


def test_a_fault_is_the_same_after_other_edits_and_another_after_its_own(tmp_path: Path) -> None:
    before = [fault for _, fault in comparisons(package(tmp_path / "a", SOURCE))]
    moved = SOURCE.replace("LIMIT = 7", "# Why.\nLIMIT = 8").replace(
        "class Caps", "def new():\n    pass\n\n\nclass Caps"
    )
    assert [fault for _, fault in comparisons(package(tmp_path / "b", moved))] == before
    changed = SOURCE.replace("return size > LIMIT", "return size > LIMIT - 1")
    after = [fault for _, fault in comparisons(package(tmp_path / "c", changed))]
    assert after[:2] == before[:2] and after[2] != before[2]


def test_what_is_written_for_a_fault_lists_it_once_it_has_a_reason(tmp_path: Path) -> None:
    toy = package(tmp_path, SOURCE)
    (_, fault), (_, other), _ = comparisons(toy)
    text = entry_text(fault)
    with pytest.raises(UsageError, match="has no reason"):
        listed(tmp_path / "list.toml", text)
    text = text.replace('reason = ""', 'reason = "at the limit, capping changes nothing"')
    found = listed(tmp_path / "list.toml", text)
    found.check(toy)
    assert found.reason(fault) == "at the limit, capping changes nothing"
    assert found.reason(other) is None
    with pytest.raises(UsageError, match="two entries"):
        listed(tmp_path / "list.toml", text, text)


def test_an_entry_whose_lines_changed_is_an_error(tmp_path: Path) -> None:
    (_, fault), *_ = comparisons(package(tmp_path / "a", SOURCE))
    found = listed(tmp_path / "list.toml", entry_text(fault).replace('""', '"so"'))
    with pytest.raises(UsageError, match=f"{fault.digest} .comparisons in Caps.cap of toy/__init__.py. is no mutant"):
        found.check(package(tmp_path / "b", SOURCE.replace("size > LIMIT:", "size > LIMIT + 1:")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format", "not valid TOML"),
        ('format = "other"', "write format = 'stackproof.equivalents/1'"),
        ('format = "stackproof.equivalents/1"\n[[equivalent]]\nfile = "a"', "missing required field"),
        ('format = "stackproof.equivalents/1"\n[[equivalents]]\nfile = "a"', "unknown field"),
    ],
)
def test_a_file_that_is_no_list_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        load_equivalents(tmp_path / "list.toml")
    with pytest.raises(UsageError, match="No such file"):
        load_equivalents(tmp_path / "none.toml")


def test_the_report_tells_listed_missed_and_stale_apart(tmp_path: Path) -> None:
    toy = package(tmp_path, SOURCE)
    mutants = [mutant for mutant, _ in comparisons(toy)]
    catch = Catch(by="load", cases=0, case=None, difference=None, detail="so")
    results = [
        Result(mutant=mutant, catch=caught, cases=9, reached=4, seconds=1.0)
        for mutant, caught in zip(mutants, (catch, None, None), strict=True)
    ]
    longer = [Result(mutant=mutant, catch=None, cases=0, reached=0, seconds=0.0) for mutant in mutants[1:]]

    def told(*entries: Mutant) -> tuple[str, Audited]:
        faults = faults_of(toy, entries)
        texts = (entry_text(fault).replace('""', '"so"') for fault in faults.values())
        audited = Audited(toy, results, longer, 3, listed(tmp_path / "list.toml", *texts))
        lines: list[str] = []
        say_audit(audited, lines.append)
        return "\n".join(lines), audited

    text, audited = told(mutants[1], mutants[2])
    assert "1 caught, 2 listed as equivalent, 0 not caught" in text and "+++" not in text
    assert audited.passed
    text, audited = told(mutants[1])
    assert "1 caught, 1 listed as equivalent, 1 not caught" in text and "+++ b/toy/__init__.py" in text
    assert f'digest = "{audited.faults[mutants[2]].digest}"' in text
    assert "not caught by 9 cases, of which 4 reached its block" in text
    assert not audited.passed
    text, audited = told(*mutants)
    assert "stale: toy/__init__.py:7" in text
    assert not audited.passed
    assert b'"verdict": "equivalent"' in audit_document(audited) and b'"verdict": "caught"' in audit_document(audited)


def test_a_difference_has_the_keys_of_the_format(tmp_path: Path) -> None:
    toy = package(tmp_path, SOURCE)
    (mutant, _), *_ = comparisons(toy)
    difference = Difference(
        kind="failure", name="outcome / killed", first=None, second="so", failures=(None, "killed")
    )
    catch = Catch(by="killed", cases=3, case="c", difference=difference, detail="so")
    result = Result(mutant=mutant, catch=catch, cases=9, reached=4, seconds=1.0)
    document = msgspec.json.decode(audit_document(Audited(toy, [result], [], 1, Equivalents())))
    keys = ["kind", "name", "first", "second", "entry", "writers", "along", "decision", "parted", "checks"]
    assert list(document["results"][0]["catch"]["difference"]) == keys
