"""Whole campaigns on small made-up trees: verdicts, witnesses, determinism, and what must not end a run."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up_trees import make_tree

from harness.common.errors import UsageError
from harness.engine.campaign import Budget, Request, run_campaign, run_given
from harness.engine.difference.minimise import removals
from harness.engine.ledger.entries import Ledger, load_ledger
from harness.engine.result.events import BucketFound, Event, Finished, Minimising, Progressed, Started
from harness.engine.search.pair import Pair
from harness.engine.search.worker import Worker
from harness.report.ci.sarif import sarif
from harness.report.html.page import html
from harness.report.result.document import document
from harness.subjects.profile import load_profile
from harness.subjects.spec import Limits, SubjectSpec
from harness.world.case import Case
from harness.world.hardware import Hardware

pytestmark = pytest.mark.slow

SAME = "self.sampling_backend = 'flashinfer' if is_cuda() else 'pytorch'"


def spec(root: Path, *, slice: bool = True, limits: Limits | None = None, **tree: Any) -> SubjectSpec:
    root.mkdir(exist_ok=True)
    made = make_tree(root, **tree)
    return SubjectSpec(made, slice, load_profile(), limits=limits or Limits(memory_mib=512, case_seconds=2.0))


def run(
    first: SubjectSpec,
    second: SubjectSpec,
    *,
    cases: int | None = 600,
    seconds: float | None = None,
    jobs: int = 1,
    seed: int = 1,
    fields: tuple[str, ...] = (),
    ledger: Ledger | None = None,
    listener: Callable[[Event], None] = lambda event: None,
) -> Finished:
    request = Request(
        first,
        second,
        fields=fields,
        budget=Budget(cases, seconds),
        ledger=ledger or Ledger(),
        seed=seed,
        jobs=jobs,
    )
    return run_campaign(request, listener)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[SubjectSpec, SubjectSpec]:
    """Two trees that differ where the sampling backend is chosen for several ranks on CUDA."""
    return (
        spec(tmp_path / "a"),
        spec(
            tmp_path / "b",
            sampling="""
                self.sampling_backend = 'flashinfer' if is_cuda() else 'pytorch'
                if self.tp_size > 1 and is_cuda():
                    self.sampling_backend = 'other'
            """,
        ),
    )


def test_a_tree_is_equivalent_to_itself(tmp_path: Path) -> None:
    result = run(spec(tmp_path / "a"), spec(tmp_path / "a"))
    assert (result.verdict, result.counts.cases, result.buckets) == ("equivalent", 600, ())
    assert result.counts.resolved and result.counts.refused


def test_a_difference_is_found_and_minimal(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    result = run(*pair)
    assert result.verdict == "different"
    (bucket,) = result.buckets
    assert (bucket.difference.name, bucket.difference.first, bucket.difference.second) == (
        "sampling_backend",
        "flashinfer",
        "other",
    )
    assert set(removals(bucket.witness)) == {"args.tp_size", "hardware.platform"}
    assert bucket.witness.args == {"tp_size": 2}
    assert result.counts.different == bucket.count
    assert "other" in result.explanations[0]


def test_given_cases_are_compared_as_they_are(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    cuda = Hardware(platform="cuda", capability=(9, 0), cuda_version="12.9", host="arm64")
    cases = [Case(id=f"c-{ranks}", args={"tp_size": ranks}, hardware=cuda) for ranks in (1, 4, 2)] * 100
    result = run_given(Request(*pair), cases)
    assert (result.verdict, result.counts.resolved, result.counts.different) == ("different", 100, 200)
    (bucket,) = result.buckets
    assert bucket.witness == cases[2], "the smallest, and no attribute is taken out"
    assert result.traces[0].chains[1][-1].value == "other"
    same = run_given(Request(pair[0], pair[0]), cases[:3])
    assert same.verdict == "equivalent"


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_number_of_jobs_changes_nothing(pair: tuple[SubjectSpec, SubjectSpec], jobs: int) -> None:
    several, one = run(*pair, jobs=jobs), run(*pair, jobs=1)
    for report in (document, html, sarif):
        assert report(several) == report(one)


def test_the_seed_does(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    first, second = (run(*pair, seed=seed).buckets[0].count for seed in (1, 2))
    assert first != second


def test_only_named_fields_are_compared(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    result = run(*pair, fields=("page_size",))
    assert result.verdict == "equivalent"
    assert result.started.compared == ("page_size",)


def test_an_unknown_field_is_told_with_its_neighbour(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    with pytest.raises(UsageError, match=r"page_sizes.*did you mean 'page_size'"):
        run(*pair, fields=("page_sizes",))


def test_a_field_that_one_side_lacks_is_absent(tmp_path: Path) -> None:
    first, second = spec(tmp_path / "a"), spec(tmp_path / "b")
    file = tmp_path / "b/sglang/srt/server_args.py"
    file.write_text(file.read_text().replace("    page_size: object = None\n", "").replace("page_size", "other"))
    result = run(first, second)
    assert result.started.absent == {"page_size": "made-up"}
    assert "page_size" not in result.started.compared


def test_different_checks_are_a_difference(tmp_path: Path) -> None:
    first, second = spec(tmp_path / "a"), spec(tmp_path / "b")
    file = tmp_path / "b/sglang/srt/server_args.py"
    file.write_text(file.read_text().replace("too few ranks", "no ranks"))
    result = run(first, second, cases=2000)
    (bucket,) = result.buckets
    assert bucket.difference.kind == "refusals"
    assert set(bucket.witness.args) == {"tp_size"}


def test_a_missing_answer_makes_it_inconclusive(tmp_path: Path) -> None:
    body = "import torch; return torch.cuda.is_new()"
    first, second = spec(tmp_path / "a", body=body), spec(tmp_path / "b", body=body)
    result = run(first, second)
    assert result.verdict == "inconclusive"
    assert result.counts.failed
    assert "torch.cuda.is_new was called" in str(result.buckets[0].difference.first)


def test_no_case_that_resolves_is_inconclusive(tmp_path: Path) -> None:
    refusing = spec(tmp_path / "a", sampling="raise ValueError('never')")
    result = run(refusing, refusing)
    assert result.verdict == "inconclusive"
    assert result.counts.resolved == 0


def test_a_death_on_one_side_is_a_difference_and_no_end(tmp_path: Path) -> None:
    result = run(spec(tmp_path / "a"), spec(tmp_path / "b", body="os.abort()"), cases=60)
    assert result.verdict == "different"
    assert result.counts.cases == 60
    (bucket,) = result.buckets
    assert bucket.difference.name == "outcome / killed"
    assert bucket.witness.args["attention_backend"] == "bad"


def test_a_death_on_both_sides_is_inconclusive(tmp_path: Path) -> None:
    result = run(spec(tmp_path / "a", body="os.abort()"), spec(tmp_path / "b", body="os.abort()"), cases=30)
    assert result.verdict == "inconclusive"


def test_a_tree_that_cannot_be_imported_is_the_users_error(tmp_path: Path) -> None:
    for jobs in (1, 2):
        with pytest.raises(UsageError, match=r"importing the tree failed.*no such luck"):
            run(spec(tmp_path / "a"), spec(tmp_path / "b", top="raise ImportError('no such luck')"), jobs=jobs)


def test_a_budget_in_seconds_ends(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    result = run(*pair, cases=None, seconds=0.3)
    assert result.counts.cases and result.counts.cases % 250 == 0


def test_a_stopped_campaign_keeps_what_it_found(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    seen: list[Event] = []

    def listener(event: Event) -> None:
        seen.append(event)
        if isinstance(event, Progressed):
            raise KeyboardInterrupt

    for jobs in (1, 2):
        result = run(*pair, cases=10_000, jobs=jobs, listener=listener)
        assert result.interrupted
        assert 0 < result.counts.cases < 10_000
        assert result.verdict == "different"
        assert result.buckets and seen[-1] is result


def test_a_second_ctrl_c_loses_nothing(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    def listener(event: Event) -> None:
        if isinstance(event, (Progressed, Minimising)):
            raise KeyboardInterrupt

    for jobs in (1, 2):
        result = run(*pair, cases=10_000, jobs=jobs, listener=listener)
        assert result.interrupted
        assert result.verdict == "different" and result.buckets


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("where", ["listening", "closing"])
def test_a_ctrl_c_at_any_moment_loses_nothing(
    pair: tuple[SubjectSpec, SubjectSpec], monkeypatch: pytest.MonkeyPatch, jobs: int, where: str
) -> None:
    pressed, seen = 0, list[Event]()

    def press() -> None:
        nonlocal pressed
        pressed += 1
        os.kill(os.getpid(), signal.SIGINT)

    def listener(event: Event) -> None:
        seen.append(event)
        # Until the subjects are loaded there is nothing to lose.
        if not isinstance(event, Started) and (where == "listening" or not pressed):
            press()

    def closing(close: Callable[[Any], None]) -> Callable[[Any], None]:
        def closed(self: Any) -> None:
            if where == "closing" and pressed and not isinstance(seen[-1], Finished):
                press()
            close(self)

        return closed

    for owner in (Pair, Worker):
        monkeypatch.setattr(owner, "close", closing(owner.close))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = run(*pair, cases=5_000, jobs=jobs, listener=listener)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed > 1
    assert result.interrupted and 0 < result.counts.cases < 5_000
    assert result.verdict == "different" and result.buckets
    assert seen[-1] is result


def test_a_ctrl_c_that_came_too_late_stops_nothing_later(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    def listener(event: Event) -> None:
        if isinstance(event, Finished):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert not run(*pair, cases=20, listener=listener).interrupted
        assert not run_given(Request(*pair), [Case(id="one")]).interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def test_integers_of_any_size_pass_between_jobs(tmp_path: Path) -> None:
    trees = [
        spec(tmp_path / name, sampling=f"self.sampling_backend = 2**{power}")
        for name, power in (("a", 70), ("b", 71))
    ]
    for jobs in (1, 2):
        result = run(*trees, jobs=jobs, seed=2**80)
        (bucket,) = result.buckets
        assert bucket.difference.second == 2**71


def test_a_worker_that_dies_is_replaced(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    killed: list[int] = []

    def listener(event: Event) -> None:
        if isinstance(event, Progressed) and not killed:
            worker = _workers()[0]
            killed.append(worker)
            os.kill(worker, signal.SIGKILL)

    result = run(*pair, cases=1500, jobs=2, listener=listener)
    assert killed
    assert document(result) == document(run(*pair, cases=1500))


def _workers() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == os.getpid() and b"harness.engine.search.worker" in command:
            found.append(int(entry.name))
    return found


def test_events_come_in_order(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    seen: list[Event] = []
    result = run(*pair, listener=seen.append)
    assert isinstance(seen[0], Started)
    assert seen[-1] is result
    assert sum(event.counts.cases for event in seen if isinstance(event, Progressed)) == 600
    assert len([event for event in seen if isinstance(event, BucketFound)]) == len(result.buckets)


def test_the_whole_construction_runs_without_slice(tmp_path: Path) -> None:
    result = run(spec(tmp_path / "a", slice=False), spec(tmp_path / "b", slice=False, sampling="pass"))
    assert result.verdict == "different"


NAMES = "dir:a#slice", "dir:b#slice"


@pytest.fixture
def named(pair: tuple[SubjectSpec, SubjectSpec]) -> tuple[SubjectSpec, SubjectSpec]:
    """The same two trees under names that a ledger can hold."""
    first, second = (
        dataclasses.replace(side, tree=dataclasses.replace(side.tree, label=name))
        for side, name in zip(pair, NAMES, strict=True)
    )
    return first, second


def meant(tmp_path: Path, *entries: str) -> Ledger:
    path = tmp_path / "ledger.toml"
    common = f'subjects = {list(NAMES)}\nreason = "meant"\nreference = "here"\n'
    tables = [f"[[difference]]\n{common}{entry}\n" for entry in entries]
    path.write_text('format = "stackproof.ledger/1"\n' + "".join(tables), encoding="utf-8")
    return load_ledger(path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_ledger_explains_passes_and_is_shown_apart(
    named: tuple[SubjectSpec, SubjectSpec], tmp_path: Path, jobs: int
) -> None:
    ledger = meant(tmp_path, 'id = "ranks"\nfields = ["sampling_backend"]', 'id = "old"\nfields = ["page_size"]')
    plain = run(*named)
    result = run(*named, ledger=ledger, jobs=jobs)
    assert result.verdict == "equivalent"
    assert result.buckets == ()
    (bucket,) = result.explained
    assert (bucket.difference.entry, bucket.count) == ("ranks", plain.counts.different)
    assert bucket.witness == plain.buckets[0].witness
    assert (result.counts.explained, result.counts.different) == (bucket.count, 0)
    assert result.stale == ("old",)


def test_a_witness_is_never_minimised_into_what_the_ledger_explains(
    named: tuple[SubjectSpec, SubjectSpec], tmp_path: Path
) -> None:
    ledger = meant(
        tmp_path, 'id = "few"\nfields = ["sampling_backend"]\n[difference.when]\n"args.tp_size" = { below = 8 }'
    )
    result = run(*named, ledger=ledger)
    assert result.verdict == "different"
    (bucket,) = result.buckets
    assert bucket.witness.args["tp_size"] >= 8
    assert result.counts.explained == result.explained[0].count
    assert result.counts.different == bucket.count


def test_an_entry_for_a_field_that_nobody_has_is_the_users_error(
    named: tuple[SubjectSpec, SubjectSpec], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"ledger entry x.*'page_sise'.*did you mean 'page_size'"):
        run(*named, ledger=meant(tmp_path, 'id = "x"\nfields = ["page_sise"]'))


def test_the_names_that_cases_were_made_with_are_told(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    result = run(*pair)
    assert result.drawn.machines <= result.started.drawable.machines
    assert len(result.drawn.machines) > len(result.started.drawable.machines) / 2


def test_a_result_says_how_its_witness_came_about_and_where(pair: tuple[SubjectSpec, SubjectSpec]) -> None:
    result = run(*pair)
    ((trace,), (bucket,)) = result.traces, result.buckets
    lasts = [next(write for write in reversed(chain) if write.field == "sampling_backend") for chain in trace.chains]
    assert [write.value for write in lasts] == [bucket.difference.first, bucket.difference.second]
    texts = [found.line(write.file, write.line) for found, write in zip(result.excerpts, lasts, strict=True)]
    assert "'flashinfer' if is_cuda()" in texts[0]
    assert texts[1].strip() == "self.sampling_backend = 'other'"


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_case_is_in_one_architecture_and_one_machine(pair: tuple[SubjectSpec, SubjectSpec], jobs: int) -> None:
    result = run(*pair, jobs=jobs)
    for groups in (result.breakdown.architectures, result.breakdown.machines):
        assert sum(group.cases for group in groups.values()) == result.counts.cases
        assert sum(group.different.get("sampling_backend", 0) for group in groups.values()) == result.counts.different


def test_a_check_that_one_side_lacks_is_found_in_its_source(tmp_path: Path) -> None:
    other = spec(tmp_path / "b", sampling=f"{SAME}\nassert not is_cuda(), 'no cuda'")
    result = run(spec(tmp_path / "a"), other)
    (bucket,) = result.buckets
    assert bucket.difference.checks is not None
    lacking, having = bucket.difference.checks
    assert lacking is None and having is not None
    assert "assert not is_cuda()" in result.excerpts[1].line(having.file, having.line)
