"""Whether a trial catches one mutant, and by what."""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Literal

import msgspec

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.reached import Reached
from harness.audit.run.runner import NotLoaded, Runner
from harness.audit.run.trial import Trial
from harness.common.errors import UsageError
from harness.engine.difference.compare import Difference, differences
from harness.subjects.wire import decode_frame, is_outcome

CaughtBy = Literal["difference", "load", "killed", "timeout", "memory", "broken"]


class Catch(msgspec.Struct, frozen=True, kw_only=True):
    """What shows a mutant: an outcome that differs, or none at all.

    ``load`` means that the package could not be imported, and no case was needed; otherwise ``case`` is the id of the
    first that shows it, after ``cases`` that do not, and ``difference`` the first of its differences. ``detail`` is
    one sentence.
    """

    by: CaughtBy
    cases: int
    case: str | None
    difference: Difference | None
    detail: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A mutant and what caught it, None when none of ``cases`` cases did. That is not to say that it is equivalent.

    ``reached`` of the cases come to the fault's block without it; the others were not run. ``seconds`` is the time it
    took, and the one part that another run does not repeat.
    """

    mutant: Mutant
    catch: Catch | None
    cases: int
    reached: int
    seconds: float


def judge(
    package: MutablePackage, mutant: Mutant, trial: Trial, runner: Runner, reached: Reached | None = None
) -> Result:
    """Run the package with the mutant's fault in it until the first difference that is not explained.

    With ``reached`` only the cases that come to the fault are run. Raises UsageError for a mutant of other sources.
    """
    started = time.monotonic()
    cases = None if reached is None else reached.cases(mutant)
    catch = _run(package, mutant, trial, runner, cases)
    return Result(
        mutant=mutant,
        catch=catch,
        cases=len(trial.cases),
        reached=len(trial.cases) if cases is None else cases.bit_count(),
        seconds=round(time.monotonic() - started, 3),
    )


def check_original(package: MutablePackage, trial: Trial, runner: Runner) -> None:
    """Raise UsageError when the package differs from the trial without any fault, which would catch every mutant."""
    catch = _run(package, None, trial, runner, None)
    if catch is not None:
        where = f" in case {catch.case}" if catch.case else ""
        raise UsageError(
            f"{package.name} differs from its original without a fault{where} ({catch.detail}): "
            "explain or mend that before an audit"
        )


def _run(
    package: MutablePackage, mutant: Mutant | None, trial: Trial, runner: Runner, cases: int | None
) -> Catch | None:
    with tempfile.TemporaryDirectory(prefix="stackproof-") as name:
        folder = Path(name)
        package.write(folder, {} if mutant is None else {mutant.file: package.mutated(mutant)})
        try:
            with closing(runner.answers(folder, cases)) as answers:
                for number, frame in answers:
                    if catch := _catch(number, frame, trial):
                        return catch
        except NotLoaded as error:
            return Catch(by="load", cases=0, case=None, difference=None, detail=str(error))
    return None


def _catch(number: int, frame: bytes, trial: Trial) -> Catch | None:
    case = trial.cases[number]
    if not is_outcome(trial.expected[number]):
        # The original gave no outcome to compare with.
        return None
    ours = decode_frame(frame, case.id, trial.names)
    theirs = decode_frame(trial.expected[number], case.id, trial.names)
    for difference in differences(theirs, ours, messages=trial.messages):
        by: CaughtBy = "difference"
        if ours.failure is not None:
            if ours.failure.kind == "unanswered":
                # A question that no case answers is a gap in our answers, and shows no difference.
                continue
            by = ours.failure.kind
        if trial.explained(difference, case, theirs, ours):
            continue
        return Catch(by=by, cases=number, case=case.id, difference=difference, detail=in_words(difference))
    return None


def in_words(difference: Difference) -> str:
    """Return a difference as one line."""
    sides = f"{difference.first!r} -> {difference.second!r}"
    if difference.kind == "failure":
        return f"{difference.name}: {difference.second or difference.first}"
    return f"{difference.name or difference.kind}: {sides}"
