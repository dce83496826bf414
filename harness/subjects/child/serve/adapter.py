"""The base class of all kinds of subject in their process: a method for each operation, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from ..recording.reach import RecordedReach
from ..recording.tracing import traced
from .operations import CaseRequest, Described, Exchanged, JsonObject, ListedReads
from .values import marked

C = TypeVar("C")


class NotASubject(Exception):
    """The tree lacks what was asked for: ``kind`` is ``slice`` or ``callable``, the message names what is missing."""

    kind = ""


class Adapter(Generic[C]):
    """One loaded subject, whose cases are of type ``C``: a tree, a callable or a package.

    - ``limits``: which of the limits that need the kernel's permission are in force.
    - ``root``: the folder with the subject's source.
    - ``reach``: what was recorded; None if the subject is not recorded.
    - ``refusals_have_places``: true if the frame of a refusal has the place where it was raised; otherwise `traces`
      has to find it, which takes longer.
    """

    limits: dict[str, bool]
    root: str
    reach: RecordedReach | None = None
    refusals_have_places = True

    def describe(self) -> Described:
        """Return the arguments, what the resolution reads of them, and the values it compares them with."""
        raise NotImplementedError

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields ``resolve`` reports; return those of them that the subject has."""
        raise NotImplementedError

    def parse(self, argv: list[str]) -> JsonObject:
        """Return the arguments that launch flags set. Raises LaunchError for flags that do not parse."""
        raise NotImplementedError

    def resolve(self, case: C) -> bytes:
        """Return the case's answer frame: ``F`` fields, ``E`` refusal or ``X`` no outcome."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop whatever the subject remembers from earlier cases, as if the process had just started."""

    def cases(self, request: CaseRequest[Any]) -> Iterator[C]:
        """Yield the cases of a request."""
        raise NotImplementedError

    def accessors(self) -> str:
        """Return the file of the tree whose functions set variables for others; empty if there is none."""
        return ""

    def decisions(self) -> list[JsonObject]:
        """Return the decisions, as `describe` has them."""
        return [] if self.reach is None else self.reach.decisions()

    def chain(self, case: C) -> list[JsonObject]:
        """Return every write that resolving the case makes, in order; empty if writes are not recorded."""
        return [] if self.reach is None else self.reach.chain(partial(self.resolve, case), marked)

    def written(self, positions: Sequence[int]) -> list[list[JsonObject]] | None:
        """Return the chains of these cases of the last batch, None if this process did not resolve all of them."""
        return [[] for _ in positions] if self.reach is None else self.reach.written(positions, marked)

    def traces(self, request: CaseRequest[Any]) -> list[JsonObject]:
        """Resolve the cases and return what each does (see `recording.tracing`)."""
        runs: list[Callable[[], object]] = [partial(self.resolve, case) for case in self.cases(request)]
        return traced(self.reach, runs, self.root, self.accessors(), raises=not self.refusals_have_places)

    def reads(self, request: CaseRequest[Any]) -> ListedReads:
        """Resolve the cases, keep them, and return what each step read. Only packages have steps."""
        raise NotImplementedError

    def exchange(self, first: str, second: str, numbers: Sequence[int], seconds: float) -> Exchanged:
        """Resolve the kept cases ``numbers`` with two steps exchanged. Only packages have steps."""
        raise NotImplementedError
