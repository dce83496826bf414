"""Opens a pull request as two subjects, one before and one after it, and finds the fields that it moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from harness.common.errors import UsageError, hint
from harness.formats.subjectname import OWN_PACKAGES, SLICE_SUFFIX
from harness.moves import Moved, moved_fields
from harness.subjects.sources.revisions import common_ancestor
from harness.subjects.spec import SubjectSpec

SELECTORS: Final = (SLICE_SUFFIX, *OWN_PACKAGES)
"""The values of ``--select``: each selects a part of both revisions, as after the ``#`` of a subject."""

ROLES: Final = {"base": "git:base", "head": "git:head"}
"""The sides of a change, and what a ledger calls each: the names of the revisions are new for every change."""


class SubjectPair(NamedTuple):
    """The two subjects of a change, the fields that it moves, and what to know about them.

    ``names`` are the subjects' names as a user would write them, and ``specs`` the subjects. ``moved`` is None if
    neither is a change of the other. ``notes`` are sentences for the user.
    """

    names: tuple[str, str]
    specs: tuple[SubjectSpec, SubjectSpec]
    moved: tuple[Moved, ...] | None
    notes: tuple[str, ...]

    @property
    def aliases(self) -> dict[str, str]:
        """What ``base`` and ``head`` in a ledger stand for: the change's subjects, or `ROLES` if it is no change."""
        return ROLES if self.moved is None else dict(zip(ROLES, self.names, strict=True))


def two_subjects(first: SubjectSpec, second: SubjectSpec) -> SubjectPair:
    """Return two subjects, neither of which is a change of the other."""
    return SubjectPair((first.label, second.label), (first, second), None, ())


def open_change(
    base: str, head: str, select: str | None, repository: Path, open_one: Callable[[str], SubjectSpec]
) -> SubjectPair:
    """Return the change that ``head`` brings to ``base`` in the git repository that the folder ``repository`` is in.

    Commits that were added to ``base`` after ``head`` branched off are no part of the change, so its first subject is
    their best common ancestor. ``open_one`` opens a subject of that repository by its name.

    Raises UsageError for a revision that is unknown or holds no such subject, for two revisions without a common
    ancestor, for an unknown ``select``, or for a file that cannot be parsed.
    """
    if select is not None and select not in SELECTORS:
        what = f"{', '.join(SELECTORS)}{hint(select, SELECTORS)}"
        own = "; a function of your own is named as it was and as it is, git:REV#python:... and python:..."
        raise UsageError(f"--select {select}: it takes {what}{own if select.startswith('python:') else ''}")
    commits = common_ancestor(base, head, repository)
    notes = []
    if commits.ancestor != commits.base:
        notes.append(f"{base} has gone on since: compared with {commits.ancestor[:12]}, where {head} left it")
    first = base if commits.ancestor == commits.base else commits.ancestor[:12]
    names = _name(first, commits.ancestor, select), _name(head, commits.head, select)
    specs = open_one(names[0]), open_one(names[1])
    moved = moved_fields(*specs)
    fields = [one.field for one in moved]
    if not select:
        # The whole construction has every field: record the writes of those that moved. A slice has only its own.
        specs = specs[0].recording(fields), specs[1].recording(fields)
    elif outside := [field for field in fields if field not in specs[0].written]:
        whole = "; the whole construction, without --select, has them" if select == SLICE_SUFFIX else ""
        said = f"moved as well, but no field of #{select} and so not compared ({len(outside)})"
        notes.append(f"{said}: {', '.join(outside)}{whole}")
    return SubjectPair(names, specs, moved, tuple(notes))


def _name(revision: str, commit: str, select: str | None) -> str:
    # A ``#`` in a revision would be read as the start of a suffix, so the commit is named instead.
    revision = commit[:12] if "#" in revision else revision
    return f"git:{revision}" if select is None else f"git:{revision}#{select}"
