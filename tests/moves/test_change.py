"""The gate of a change in a git repository: which fields moved, what is compared, what must have run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up_trees import make_tree

pytestmark = pytest.mark.slow

RECORD = "python/sglang/srt/server_args.py"
SMALL = ("--cases", "200", "--jobs", "1")
WRITES = "            self.page_size = 64 if is_cuda() else 1\n"
BAD = "    def _bad(self):"
NEVER = "        if self.tp_size == 1 and self.tp_size == 2:\n            self.{0} = 3\n"

Git = Callable[..., str]
Commit = Callable[..., None]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return a function that runs git in a repository that holds a small tree as its first commit."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("STACKPROOF_CACHE", str(tmp_path / "cache"))
    repository = tmp_path / "repository"
    make_tree(repository / "python")
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")

    def run(*words: str) -> str:
        command = ["git", "-C", str(repository), *identity, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    run("init", "-q", "-b", "main")
    run("add", ".")
    run("commit", "-qm", "before")
    monkeypatch.chdir(repository)
    return run


@pytest.fixture
def commit(git: Git) -> Commit:
    """Return a function that edits the record and commits it: pairs of what is there and what replaces it."""

    def made(*edits: tuple[str, str]) -> None:
        file = Path(RECORD)
        text = file.read_text()
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        file.write_text(text)
        git("commit", "-qam", "a change")

    return made


def _document(done: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(done.out)
    return document


def _moved(document: dict[str, Any]) -> list[str]:
    return [one["field"] for one in document["moved"]]


def test_a_move_that_changes_nothing_is_named_and_equivalent(run, commit: Commit) -> None:  # type: ignore[no-untyped-def]
    commit((WRITES, "            self.page_size = self._pages()\n"))
    commit((BAD, f"    def _pages(self):\n        return 64 if is_cuda() else 1\n\n{BAD}"))
    done = run("gate", "--base", "HEAD~2", "--head", "HEAD", *SMALL)
    assert done.status == 0, done.out + done.err
    (line,) = (line for line in done.out.splitlines() if line.startswith("moved"))
    assert line.startswith(f"moved    page_size: writer ServerArgs._handle_page_size differs ({RECORD[7:]}:")
    assert "uses ServerArgs._pages new" in line


def test_a_difference_shows_what_moved_beside_it(run, commit: Commit) -> None:  # type: ignore[no-untyped-def]
    commit(("64 if is_cuda()", "128 if is_cuda()"))
    done = run("gate", "--base", "HEAD~1", *SMALL, "--format", "json")
    document = _document(done)
    assert done.status == 1
    assert _moved(document) == ["page_size"]
    assert {bucket["field"] for bucket in document["buckets"]} == {"page_size"}
    assert [side["name"] for side in document["subjects"]] == ["git:HEAD~1", "git:HEAD"]


def test_fields_that_were_not_meant_to_move_are_compared_too(run, commit: Commit) -> None:  # type: ignore[no-untyped-def]
    # What no reading of the text finds: an attribute by a computed name.
    edit = (WRITES, f"{WRITES}            setattr(self, 'max_prefill_' + 'tokens', 7)\n")
    commit(edit)
    document = _document(run("gate", "--base", "HEAD~1", *SMALL, "--format", "json"))
    assert _moved(document) == []
    assert {bucket["field"] for bucket in document["buckets"]} == {"max_prefill_tokens"}


def test_every_write_of_a_moved_field_must_run_and_of_no_other(run, commit: Commit) -> None:  # type: ignore[no-untyped-def]
    commit(("        if self.tp_size < 1:", NEVER.format("sampling_backend") + "        if self.tp_size < 1:"))
    commit((WRITES, WRITES.replace("64 if is_cuda() else 1", "(64 if is_cuda() else 1)")))
    done = run("gate", "--base", "HEAD~1", *SMALL)
    assert done.status == 0, done.out + done.err
    assert "moved    no field" in done.out
    commit((WRITES.replace("64 if is_cuda() else 1", "(64 if is_cuda() else 1)"), WRITES + NEVER.format("page_size")))
    done = run("gate", "--base", "HEAD~1", *SMALL)
    assert done.status == 3
    assert "a place that writes page_size never ran" in done.out


def test_a_moved_field_outside_the_slice(run, commit: Commit) -> None:  # type: ignore[no-untyped-def]
    commit(
        ("        self._handle_page_size()\n", "        self._handle_page_size()\n        self._handle_tokens()\n"),
        (
            "    def _bad(self):",
            "    def _handle_tokens(self):\n        self.max_prefill_tokens = 7\n\n    def _bad(self):",
        ),
    )
    done = run("gate", "--base", "HEAD~1", "--select", "slice", *SMALL)
    assert done.status == 0, done.out + done.err
    assert "moved    max_prefill_tokens (not compared): " in done.out
    assert "no field of #slice and so not compared (1): max_prefill_tokens" in done.out
    document = _document(run("gate", "--base", "HEAD~1", *SMALL, "--format", "json"))
    assert {bucket["field"] for bucket in document["buckets"]} == {"max_prefill_tokens"}
    written = [site["field"] for site in document["reach"][1]["writes"]]
    assert "max_prefill_tokens" in written


def test_what_came_onto_the_base_since_is_no_part_of_the_change(run, git: Git, commit: Commit) -> None:  # type: ignore[no-untyped-def]
    git("checkout", "-qb", "change")
    commit(("64 if is_cuda()", "128 if is_cuda()"))
    git("checkout", "-q", "main")
    commit(("else 'pytorch'", "else 'other'"))
    parted = git("merge-base", "main", "change")[:12]
    done = run("gate", "--base", "main", "--head", "change", *SMALL, "--format", "json")
    document = _document(done)
    assert _moved(document) == ["page_size"]
    assert document["subjects"][0]["name"] == f"git:{parted}"
    assert f"main has gone on since: compared with {parted}, where change left it" in document["notes"]


def test_from_another_folder(run, git: Git, commit: Commit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    commit(("64 if is_cuda()", "128 if is_cuda()"))
    monkeypatch.chdir(tmp_path)
    done = run("gate", "--base", "HEAD~1", "--repository", "repository/python", *SMALL, "--format", "json")
    assert done.status == 1
    assert _moved(_document(done)) == ["page_size"]


def test_wrong_words_are_one_sentence(run, git: Git, commit: Commit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run("gate").is_refused("two subjects", "--base REV")
    run("gate", "legacy").is_refused("two subjects", "--base REV")
    run("gate", "legacy", "declarative", "--head", "main").is_refused("go with --base")
    run("gate", "legacy", "declarative", "--base", "main").is_refused("not both", "'legacy'")
    run("gate", "--base", "mian").is_refused("no commit is called 'mian'", "did you mean 'main'")
    run("gate", "--base", "main", "--head", "nowhere").is_refused("no commit is called 'nowhere'")
    run("gate", "--base", "main", "--select", "slcie").is_refused("--select slcie", "did you mean 'slice'")
    own = "python:server.settings:resolve"
    run("gate", "--base", "main", "--select", own).is_refused("it takes slice", "git:REV#python:...")
    run("gate", "--base", "main", "--select", "legacy").is_refused("holds no file legacy/__init__.py")
    run("gate", "--base", "main", "--repository", str(tmp_path / "none")).is_refused("is not a folder")
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-qm", "unrelated")
    run("gate", "--base", "main", "--head", "other").is_refused("no common ancestor")


def test_a_shallow_clone_says_what_to_fetch(run, git: Git, commit: Commit, monkeypatch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    git("branch", "change")
    commit(("64 if is_cuda()", "128 if is_cuda()"))
    git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{tmp_path}/repository", str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    git("-C", str(tmp_path / "clone"), "checkout", "-q", "main")
    done = run("gate", "--base", "origin/change", "--head", "main")
    done.is_refused("no common ancestor", "shallow", "git fetch --unshallow")


def test_shards_of_a_change_are_merged_after_its_names_have_moved_on(run, git: Git, commit: Commit, tmp_path) -> None:  # type: ignore[no-untyped-def]
    commit(("64 if is_cuda()", "128 if is_cuda()"))
    one = run("gate", "--base", "HEAD~1", *SMALL, "--format", "json")
    file = tmp_path / "shard.json"
    assert run("gate", "--base", "HEAD~1", *SMALL, "--shard", "1/1", "--report", f"json={file}").status == 0
    commit(("128 if is_cuda()", "256 if is_cuda()"))
    merged = run("merge", str(file), "--jobs", "1", "--format", "json")
    assert (merged.status, merged.out) == (1, one.out), merged.err
    run("merge", str(file), "--repository", str(tmp_path / "cache")).is_refused("git repository")
