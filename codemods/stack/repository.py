"""Does for a stack what needs git: its own work tree, and a commit and a branch for each step.

The commits are made with plumbing commands, without hooks and without signing. In a repository that the runner made,
git also ignores the user's configuration. So what a commit holds depends on the step alone.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.common.errors import UsageError
from harness.subjects.sources.git import Git, GitFailed

_PLAIN: Final = ("-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
_OWN: Final = ("-c", "core.autocrlf=false", "-c", "core.safecrlf=false")
_OWN_ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "stackproof",
    "GIT_AUTHOR_EMAIL": "stackproof@localhost",
    "GIT_COMMITTER_NAME": "stackproof",
    "GIT_COMMITTER_EMAIL": "stackproof@localhost",
    # The dates are fixed, so that the same stack has the same commits wherever and whenever it runs.
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00+0000",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00+0000",
}


class Repository(Git):
    """The git work tree at ``path``. ``own`` is true if the runner made the repository, false if it is the user's."""

    def __init__(self, path: Path, *, own: bool) -> None:
        """Raises UsageError when git is missing, or ``path`` is in no repository that git will read."""
        self.path = path
        self.own = own
        super().__init__(
            path, options=(*_PLAIN, *_OWN) if own else _PLAIN, environment=_OWN_ENVIRONMENT if own else {}
        )

    def head(self) -> str:
        """Return the commit that is checked out; raises GitFailed when there is none yet."""
        return self.text("rev-parse", "--verify", "HEAD^{commit}").strip()

    def changes(self) -> list[str]:
        """Return the paths that differ from the commit that is checked out, without those that git ignores."""
        entries = self.text("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames").split("\0")
        return [entry[3:] for entry in entries if entry]

    def patch(self) -> str:
        """Return all changes since the commit that is checked out, as a patch; they are added to the index."""
        self.text("add", "--all")
        return self.text("diff", "--cached", "--binary", "--no-ext-diff", "--no-textconv", "HEAD")

    def stat(self, before: str, after: str) -> str:
        """Return the diffstat between the commits ``before`` and ``after``."""
        return self.text("diff", "--stat=110", "--no-ext-diff", "--no-textconv", before, after)

    def commit_tree(self, message: str, parent: str | None) -> str:
        """Commit everything in the work tree on top of ``parent`` and return the commit; no branch moves.

        Raises UsageError when no name of a committer is configured in the user's repository.
        """
        self.text("add", "--all")
        tree = self.text("write-tree").strip()
        try:
            return self.text(
                "commit-tree", tree, *(("-p", parent) if parent else ()), "-F", "-", given=message.encode()
            ).strip()
        except GitFailed as error:
            if "identity" in str(error) or "ident name" in str(error) or "email" in str(error):
                raise UsageError(
                    f"git does not know who commits in {self.path}: set user.name and user.email there"
                ) from None
            raise

    def is_commit(self, commit: str) -> bool:
        """Return whether the repository holds ``commit``."""
        try:
            self.text("cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed:
            return False
        return True

    def branches(self) -> dict[str, str]:
        """Return the commit of each branch, by name."""
        lines = self.text("for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads").splitlines()
        return {name: commit for commit, _, name in (line.partition(" ") for line in lines)}

    def move(self, branch: str, commit: str) -> None:
        """Set ``branch`` to ``commit`` and check it out, but leave the files and the index as they are."""
        self.text("update-ref", f"refs/heads/{branch}", commit)
        self.text("symbolic-ref", "HEAD", f"refs/heads/{branch}")

    def unlock(self) -> None:
        """Remove the lock that a killed git left behind; the caller must know that no other git is at work here."""
        Path(self.text("rev-parse", "--absolute-git-dir").strip(), "index.lock").unlink(missing_ok=True)

    def restore(self, commit: str) -> None:
        """Make the files and the index those of ``commit``; files that git ignores stay, other new ones go."""
        self.text("read-tree", "--reset", "-u", commit)
        self.text("clean", "-f", "-d", "--quiet")

    def release(self, commit: str) -> None:
        """Check out ``commit`` without a branch, but leave the files and the index as they are."""
        self.text("update-ref", "--no-deref", "HEAD", commit)


def new_repository(path: Path) -> Repository:
    """Make a git repository of the folder ``path``, without hooks and templates of the user."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "init", "--quiet", "--template=", "--initial-branch=original", "."]
    try:
        run = subprocess.run(
            command, cwd=path, env=environment | _OWN_ENVIRONMENT, capture_output=True, check=False, text=True
        )
    except FileNotFoundError:
        raise UsageError("a step ends in a commit, and there is no program 'git' on the PATH: install it") from None
    if run.returncode:
        raise UsageError(f"git cannot make a repository in {path}: {run.stderr.strip().splitlines()[-1:]}")
    # The files are committed as they are, whatever the tree's own attributes ask for.
    info = path / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* -text -filter -ident -working-tree-encoding\n")
    # Only what Python caches is ignored, besides what the tree's own .gitignore names.
    (info / "exclude").write_text("__pycache__/\n*.pyc\n")
    return Repository(path, own=True)


def user_repository(folder: Path) -> Repository | None:
    """Return the user's work tree that contains ``folder``, None when there is none.

    Raises UsageError when git will not read it.
    """
    inside = next((up for up in (folder, *folder.parents) if (up / ".git").exists()), None)
    return None if inside is None else Repository(inside, own=False)


def check_clean(repository: Repository) -> None:
    """Raise UsageError when the work tree has changes that are not committed, or when there is no commit at all."""
    try:
        repository.head()
    except GitFailed:
        raise UsageError(f"{repository.path} has no commit yet: commit the tree that is to be migrated") from None
    changes = repository.changes()
    if changes:
        more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
        raise UsageError(
            f"the work tree {repository.path} is not clean ({changes[0]}{more}): commit or stash what is there"
        )


def linked(repository: Repository, path: Path) -> Repository:
    """Make ``path`` another work tree of the user's repository, at its current commit and on no branch."""
    repository.text("worktree", "add", "--quiet", "--detach", str(path), repository.head())
    return Repository(path, own=False)


def unlinked(repository: Repository, path: Path) -> None:
    """Remove the other work tree ``path``."""
    repository.text("worktree", "remove", "--force", str(path))


def taken(repository: Repository, names: Sequence[str]) -> list[str]:
    """Return those of ``names`` that cannot become branches: ``a/b`` if there is ``a/b``, ``a`` or ``a/b/c``."""
    there = repository.branches()
    return [
        name
        for name in names
        if any(other == name or other.startswith(f"{name}/") or name.startswith(f"{other}/") for other in there)
    ]
