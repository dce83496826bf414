"""Judges one mutant: whether a trial catches it, and by what."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal

import msgspec

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.reached import CasesByBlock
from harness.audit.run.runner import NotLoaded, Runner
from harness.audit.run.trial import Trial
from harness.common.errors import UsageError
from harness.engine.difference.compare import Difference, differences
from harness.subjects.wire import decode_frame, is_outcome

CaughtBy = Literal["difference", "load", "killed", "timeout", "memory", "broken"]


class Catch(msgspec.Struct, frozen=True, kw_only=True):
    """How a mutant was caught.

    ``by`` is ``load`` if the package could not be imported: no case was needed. Otherwise ``case`` is the id of the
    first case that shows the fault, after ``cases`` cases that do not, and ``difference`` the first of its
    differences. ``detail`` is one sentence.
    """

    by: CaughtBy
    cases: int
    case: str | None
    difference: Difference | None
    detail: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a mutant.

    ``catch`` is None if none of the ``cases`` cases caught it, which does not prove it equivalent. ``reached`` counts
    the cases that run the block with the fault; the other cases were not run. ``seconds`` is the time that it took,
    the only value that another run does not repeat.
    """

    mutant: Mutant
    catch: Catch | None
    cases: int
    reached: int
    seconds: float


def judge(
    package: MutablePackage, mutant: Mutant, trial: Trial, runner: Runner, reached: CasesByBlock | None = None
) -> Result:
    """Run the package with the mutant's fault until the first difference that the trial does not explain.

    With ``reached``, only the cases that reach the fault are run. Raises UsageError for a mutant of other sources.
    """
    started = time.monotonic()
    cases = None if reached is None else reached.cases(mutant)
    catch = _run(package, {mutant.file: package.mutated(mutant)}, trial, runner, cases)
    return Result(
        mutant=mutant,
        catch=catch,
        cases=len(trial.cases),
        reached=len(trial.cases) if cases is None else cases.bit_count(),
        seconds=round(time.monotonic() - started, 3),
    )


def check_original(package: MutablePackage, trial: Trial, runner: Runner) -> None:
    """Raise UsageError if the package differs from the trial without a fault: every mutant would seem caught."""
    catch = _run(package, {}, trial, runner, None)
    if catch is not None:
        where = f" in case {catch.case}" if catch.case else ""
        raise UsageError(
            f"{package.name} differs from its original without a fault{where} ({catch.detail}): "
            "explain or mend that before an audit"
        )


def _run(
    package: MutablePackage, changed: Mapping[str, str], trial: Trial, runner: Runner, cases: int | None
) -> Catch | None:
    """Run the package with the texts ``changed`` for its files until a case catches it; None if no case does."""
    with tempfile.TemporaryDirectory(prefix="stackproof-") as name:
        folder = Path(name)
        package.write(folder, changed)
        try:
            with closing(runner.answers(folder, cases)) as answers:
                for number, frame in answers:
                    if catch := _catch(number, frame, trial):
                        return catch
        except NotLoaded as error:
            return Catch(by="load", cases=0, case=None, difference=None, detail=str(error))
    return None


def _catch(number: int, frame: bytes, trial: Trial) -> Catch | None:
    """Return the catch if the outcome in ``frame`` has a difference that is not explained, else None."""
    case = trial.cases[number]
    if not is_outcome(trial.expected[number]):
        # The original has no outcome in this case, so there is nothing to compare with.
        return None
    ours = decode_frame(frame, case.id, trial.names)
    theirs = decode_frame(trial.expected[number], case.id, trial.names)
    for difference in differences(theirs, ours, messages=trial.messages):
        by: CaughtBy = "difference"
        if ours.failure is not None:
            if ours.failure.kind == "unanswered":
                # The fault made the package ask for something that no stand-in can answer: that is no difference.
                continue
            by = ours.failure.kind
        if not trial.explained(difference, case, theirs, ours):
            return Catch(by=by, cases=number, case=case.id, difference=difference, detail=_in_words(difference))
    return None


def _in_words(difference: Difference) -> str:
    if difference.kind == "failure":
        return f"{difference.name}: {difference.second or difference.first}"
    return f"{difference.name or difference.kind}: {difference.first!r} -> {difference.second!r}"
