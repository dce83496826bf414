"""A source tree at a git revision, read from the object store of the user's repository.

``git cat-file`` gives the files as they were committed. ``git archive`` would apply the repository's attributes: run
smudge filters, put commit ids into ``export-subst`` files, leave out ``export-ignore`` files.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from harness.common.errors import UsageError, hint
from harness.subjects.sources.cache import make_entry
from harness.subjects.sources.git import Git, GitFailed
from harness.subjects.sources.tree import PACKAGE, USUAL_PLACES, Refused, Tree, TreeWriter, landmarks_of, safe_member

_REGULAR: Final = ("100644", "100755")
_SETTINGS: Final = (".toml", ".json", ".yaml", ".yml", ".ini", ".cfg")
_OBJECT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class _Listed(NamedTuple):
    """A regular file of a commit: the id of its blob, and its path from the top."""

    blob: str
    path: str


class Commits(NamedTuple):
    """The commits of a change: those of its two ends, and their best common ancestor."""

    base: str
    head: str
    ancestor: str


def common_ancestor(base: str, head: str, cwd: Path) -> Commits:
    """Return the commits that ``base`` and ``head`` name in the repository of ``cwd``, and their common ancestor.

    Raises UsageError if git or the repository is missing, a revision is unknown, or the two have no ancestor here.
    """
    git = Git(cwd)
    ends = _commit(git, base, cwd), _commit(git, head, cwd)
    try:
        ancestor = git.text("merge-base", *ends).strip()
    except GitFailed:
        shallow = git.text("rev-parse", "--is-shallow-repository").strip() == "true"
        raise UsageError(
            f"{base} and {head} have no common ancestor in the git repository of {cwd}: "
            + (
                "this clone is shallow, fetch its history first (git fetch --unshallow)"
                if shallow
                else "name two revisions of one history"
            )
        ) from None
    return Commits(*ends, ancestor)


def revision_tree(rev: str, cwd: Path, cache: Path, package: str = PACKAGE, module: str = "") -> Tree:
    """Return the tree of ``package`` at the git revision ``rev`` of the repository around ``cwd``.

    The regular ``.py`` files of the package are written into ``cache``, under the commit's id. With ``module`` the
    tree must have that module; then all ``.py`` files and files of settings in the folder that holds the package are
    written, since the module may import or read any of them. The checkout, the index, the worktrees and the
    configuration of the repository are not touched.

    Raises UsageError if git or the repository is missing, the revision is unknown, or it has no such tree.
    """
    git = Git(cwd)
    commit = _commit(git, rev, cwd)
    try:
        listed = _listing(git, commit, (".py", *_SETTINGS) if module else (".py",))
        place = _place(listed, rev, commit, package, module)
        # A digest, since a path may be longer than the name of a folder can be.
        part = f"{place}\0*" if module else place if package == PACKAGE else f"{place}\0{package}"
        key = f"{commit}-{hashlib.sha256(part.encode(errors='surrogateescape')).hexdigest()[:12]}"
        prefix = f"{place}/" if place else ""
        wanted = [file for file in listed if file.path.startswith(prefix if module else f"{prefix}{package}/")]
        entry = make_entry(cache / "revisions" / key, lambda making: _fill(git, wanted, prefix, making / "tree"))
    except GitFailed as error:
        raise UsageError(
            f"can't read the files of git revision {rev!r} ({commit[:12]}) in {cwd}: {error}; if this is a"
            f" partial clone, run 'git archive --output=/dev/null {commit[:12]}' there once, which fetches"
            " what it lacks"
        ) from None
    except Refused as error:
        raise UsageError(f"git revision {rev!r} ({commit[:12]}) can't be used as a source tree: {error}") from None
    return Tree(root=entry / "tree", label=f"git:{rev}", identity=f"commit:{commit}", folder=place)


def _commit(git: Git, rev: str, cwd: Path) -> str:
    try:
        # In two steps: "^{commit}" added to ":/words" would become a part of the words.
        found = git.text("rev-parse", "--verify", "--end-of-options", rev).strip()
        if _OBJECT.fullmatch(found):  # "^main" is a revision for git, too, but it means no commit
            return git.text("rev-parse", "--verify", "--end-of-options", f"{found}^{{commit}}").strip()
    except GitFailed:
        pass
    names = git.text("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
    shallow = git.text("rev-parse", "--is-shallow-repository").strip() == "true"
    raise UsageError(
        f"no commit is called {rev!r} in the git repository of {cwd}{hint(rev, names.splitlines())}: name a"
        " branch, a tag or a commit" + (", or fetch it first, since this clone is shallow" if shallow else "")
    )


def _listing(git: Git, commit: str, suffixes: tuple[str, ...]) -> list[_Listed]:
    """Return the regular files of ``commit`` that end in one of ``suffixes``."""
    listed = []
    for line in git.text("ls-tree", "-r", "-z", "--full-tree", commit).split("\0"):
        details, _, path = line.partition("\t")
        mode, _, rest = details.partition(" ")
        if mode in _REGULAR and path.endswith(suffixes):
            listed.append(_Listed(blob=rest.split(" ")[1], path=path))
    return listed


def _place(listed: list[_Listed], rev: str, commit: str, package: str, module: str) -> str:
    """Return the folder of the commit that has the package: the least deep one, and of these a usual place first."""
    places, landmarks = [], landmarks_of(package, module)
    for file in listed:
        for landmark in landmarks:
            place = file.path.removesuffix(str(landmark))
            if place != file.path and (not place or place.endswith("/")):
                places.append(place.removesuffix("/"))
    if not places:
        looked = " or ".join(map(str, landmarks))
        raise UsageError(
            f"git revision {rev!r} ({commit[:12]}) holds no file {looked}, at its top, in python/, in src/"
            f" or in any other folder: name a revision of a repository that holds {package}"
        )

    def rank(place: str) -> tuple[int, int, str]:
        depth = place.count("/") + 1 if place else 0
        usual = USUAL_PLACES.index(place) if place in USUAL_PLACES else len(USUAL_PLACES)
        return depth, usual, place

    return min(places, key=rank)


def _fill(git: Git, wanted: list[_Listed], prefix: str, into: Path) -> None:
    paths: list[PurePosixPath] = [safe_member(file.path.removeprefix(prefix)) for file in wanted]
    writer = TreeWriter(into)
    with closing(git.blobs([file.blob for file in wanted])) as contents:
        for path, content in zip(paths, contents, strict=True):
            writer.write(path, content)
