from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.common.errors import UsageError
from harness.formats.subjectname import parse_subject
from harness.subjects.sources import folder_tree, locate


@pytest.mark.parametrize("place", ["", "python", "src"])
def test_holder_and_repository_top(tmp_path: Path, write_sources: Callable[..., None], place: str) -> None:
    write_sources(tmp_path / "repo", place)
    tree = folder_tree("repo", tmp_path)
    assert tree.root == tmp_path / "repo" / place
    assert tree.label == "dir:repo"
    assert tree.identity == f"dir:{tmp_path / 'repo' / place}"


def test_the_package_itself(tmp_path: Path, write_sources: Callable[..., None]) -> None:
    write_sources(tmp_path)
    assert folder_tree("sglang", tmp_path).root == tmp_path
    assert folder_tree(str(tmp_path / "sglang") + "/", Path("/")).root == tmp_path
    assert folder_tree(".", tmp_path / "sglang").root == tmp_path


def test_home_folder(tmp_path: Path, write_sources: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    write_sources(tmp_path / "mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_tree("~/mine", Path("/")).root == tmp_path / "mine"


def test_the_home_of_nobody_is_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        folder_tree("~no-such-user/x", tmp_path)


def test_missing_folder_names_its_neighbours(tmp_path: Path, write_sources: Callable[..., None]) -> None:
    write_sources(tmp_path / "checkout")
    with pytest.raises(UsageError, match=r"does not exist \(did you mean 'checkout'\?\)"):
        folder_tree("chekout", tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is not a folder"):
        folder_tree("file", tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        folder_tree("file/below", tmp_path)


def test_no_tree_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "sglang").mkdir()
    with pytest.raises(UsageError) as caught:
        folder_tree(".", tmp_path)
    for place in ("sglang/srt/server_args.py", "python/sglang/srt/", "src/sglang/srt/"):
        assert place in str(caught.value)


def test_locate_uses_no_cache(
    tmp_path: Path, write_sources: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sources(tmp_path / "repo", "python")
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("STACKPROOF_CACHE", str(tmp_path / "blocked" / "cache"))
    tree = locate(parse_subject("dir:repo#slice"), cwd=tmp_path)
    assert tree.label == "dir:repo#slice"
    assert tree.root == tmp_path / "repo" / "python"
