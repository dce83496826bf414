from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.common.errors import UsageError
from harness.formats.subjectname import parse_subject
from harness.subjects.sources import locate, revision_tree

RunGit = Callable[..., str]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def repository(tmp_path: Path, run_git: RunGit, write_sources: Callable[..., None]) -> Path:
    """Two commits of python/sglang: page_size 1 (tag v1), then 2 (branch main)."""
    folder = tmp_path / "repo"
    folder.mkdir()
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    write_sources(folder, "python", 1)
    (folder / "python" / "sglang" / "kernel.cu").write_text("")
    (folder / "README.md").write_text("")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "one")
    run_git(folder, "tag", "v1")
    write_sources(folder, "python", 2)
    run_git(folder, "commit", "--quiet", "-am", "two")
    return folder


def page_size(root: Path) -> str:
    return (root / "sglang" / "srt" / "server_args.py").read_text().split()[-1]


def commit_all(run_git: RunGit, folder: Path) -> None:
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "more")


def test_revisions(repository: Path, cache: Path, run_git: RunGit) -> None:
    first = run_git(repository, "rev-parse", "v1")
    for rev in ("v1", "HEAD~1", first, first[:10], ":/one"):
        tree = revision_tree(rev, repository, cache)
        assert page_size(tree.root) == "1"
        assert tree.identity == f"commit:{first}"
        assert tree.label == f"git:{rev}"
    assert page_size(revision_tree("main", repository / "python" / "sglang", cache).root) == "2"
    files = sorted(str(path.relative_to(tree.root)) for path in tree.root.rglob("*") if path.is_file())
    assert files == ["sglang/__init__.py", "sglang/srt/__init__.py", "sglang/srt/server_args.py"]


def test_annotated_tag(repository: Path, cache: Path, run_git: RunGit) -> None:
    run_git(repository, "tag", "-a", "-m", "note", "noted", "v1")
    assert page_size(revision_tree("noted", repository, cache).root) == "1"


def test_locate(repository: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKPROOF_CACHE", str(cache))
    tree = locate(parse_subject("git:v1#slice"), cwd=repository)
    assert tree.label == "git:v1#slice"
    assert tree.root.is_relative_to(cache)


def test_cached_by_commit(repository: Path, cache: Path, run_git: RunGit) -> None:
    one = revision_tree("v1", repository, cache)
    made = one.root.stat().st_mtime_ns
    again = revision_tree("HEAD~1", repository, cache)
    assert again.root == one.root
    assert again.root.stat().st_mtime_ns == made


def test_edited_cache_is_made_again(repository: Path, cache: Path) -> None:
    file = revision_tree("v1", repository, cache).root / "sglang" / "srt" / "server_args.py"
    file.chmod(0o644)
    file.write_text("class ServerArgs:\n    page_size = 7\n")
    assert page_size(revision_tree("v1", repository, cache).root) == "1"


def test_checkout_is_untouched(repository: Path, cache: Path, run_git: RunGit) -> None:
    (repository / "README.md").write_text("an edit\n")
    (repository / "new.txt").write_text("")
    run_git(repository, "add", "new.txt")

    def state() -> list[object]:
        listed = [(str(path), path.stat().st_mtime_ns) for path in sorted(repository.rglob("*")) if path.is_file()]
        # No stat above is after a git command below: `git status` itself may refresh the index.
        return [listed, (repository / ".git" / "config").read_bytes()]

    before = state()
    revision_tree("v1", repository, cache)
    with pytest.raises(UsageError):
        revision_tree("nothing", repository, cache)
    assert state() == before
    assert run_git(repository, "status", "--porcelain") == "M README.md\nA  new.txt"
    assert run_git(repository, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert len(run_git(repository, "worktree", "list").splitlines()) == 1


def test_unknown_revision_names_the_nearest(repository: Path, cache: Path, run_git: RunGit) -> None:
    run_git(repository, "branch", "release-14")
    with pytest.raises(UsageError, match=r"no commit is called 'relaese-14' .*did you mean 'release-14'"):
        revision_tree("relaese-14", repository, cache)
    assert not cache.exists()


@pytest.mark.parametrize("rev", ["--all", "-h", "--output=x", "main..v1", "HEAD:README.md", "^main", "a b", "*"])
def test_not_a_revision(repository: Path, cache: Path, rev: str) -> None:
    with pytest.raises(UsageError, match="no commit is called"):
        revision_tree(rev, repository, cache)
    assert not (repository / "x").exists()


def test_shallow_clone_is_told(repository: Path, cache: Path, tmp_path: Path, run_git: RunGit) -> None:
    run_git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), "shallow")
    with pytest.raises(UsageError, match="this clone is shallow"):
        revision_tree("v1", tmp_path / "shallow", cache)


def test_partial_clone_runs_no_program(repository: Path, cache: Path, tmp_path: Path, run_git: RunGit) -> None:
    run_git(repository, "config", "uploadpack.allowFilter", "true")
    url = repository.as_uri()
    run_git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", url, "partial")
    run_git(tmp_path / "partial", "config", "remote.origin.uploadpack", f"touch {tmp_path}/ran; false")
    with pytest.raises(UsageError, match="partial clone, run 'git archive"):
        revision_tree("v1", tmp_path / "partial", cache)
    assert not (tmp_path / "ran").exists()
    assert not list((cache / "revisions").iterdir())


def test_no_repository(tmp_path: Path, cache: Path, run_git: RunGit) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError, match=r"in no git repository.*dir:PATH"):
        revision_tree("main", tmp_path / "plain", cache)
    with pytest.raises(UsageError, match="is not a folder"):
        revision_tree("main", tmp_path / "absent", cache)


def test_no_git(repository: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"no program 'git' on the PATH"):
        revision_tree("main", repository, cache)


def test_unreadable_repository(tmp_path: Path, cache: Path, run_git: RunGit, repository: Path) -> None:
    (repository / ".git" / "config").write_text("[broken")
    with pytest.raises(UsageError, match="git won't read the repository"):
        revision_tree("main", repository, cache)


def test_empty_repository(tmp_path: Path, cache: Path, run_git: RunGit) -> None:
    run_git(tmp_path, "init", "--quiet", "empty")
    with pytest.raises(UsageError, match="no commit is called 'HEAD'"):
        revision_tree("HEAD", tmp_path / "empty", cache)


def test_bare_repository(repository: Path, cache: Path, tmp_path: Path, run_git: RunGit) -> None:
    run_git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    assert page_size(revision_tree("v1", tmp_path / "bare.git", cache).root) == "1"


@pytest.mark.parametrize(
    ("places", "chosen"),
    [
        (["", "python"], ""),
        (["src", "python"], "python"),
        (["lib", "src"], "src"),
        (["a/deep", "zz"], "zz"),
        (["b/c", "a/c"], "a/c"),
        (["über dir\n"], "über dir\n"),
    ],
)
def test_place_in_the_repository(
    tmp_path: Path,
    cache: Path,
    run_git: RunGit,
    write_sources: Callable[..., None],
    places: list[str],
    chosen: str,
) -> None:
    folder = tmp_path / "repo"
    run_git(tmp_path, "init", "--quiet", "repo")
    for place in places:
        write_sources(folder, place, 5 if place == chosen else 6)
    write_sources(folder, "not", 7)
    (folder / "not" / "sglang").rename(folder / "not" / "mysglang")
    commit_all(run_git, folder)
    assert page_size(revision_tree("HEAD", folder, cache).root) == "5"


def test_no_tree_in_the_commit(tmp_path: Path, cache: Path, run_git: RunGit) -> None:
    run_git(tmp_path, "init", "--quiet", "repo")
    (tmp_path / "repo" / "a.py").write_text("")
    commit_all(run_git, tmp_path / "repo")
    with pytest.raises(UsageError, match=r"holds no file sglang/srt/server_args\.py"):
        revision_tree("HEAD", tmp_path / "repo", cache)


def test_links_are_left_out(repository: Path, cache: Path, run_git: RunGit) -> None:
    (repository / "python" / "sglang" / "link.py").symlink_to("/etc/passwd")
    (repository / "python" / "sglang" / "loop").symlink_to("..")
    commit_all(run_git, repository)
    root = revision_tree("HEAD", repository, cache).root
    assert sorted(path.name for path in (root / "sglang").iterdir()) == ["__init__.py", "srt"]


def test_attributes_and_configuration_have_no_effect(
    repository: Path, cache: Path, run_git: RunGit, tmp_path: Path
) -> None:
    source = repository / "python" / "sglang" / "version.py"
    source.write_bytes(b"commit = '$Format:%H$'\n")
    (repository / ".gitattributes").write_text(
        "*.py filter=evil eol=crlf\nversion.py export-subst\nserver_args.py export-ignore\n"
    )
    commit_all(run_git, repository)
    ran = tmp_path / "ran"
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    hook.chmod(0o755)
    for name in (
        "filter.evil.smudge",
        "filter.evil.process",
        "core.fsmonitor",
        "core.pager",
        "tar.tar.command",
    ):
        run_git(repository, "config", name, str(hook))
    root = revision_tree("HEAD", repository, cache).root
    assert (root / "sglang" / "version.py").read_bytes() == b"commit = '$Format:%H$'\n"
    assert page_size(root) == "2"
    assert not ran.exists()


def test_replaced_objects_have_no_effect(repository: Path, cache: Path, run_git: RunGit) -> None:
    run_git(repository, "replace", "v1", "main")
    assert page_size(revision_tree("v1", repository, cache).root) == "1"


def test_redirecting_variables_have_no_effect(
    repository: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    assert page_size(revision_tree("v1", repository, cache).root) == "1"
    assert not (tmp_path / "trace").exists()


def test_unusable_cache(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="STACKPROOF_CACHE"):
        revision_tree("v1", repository, tmp_path / "file")


def test_every_message_is_one_line(repository: Path, cache: Path) -> None:
    with pytest.raises(UsageError) as caught:
        revision_tree(f"nope{os.linesep}", repository, cache)
    assert "\n" not in str(caught.value)
