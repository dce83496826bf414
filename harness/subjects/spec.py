"""What it takes to open a subject: plain data, small enough to hand to another process."""

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
    """What a child may use: memory in MiB, seconds for one case, seconds to load the tree."""

    memory_mib: int = 2048
    case_seconds: float = 10.0
    load_seconds: float = 60.0


@dataclass(frozen=True)
class SubjectSpec:
    """Everything another process needs to open the same subject again.

    ``package`` is what resolves, found in ``tree``: sglang, or one of our own packages, which are always the slice.
    ``target`` (``module:name``) is the callable that resolves, where that is somebody's own, and empty otherwise.
    With ``record`` the subject reports what writes its fields and which branches were taken.
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
        """Return a digest of the current source texts: those of a folder may have changed under the same name."""
        if not self.tree.identity.startswith("dir:"):
            return self.tree.identity
        # A callable may import any module beside its own.
        return sources_in(self.tree.root if self.target else self.tree.root / self.package)

    @property
    def name(self) -> str:
        """The subject's name in a ledger: a package's own wherever it lies, a release's normal form."""
        return normal_name(self.tree.label)

    @property
    def own(self) -> bool:
        """Whether the package is one of ours."""
        return self.package not in KNOWN_PACKAGES and not self.target

    @property
    def family(self) -> str:
        """What can be compared word for word: refusals of two subjects of one family agree in their messages."""
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
        """The fields that a resolution is about, without what it writes besides."""
        names: list[str] = self.profile["slice"]["fields"]
        return names

    @property
    def written(self) -> list[str]:
        """The fields whose writes are recorded, and which a gate compares unless it is given others."""
        names: list[str] = [*self.resolved, *self.profile["slice"]["state"]]
        return names

    def recording(self, fields: Iterable[str]) -> SubjectSpec:
        """Return the same subject with the writes of further fields recorded and their values among its outcomes.

        For a whole construction: of a slice, other handlers than those of its own fields never run.
        """
        cut = self.profile["slice"]
        more = [name for name in fields if name not in self.written]
        return replace(self, profile={**self.profile, "slice": {**cut, "state": [*cut["state"], *more]}})

    @property
    def drawn_prefix(self) -> str:
        """What the names of the variables begin with that cases are drawn with."""
        return "" if self.target else "SGLANG_"

    @property
    def not_drawn(self) -> list[str]:
        """Variables that no case is drawn with."""
        names: list[str] = self.profile["not_drawn"]
        return names
