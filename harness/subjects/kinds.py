"""The three kinds of subject: what the process of each kind loads, and the message to the user if that fails."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.common.errors import UsageError
from harness.subjects.batch import packed
from harness.subjects.child.serve import operations
from harness.subjects.process import Process, command, package_command
from harness.subjects.profile import answer_example
from harness.subjects.subject import Subject
from harness.world.case import Case
from harness.world.chain import PlacedStep


class TreeSubject(Subject):
    """sglang from a release, a revision or a folder."""

    def _process_of(self) -> Process:
        return Process(command(self.spec.python, site_packages=False))

    def _load_request(self, limits: dict[str, Any]) -> operations.Load:
        spec = self.spec
        return operations.LoadTree(root=str(spec.tree.root), profile=spec.profile, slice=spec.slice, **limits)

    def _load_error(self, answer: operations.Loaded) -> str | UsageError:
        if answer.error == "unanswered":
            return unanswered(
                self.spec.label, answer.path, answer.how, f"while the tree was being imported{at(answer)}"
            )
        if answer.error == "slice":
            return f"there is no such slice here: {answer.detail}; leave '#slice' off"
        return f"importing the tree failed{at(answer)}: {answer.detail}"


class CallableSubject(Subject):
    """A user's function, or class with fields, which can import the packages of the chosen interpreter.

    docs/subjects.md has the contract.
    """

    def _process_of(self) -> Process:
        return Process(command(self.spec.python, site_packages=True))

    def _load_request(self, limits: dict[str, Any]) -> operations.Load:
        spec = self.spec
        return operations.LoadCallable(
            root=os.path.realpath(spec.tree.root),
            target=spec.target,
            domains=spec.values,
            silent=packed([Case(id="")]),
            **limits,
        )

    def _load_error(self, answer: operations.Loaded) -> str | UsageError:
        if answer.error == "unanswered":
            return (
                f"{answer.path} {answer.how} while the module was being imported{at(answer)}, which no module "
                "of a resolution may do"
            )
        if answer.error == "callable":
            return answer.detail
        more = ""
        if "ModuleNotFoundError" in answer.detail:
            more = "; give --python the interpreter of the environment that has it"
        return f"importing the module failed{at(answer)}: {answer.detail}{more}"


class Recorded(msgspec.Struct, frozen=True):
    """The steps of a package in order; what each of them read in any case; which of them ran in each case."""

    steps: list[PlacedStep]
    reads: list[list[str]]
    ran: list[list[int]]


class PackageSubject(Subject):
    """One of our own packages, here or in a copy of this repository. It runs on `harness.world`, without stand-ins.

    It has a process of its own all the same: a changed copy may hang or use up the memory, and the modules of two
    copies have the same names.
    """

    _answers = False

    def _process_of(self) -> Process:
        return Process(package_command())

    def _load_request(self, limits: dict[str, Any]) -> operations.Load:
        spec = self.spec
        return operations.LoadPackage(
            root=os.path.realpath(spec.tree.root), package=spec.package, names=spec.written, **limits
        )

    def _load_error(self, answer: operations.Loaded) -> str | UsageError:
        return f"importing the package failed{at(answer)}: {answer.detail}"

    def recorded(self, cases: Sequence[Case], seconds: float) -> Recorded:
        """Return the package's steps, and what they read while the cases were resolved; the child keeps the cases.

        Raises UsageError for a package whose steps do not declare, and if it takes longer than ``seconds``.
        """
        answer = self._ask(operations.StepReads(**self._packed(cases)), seconds)
        self._refuse_broken(answer.broken)
        if answer.lacks:
            raise UsageError(
                f"{self.spec.label} has no steps that declare: it lacks {', '.join(answer.lacks)}; try declarative"
            )
        return Recorded(msgspec.convert(answer.steps, list[PlacedStep]), answer.reads, answer.ran)

    def exchanged(self, first: str, second: str, numbers: Sequence[int], seconds: float) -> operations.Exchanged:
        """Resolve the kept cases ``numbers`` with two steps exchanged, for ``seconds`` at most; return what changed.

        Raises UsageError if the process ends.
        """
        request = operations.Exchange(first, second, list(numbers), seconds)
        answer = self._ask(request, seconds + self.spec.limits.load_seconds)
        self._refuse_broken(answer.broken)
        return answer

    def _refuse_broken(self, broken: str) -> None:
        """Raise UsageError if the package is set up wrongly, as `resolve` does."""
        if broken:
            raise UsageError(f"{self.spec.label}: {broken}")


def at(answer: operations.Loaded) -> str:
    """Return `` at FILE:LINE`` for the place where loading failed, the empty string if that is not known."""
    return f" at {answer.frame}" if answer.frame else ""


def unanswered(label: str, path: str, how: str, when: str) -> UsageError:
    """Return the error for an observation without an answer; its example are the lines that would answer it."""
    example = answer_example(path, how)
    if not example:
        return UsageError(f"{label}: {path} {how} {when}, which a resolution may not do: no case can answer for it")
    return UsageError(f"{label}: {path} {how} {when} and no case answers it: give --answers a file with", example)
