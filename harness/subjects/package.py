"""One of our own packages as a subject, here or in a copy of this repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.common.errors import UsageError
from harness.subjects.packaged.request import Exchange, encode_cases
from harness.subjects.part import NO_PART, Part
from harness.subjects.process import Process, package_command
from harness.subjects.subject import Subject
from harness.world.case import Case
from harness.world.chain import PlacedStep


class Recorded(msgspec.Struct, frozen=True):
    """The steps of a package in order; what each read in all cases together; which of them ran in each case."""

    steps: list[PlacedStep]
    reads: list[list[str]]
    ran: list[list[int]]


class Exchanged(msgspec.Struct, frozen=True):
    """Of the cases that were run with two steps exchanged, the numbers of those that came out otherwise.

    ``error`` says why the two cannot be exchanged.
    """

    changed: list[int]
    run: int
    error: str


class PackageSubject(Subject):
    """A package that runs on `harness.world`: it is asked what each case comes to, and has no need of stand-ins.

    It has a process of its own all the same: a copy that somebody has changed may hang or run wild, and two copies
    have modules of the same names.
    """

    def _process_of(self) -> Process:
        return Process(package_command())

    def _load_request(self) -> dict[str, Any]:
        return {
            "root": os.path.realpath(self.spec.tree.root),
            "package": self.spec.package,
            "names": self.spec.written,
            "record": self.spec.record,
        }

    def _load_error(self, answer: dict[str, Any]) -> UsageError:
        at = f" at {answer['frame']}" if answer["frame"] else ""
        return UsageError(f"{self.spec.label}: importing the package failed{at}: {answer['detail']}")

    def _encode(self, cases: Sequence[Case], *, part: Part = NO_PART, operation: str = "resolve") -> bytes:
        return encode_cases(cases, part=part, operation=operation)

    def recorded(self, cases: Sequence[Case], seconds: float) -> Recorded:
        """Return the package's steps and what they read while the cases were resolved; the child keeps the cases.

        Raises UsageError for a package whose steps do not declare, and when that takes longer than ``seconds``.
        """
        answer = self._ask_bytes(self._encode(cases, operation="reads"), seconds)
        if answer["lacks"]:
            raise UsageError(
                f"{self.spec.label} has no steps that declare: it lacks {', '.join(answer['lacks'])}; try declarative"
            )
        return msgspec.convert(answer, Recorded)

    def exchanged(self, first: str, second: str, numbers: Sequence[int], seconds: float) -> Exchanged:
        """Return what becomes of the kept cases ``numbers`` with two steps exchanged, tried for ``seconds`` at most.

        Raises UsageError when the process ends.
        """
        request = Exchange(first, second, list(numbers), seconds)
        wait = seconds + self.spec.limits.load_seconds
        return msgspec.convert(self._ask_bytes(msgspec.json.encode(request), wait), Exchanged)
