"""Whole audits: jobs, what is kept, the longer search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import legacy
from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.audit import Audit, fork_runner
from harness.audit.run.judge import Result
from harness.audit.run.results import Results
from harness.audit.run.runner import Runner
from harness.audit.run.trial import Trial, frame_of
from harness.common.errors import UsageError
from harness.world.case import Case, Outcome

pytestmark = pytest.mark.slow


def timeless(results: list[Result]) -> list[Result]:
    return [msgspec.structs.replace(result, seconds=0.0) for result in results]


def no_runner(package: MutablePackage, trial: Trial) -> Runner:
    raise AssertionError("nothing is left to run")


def test_results_are_the_same_for_any_number_of_jobs(toy: MutablePackage, trial: Trial) -> None:
    mutants = toy.mutants()
    one = Audit(toy).judge(mutants, [trial])
    three = Audit(toy, jobs=3).judge(mutants, [trial])
    assert timeless(one) == timeless(three)
    assert [result.mutant for result in one] == mutants
    survivors = {result.mutant.after for result in one if result.catch is None}
    # At the limit itself, capping changes nothing, and a negative size ends before; texts are not compared.
    assert survivors == {">=", '"ValueError"', '"resolve"'}


def test_an_interrupted_audit_goes_on_where_it_ended(toy: MutablePackage, trial: Trial, tmp_path: Path) -> None:
    mutants, path = toy.mutants(), tmp_path / "results.jsonl"
    seen: list[Result] = []

    def stop(result: Result) -> None:
        seen.append(result)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Audit(toy, jobs=2, results=Results(path), listener=stop).judge(mutants, [trial])
    kept = path.read_bytes()
    assert kept.count(b"\n") == 4
    # A run that was killed leaves half a line.
    path.write_bytes(kept + b'{"trial":"12')

    started: list[str] = []

    def counted(package: MutablePackage, trial: Trial) -> Runner:
        started.append(package.name)
        return fork_runner(package, trial)

    told: list[Result] = []
    whole = Audit(toy, results=Results(path), listener=told.append, make_runner=counted).judge(mutants, [trial])
    assert started == ["toy"]
    assert path.read_bytes().startswith(kept)
    assert path.read_bytes().count(b"\n") == len(mutants)
    assert len(told) == len(mutants)
    assert Audit(toy, results=Results(path), make_runner=no_runner).judge(mutants, [trial]) == whole


def test_kept_results_hold_for_their_trial_alone(
    toy: MutablePackage, trial: Trial, tmp_path: Path, fault: Callable[[str, str], Mutant]
) -> None:
    path = tmp_path / "results.jsonl"
    mutant = fault("LIMIT = 7", "LIMIT = 8")
    (caught,) = Audit(toy, results=Results(path)).judge([mutant], [trial])
    fewer = Trial(trial.cases[:5], trial.expected[:5], trial.names, messages=False)
    (survived,) = Audit(toy, results=Results(path)).judge([mutant], [fewer])
    assert caught.catch is not None and survived.catch is None
    again = Audit(toy, results=Results(path), make_runner=no_runner).judge([mutant], [trial])
    assert again == [caught]
    named = Trial(trial.cases, trial.expected, trial.names, messages=False, rule="another")
    assert named.digest([]) != trial.digest([])
    assert trial.digest([("a", "1")]) != trial.digest([("a", "2")])


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("something\n")
    with pytest.raises(UsageError, match="other:1 is no result of an audit"):
        Results(tmp_path / "other")
    # A line without an end is only cut off where an audit began it.
    (tmp_path / "note").write_text("something")
    with pytest.raises(UsageError, match="note:1 is no result of an audit"):
        Results(tmp_path / "note")
    assert (tmp_path / "note").read_text() == "something"
    (tmp_path / "torn").write_text('{"tri')
    Results(tmp_path / "torn")
    assert (tmp_path / "torn").read_text() == ""
    with pytest.raises(UsageError, match="cannot be read"):
        Results(tmp_path)


def test_survivors_are_searched_longer(
    toy: MutablePackage, trial: Trial, fault: Callable[[str, str], Mutant]
) -> None:
    def of(*sizes: int) -> Trial:
        cases = [Case(id=f"long-{size}", args={"size": size}) for size in sizes]
        made = [Outcome(id=case.id, fields={"size": min(case.args["size"], 7)}, error=None, env={}) for case in cases]
        return Trial(cases, [frame_of(outcome, ("size",)) for outcome in made], ("size",), messages=False)

    rare = fault("size > LIMIT", "size > LIMIT and size != 1000")
    same = fault("size > LIMIT", "size >= LIMIT")
    found = Audit(toy, jobs=2).judge([rare, same], [of(1, 2), of(7, 1000, 3), of(5)])
    assert [result.catch is None for result in found] == [False, True]
    assert [result.cases for result in found] == [5, 6]
    assert found[0].catch is not None and (found[0].catch.case, found[0].catch.cases) == ("long-1000", 3)
    assert Audit(toy).judge([], [of(1)]) == []


def test_a_budget_in_rounds_counts_all_that_came_before(
    toy: MutablePackage, trial: Trial, fault: Callable[[str, str], Mutant], tmp_path: Path
) -> None:
    small = Trial(trial.cases[:5], trial.expected[:5], trial.names, messages=False)
    caught, same = fault("LIMIT = 7", "LIMIT = 8"), fault("size > LIMIT", "size >= LIMIT")
    found = Audit(toy, results=Results(tmp_path / "kept")).judge([same, caught], [small, small, trial, small])
    assert [result.cases for result in found] == [5 + 5 + 22 + 5, 5 + 5 + 22]
    assert found[0].catch is None
    assert found[1].catch is not None and found[1].catch.case == "case-8" and found[1].catch.cases == 5 + 5 + 10
    # No round is made once nothing is left.
    assert Audit(toy).judge([caught], iter([trial, None])) != []  # type: ignore[list-item]
    assert Audit(toy).judge([], [trial]) == []
    kept = Audit(toy, results=Results(tmp_path / "kept"), make_runner=no_runner).judge(
        [same, caught], [small, small, trial, small]
    )
    assert kept == found


def test_a_package_that_differs_by_itself_is_refused(toy: MutablePackage, trial: Trial) -> None:
    worded = Trial(trial.cases, trial.expected, trial.names, messages=True)
    with pytest.raises(UsageError, match="toy differs from its original without a fault"):
        Audit(toy).judge(toy.mutants(), [worded])


def test_the_command_draws_from_all_faults(run) -> None:  # type: ignore[no-untyped-def]
    done = run("audit", "legacy", "legacy", "--mutants", "2", "--cases", "20", "--jobs", "1", "--format", "json")
    assert msgspec.json.decode(done.out)["mutants"] == len(MutablePackage(Path(legacy.__file__).parent).mutants())
