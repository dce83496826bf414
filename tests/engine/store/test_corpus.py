"""A folder of cases: named by content, each a readable file, and failures in a database that others can share."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis.database import DirectoryBasedExampleDatabase

from harness.common.errors import UsageError
from harness.engine.store.corpus import Corpus, named
from harness.formats.contract import read_cases
from harness.world.case import Case

CASES = [named(Case(id=f"1-{number}", args={"page_size": number})) for number in range(4)]


def test_a_name_is_that_of_the_content() -> None:
    assert named(Case(id="a", args={"page_size": 1})) == named(Case(id="b", args={"page_size": 1}))
    assert len({case.id for case in CASES}) == 4


def test_cases_come_back_in_the_same_order_and_as_files_that_replay_reads(tmp_path: Path) -> None:
    Corpus(tmp_path / "c").replace([], CASES)
    found = Corpus(tmp_path / "c").cases()
    assert found == sorted(CASES, key=lambda case: case.id)
    assert read_cases(tmp_path / "c" / "cases" / f"{CASES[0].id}.jsonl") == [CASES[0]]


def test_what_was_not_asked_for_stays(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.replace([], CASES[:3])
    corpus.replace(CASES[:2], [CASES[1], CASES[3]])
    assert {case.id for case in corpus.cases()} == {case.id for case in CASES[1:]}


def test_failures_come_first_and_go_when_they_are_mended(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.replace([], CASES[:1])
    corpus.remember(CASES[2:], [])
    assert {case.id for case in corpus.cases()[:2]} == {case.id for case in CASES[2:]}
    corpus.remember([], CASES[:2])
    assert len(corpus.cases()) == 3
    corpus.remember(CASES[3:], CASES)
    assert [case.id for case in corpus.cases()] == [CASES[3].id, CASES[0].id]
    database = DirectoryBasedExampleDatabase(tmp_path / "failures")
    assert len(list(database.fetch(b"stackproof"))) == 1


def test_a_broken_file_is_the_users_error(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    (tmp_path / "cases" / "x.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(UsageError, match=r"x\.jsonl:1"):
        corpus.cases()
    DirectoryBasedExampleDatabase(tmp_path / "failures").save(b"stackproof", b"[")
    with pytest.raises(UsageError, match="failures"):
        corpus.cases()


def test_a_place_that_is_no_folder_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="this is a file"):
        Corpus(tmp_path / "file")
    with pytest.raises(UsageError, match="does not exist"):
        Corpus(tmp_path / "a" / "b")
    assert msgspec.json.encode(sorted(path.name for path in tmp_path.iterdir())) == b'["file"]'
