"""All that is needed to open a subject, as plain data that is small enough to send to another process."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from harness.formats.launch import LAUNCH
from harness.formats.subjectname import KNOWN_PACKAGES, normal_name
from harness.subjects.profile import Profile
from harness.subjects.sources import Tree
from harness.subjects.sources.folders import sources_in


@dataclass(frozen=True)
class Limits:
    """The limits of a child: memory in MiB, seconds for one case, seconds to load the tree."""

    memory_mib: int = 2048
    case_seconds: float = 10.0
    load_seconds: float = 60.0


@dataclass(frozen=True)
class SubjectSpec:
    """Everything that another process needs to open the same subject again.

    - ``package`` is the package in ``tree`` that resolves: sglang, or one of our own packages, which have only the
      slice.
    - ``target`` (``module:name``) is the user's callable that resolves; empty for other subjects.
    - ``record`` says whether the subject reports which code writes its fields and which branches were taken.
    """

    tree: Tree
    slice: bool
    profile: Profile = field(repr=False)
    python: str = sys.executable
    limits: Limits = field(default_factory=Limits)
    package: str = KNOWN_PACKAGES[0]
    record: bool = True
    target: str = ""

    @property
    def label(self) -> str:
        """The subject as the user named it."""
        return self.tree.label

    def sources(self) -> str:
        """Return what identifies the source texts; for a folder, whose files may change, a digest of them."""
        if not self.tree.identity.startswith("dir:"):
            return self.tree.identity
        # A callable may import any module beside its own.
        return sources_in(self.tree.root if self.target else self.tree.root / self.package)

    @property
    def name(self) -> str:
        """The subject's name in a ledger: a copy of our own package has its name, a release is in normal form."""
        return normal_name(self.tree.label)

    @property
    def own(self) -> bool:
        """Whether the package is one of ours."""
        return self.package not in KNOWN_PACKAGES and not self.target

    @property
    def family(self) -> str:
        """The code base; refusals of two subjects of one family must have the same message to agree."""
        return "callable" if self.target else "own" if self.own else "tree"

    @property
    def program(self) -> tuple[str, ...]:
        """The words that a launch line of the subject begins with."""
        return (f"python:{self.target}",) if self.target else LAUNCH

    @property
    def values(self) -> dict[str, list[Any]]:
        """Values to draw for arguments whose type no metadata describes."""
        values: dict[str, list[Any]] = self.profile["values"]
        return values

    @property
    def resolved(self) -> list[str]:
        """The resolved fields, without those that the slice writes besides."""
        names: list[str] = self.profile["slice"]["fields"]
        return names

    @property
    def written(self) -> list[str]:
        """The fields whose writes are recorded; a gate compares them unless it is given others."""
        names: list[str] = [*self.resolved, *self.profile["slice"]["state"]]
        return names

    def recording(self, fields: Iterable[str]) -> SubjectSpec:
        """Return the same subject, with the writes of further fields recorded and their values in its outcomes.

        This is of use for a whole construction. In a slice the handlers of other fields never run.
        """
        cut = self.profile["slice"]
        more = [name for name in fields if name not in self.written]
        return replace(self, profile={**self.profile, "slice": {**cut, "state": [*cut["state"], *more]}})

    @property
    def drawn_prefix(self) -> str:
        """The prefix of the environment variables that cases set."""
        return "" if self.target else "SGLANG_"

    @property
    def not_drawn(self) -> list[str]:
        """The environment variables that no case sets."""
        names: list[str] = self.profile["not_drawn"]
        return names
