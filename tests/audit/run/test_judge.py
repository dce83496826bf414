"""What a trial catches, and by what."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from subject_runner import agreement_key

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.forks import ForkRunner
from harness.audit.run.judge import Result, check_original, judge
from harness.audit.run.runner import RunLimits
from harness.audit.run.trial import Trial, frame_of
from harness.common.errors import UsageError
from harness.engine.difference.compare import Difference
from harness.subjects.wire import decode_frame
from harness.world.case import Case, Failure, Outcome, Refusal

Fault = Callable[[str, str], Mutant]


@pytest.fixture
def runner(trial: Trial) -> Iterator[ForkRunner]:
    with ForkRunner("toy", trial, RunLimits(case_seconds=0.5, load_seconds=1.0, memory_mib=1024)) as runner:
        yield runner


def test_an_unmutated_copy_passes(toy: MutablePackage, trial: Trial, runner: ForkRunner) -> None:
    check_original(toy, trial, runner)


def test_faults_are_caught_and_named(toy: MutablePackage, trial: Trial, runner: ForkRunner, fault: Fault) -> None:
    def caught(before: str, after: str) -> Result:
        return judge(toy, fault(before, after), trial, runner)

    def how(before: str, after: str) -> tuple[str, str | None, int]:
        catch = caught(before, after).catch
        assert catch is not None
        return catch.by, catch.case, catch.cases

    assert how("LIMIT = 7", "LIMIT = 8") == ("difference", "case-8", 10)
    assert how("size < 0", "size < 1") == ("difference", "case-0", 2)
    assert how('"ValueError"', '"TypeError"') == ("difference", "case--2", 0)
    # In time and after it: the cases before it agreed.
    assert how("size = LIMIT", "while True: pass") == ("timeout", "case-8", 10)
    assert how("size = LIMIT", "import os; os.kill(os.getpid(), 9)") == ("killed", "case-8", 10)
    assert how("size = LIMIT", "import os; os._exit(3)") == ("killed", "case-8", 10)
    assert how("size = LIMIT", "raise SystemExit(3)") == ("broken", "case-8", 10)
    assert how("size = LIMIT", "size = object()") == ("difference", "case-8", 10)
    assert how("size = LIMIT", "return None") == ("broken", "case-8", 10)
    assert how("size = LIMIT", "size = bytearray(1 << 32)") == ("memory", "case-8", 10)
    # What a fault starts does not outlive it, nor hold it up.
    forks = "import os\n        if not os.fork():\n            while True: pass"
    assert how("size = LIMIT", forks) == ("difference", "case-8", 10)
    for broken in ("LIMIT = no", "import none", "raise SystemExit", "import os; os._exit(0)", "while True: pass"):
        assert how("LIMIT = 7", broken) == ("load", None, 0)
    # Types are kept apart.
    assert how("LIMIT = 7", "LIMIT = 7.0") == ("difference", "case-8", 10)


def test_details_say_what_happened(toy: MutablePackage, trial: Trial, runner: ForkRunner, fault: Fault) -> None:
    def detail(before: str, after: str) -> str:
        catch = judge(toy, fault(before, after), trial, runner).catch
        assert catch is not None
        return catch.detail

    assert detail("LIMIT = 7", "LIMIT = 8") == "size: 7 -> 8"
    assert detail("size = LIMIT", "import os; os.abort()") == "outcome / killed: it was ended by SIGABRT"
    assert detail("size = LIMIT", "while True: pass") == "outcome / timeout: it did not end within 0.5 seconds"
    assert detail("LIMIT = 7", "LIMIT = no") == "NameError: name 'no' is not defined"


def test_a_fault_that_changes_nothing_survives(
    toy: MutablePackage, trial: Trial, runner: ForkRunner, fault: Fault
) -> None:
    result = judge(toy, fault("size > LIMIT", "size >= LIMIT"), trial, runner)
    assert result.catch is None
    assert result.cases == 22


def test_explained_differences_are_passed_over(toy: MutablePackage, trial: Trial, fault: Fault) -> None:
    def explained(difference: Difference, case: Case, original: Outcome, ours: Outcome) -> bool:
        return difference.name == "size" and case.args["size"] < 12

    forgiving = Trial(
        trial.cases,
        trial.expected,
        trial.names,
        messages=False,
        explained=explained,
    )
    with ForkRunner("toy", forgiving) as runner:
        catch = judge(toy, fault("LIMIT = 7", "LIMIT = 8"), forgiving, runner).catch
    assert catch is not None and catch.case == "case-12"


def test_a_case_without_an_original_outcome_shows_nothing(toy: MutablePackage, fault: Fault) -> None:
    cases = [Case(id="one", args={"size": 9})]
    gone = Outcome(id="one", fields=None, error=None, env={}, failure=Failure("unanswered", "who knows"))
    trial = Trial(cases, [frame_of(gone, ())], ("size",))
    with ForkRunner("toy", trial) as runner:
        assert judge(toy, fault("LIMIT = 7", "LIMIT = 8"), trial, runner).catch is None


def test_a_package_that_differs_without_a_fault_is_no_subject(toy: MutablePackage, trial: Trial) -> None:
    worded = Trial(trial.cases, trial.expected, trial.names, messages=True)
    with ForkRunner("toy", worded) as runner, pytest.raises(UsageError, match=r"without a fault in case case--2"):
        check_original(toy, worded, runner)


def test_frames_are_those_that_the_wire_reads() -> None:
    names = ("a", "b")
    refused = Outcome(id="x", fields=None, error=Refusal("ValueError", 'a ",\n', "f"), env={"B": None, "A": "1"})
    failed = Outcome(id="x", fields=None, error=None, env={}, failure=Failure("killed", "why"))
    for outcome in (Outcome(id="x", fields={"b": 1, "a": [True]}, error=None, env={"A": "1"}), refused, failed):
        assert decode_frame(frame_of(outcome, names), "x", names) == outcome
    other = Outcome(id="x", fields=None, error=Refusal("ValueError", "b", "g"), env={})
    assert agreement_key(frame_of(refused, names), False) == agreement_key(frame_of(other, names), False)
    assert agreement_key(frame_of(refused, names), True) != agreement_key(frame_of(other, names), True)


def test_a_trial_has_an_outcome_a_case() -> None:
    with pytest.raises(ValueError, match="1 cases have 0 outcomes"):
        Trial([Case(id="one")], [], ())
