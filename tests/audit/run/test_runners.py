"""Both runners on the port: the same results, whoever runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from subject_runner import SubjectRunner

import legacy
from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.forks import ForkRunner
from harness.audit.run.judge import Result, check_original, judge
from harness.audit.run.trial import Trial, frame_of
from harness.subjects.open import open_spec, open_subject
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case
from harness.world.model import Model
from harness.world.profiles import hardware_names, hardware_profile

NAMES = (*legacy.FIELDS, *legacy.STATE)
CASES = [
    Case(
        id=f"{machine} {architecture} {backend}",
        args={} if backend is None else {"attention_backend": backend},
        hardware=hardware_profile(machine),
        model=Model(architectures=(architecture,)),
    )
    for machine in hardware_names()
    for architecture in ("LlamaForCausalLM", "Gemma2ForCausalLM", "GptOssForCausalLM")
    for backend in (None, "fa3", "fa4")
]


@pytest.fixture(scope="module")
def port() -> MutablePackage:
    return MutablePackage(Path(legacy.__file__).parent)


@pytest.fixture(scope="module")
def spec() -> SubjectSpec:
    return open_spec("legacy", answers=None, python=sys.executable, case_seconds=10, memory_mib=2048)


@pytest.fixture(scope="module")
def trial(spec: SubjectSpec) -> Trial:
    with open_subject(spec) as subject:
        subject.choose(NAMES)
        return Trial(CASES, subject.resolve(CASES), NAMES)


@pytest.fixture(scope="module", params=["forks", "subjects"])
def runner(request: pytest.FixtureRequest, spec: SubjectSpec, trial: Trial) -> Iterator[ForkRunner | SubjectRunner]:
    made = ForkRunner("legacy", trial) if request.param == "forks" else SubjectRunner(spec, trial)
    yield made
    made.close()


def how(result: Result) -> tuple[str, str | None, str] | None:
    return result.catch and (result.catch.by, result.catch.case, result.catch.detail.rpartition(": ")[2])


def find(port: MutablePackage, file: str, operator: str, before: str, after: str) -> Mutant:
    (found, *_) = [
        mutant
        for mutant in port.mutants(files=[file], operators=[operator])
        if (mutant.before, mutant.after) == (before, after)
    ]
    return found


def test_the_port_agrees_with_itself(port: MutablePackage, trial: Trial, runner: ForkRunner | SubjectRunner) -> None:
    check_original(port, trial, runner)


def test_faults_are_caught_alike(port: MutablePackage, trial: Trial, runner: ForkRunner | SubjectRunner) -> None:
    def judged(*which: str) -> tuple[str, str | None, str] | None:
        return how(judge(port, find(port, *which), trial, runner))

    dropped = judged("legacy/handlers/model_specific.py", "dropped_calls", "self._adjust_gemma()", "pass")
    assert dropped is not None and dropped[0] == "difference"
    assert dropped[2] == "True -> False"
    raised = judged("legacy/record/record.py", "constants", "64", "65")
    assert raised is None
    mutant = find(port, "legacy/slots.py", "constants", "0", "1")
    broken = Mutant(**{**{name: getattr(mutant, name) for name in mutant.__struct_fields__}, "after": "nothing"})
    caught = judge(port, broken, trial, runner).catch
    assert caught is not None and caught.by == "load"
    assert "name 'nothing' is not defined" in caught.detail


def test_a_fork_frames_an_outcome_as_the_subject_does(trial: Trial) -> None:
    assert [frame_of(legacy.resolve(case), NAMES) for case in CASES] == list(trial.expected)
