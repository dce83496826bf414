"""A search that was stopped goes on as if nothing had been, and what it found is run first by the next."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_trees import make_tree

from harness.common.errors import UsageError
from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.result.events import BucketFound, Event, Finished, Progressed, Saved
from harness.engine.store import Store, store
from harness.engine.store.corpus import Corpus, named
from harness.report.result.document import document
from harness.subjects.profile import load_profile
from harness.subjects.spec import Limits, SubjectSpec
from harness.world.case import Case

pytestmark = pytest.mark.slow

RARE = """
    self.sampling_backend = 'flashinfer' if is_cuda() else 'pytorch'
    if self.tp_size > 1 and is_cuda() and self.page_size:
        self.sampling_backend = 'other'
"""


@pytest.fixture
def request_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    """A campaign on two trees that differ in few cases; its checkpoints are saved after every chunk."""
    monkeypatch.setattr(store, "_SECONDS", 0.0)
    specs = []
    for name, tree in (("a", {}), ("b", {"sampling": RARE})):
        (tmp_path / name).mkdir()
        made = make_tree(tmp_path / name, **tree)
        specs.append(SubjectSpec(made, True, load_profile(), limits=Limits(memory_mib=512, case_seconds=2.0)))
    return Request(*specs, budget=Budget(cases=2000), seed=1)


def run(
    request: Request, folder: Path, *, resume: bool = False, listener: Callable[[Event], None] = lambda event: None
) -> Finished:
    opened = Store(folder, resume=resume)
    return run_campaign(replace(request, corpus=opened.cases), listener, opened)


def stopping(after: int) -> Callable[[Event], None]:
    """Return a listener that presses Ctrl-C after so many chunks."""
    chunks = []

    def listener(event: Event) -> None:
        if isinstance(event, Progressed):
            chunks.append(event)
            if len(chunks) == after:
                raise KeyboardInterrupt

    return listener


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stopped_search_goes_on_as_if_nothing_had_been(request_: Request, tmp_path: Path, jobs: int) -> None:
    request = replace(request_, jobs=jobs)
    whole = run_campaign(request, lambda event: None)
    stopped = run(request, tmp_path / "c", listener=stopping(3))
    assert stopped.interrupted and stopped.counts.cases == 750
    assert document(run(request, tmp_path / "c", resume=True)) == document(whole)


def test_a_part_of_a_chunk_is_done_again(request_: Request, tmp_path: Path) -> None:
    run(replace(request_, budget=Budget(cases=600)), tmp_path / "c")
    resumed = run(request_, tmp_path / "c", resume=True)
    assert document(resumed) == document(run_campaign(request_, lambda event: None))


def test_a_search_that_is_done_can_be_made_longer_and_no_shorter(request_: Request, tmp_path: Path) -> None:
    first = run(request_, tmp_path / "c")
    again = run(replace(request_, budget=Budget(cases=500)), tmp_path / "c", resume=True)
    assert document(again) == document(first)


def test_what_differed_is_run_first_by_the_next(request_: Request, tmp_path: Path) -> None:
    found: list[int] = []
    chunks: list[Event] = []

    def listener(event: Event) -> None:
        if isinstance(event, Progressed):
            chunks.append(event)
        elif isinstance(event, BucketFound):
            found.append(len(chunks))

    assert run(request_, tmp_path / "c").verdict == "different"
    assert list((tmp_path / "c" / "failures").iterdir())
    assert run(replace(request_, seed=9, budget=Budget(cases=250)), tmp_path / "c", listener=listener).buckets
    assert found == [0]


def test_a_killed_search_leaves_its_cases_to_the_next(request_: Request, tmp_path: Path) -> None:
    """Saved, and ended without any word: nothing was put into files."""
    saved: list[Event] = []

    class Killed(BaseException):
        pass

    def listener(event: Event) -> None:
        if isinstance(event, Saved):
            saved.append(event)
            if len(saved) == 3:
                raise Killed

    with pytest.raises(Killed):
        run(request_, tmp_path / "c", listener=listener)
    assert not list((tmp_path / "c" / "cases").iterdir())
    kept = Store(tmp_path / "c").cases
    assert kept
    run(request_, tmp_path / "c")
    files = {path.stem for path in (tmp_path / "c" / "cases").iterdir()}
    assert files and len(files) <= len(Store(tmp_path / "c").cases) < 500


def test_another_campaign_does_not_go_on_with_it(request_: Request, tmp_path: Path) -> None:
    run(replace(request_, budget=Budget(cases=250)), tmp_path / "c")
    before = (tmp_path / "c" / "checkpoint.json").read_bytes()
    with pytest.raises(UsageError, match=r"holds a search of .* seed 1"):
        run(replace(request_, seed=2), tmp_path / "c", resume=True)
    assert (tmp_path / "c" / "checkpoint.json").read_bytes() == before


def test_a_folder_whose_sources_changed_does_not_go_on_with_it(request_: Request, tmp_path: Path) -> None:
    """It has the name and the path that it had, and what was compared is of other sources."""
    run(replace(request_, budget=Budget(cases=250)), tmp_path / "c")
    source = request_.first.tree.root / "sglang" / "srt" / "server_args.py"
    text = source.read_text()
    source.write_text(f"{text}# another\n")
    with pytest.raises(UsageError, match=r"holds a search of .* whose sources"):
        run(request_, tmp_path / "c", resume=True)
    source.write_text(text)
    run(request_, tmp_path / "c", resume=True)


def test_other_answers_do_not_go_on_with_it(request_: Request, tmp_path: Path) -> None:
    run(replace(request_, budget=Budget(cases=250)), tmp_path / "c")
    other = replace(request_.second, profile={**request_.second.profile, "answers": {}})
    with pytest.raises(UsageError, match=r"holds a search of"):
        run(replace(request_, second=other), tmp_path / "c", resume=True)


def test_failures_that_did_not_run_are_kept(request_: Request, tmp_path: Path) -> None:
    """They set what these subjects do not take: they are of others that share the corpus."""
    foreign = named(Case(id="1-1", args={"of_another_subject": 1}))
    Corpus(tmp_path / "c").remember([foreign], [])
    run(request_, tmp_path / "c")
    assert foreign in Corpus(tmp_path / "c").cases()


def test_there_must_be_a_search_to_go_on_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no search"):
        Store(tmp_path / "c", resume=True)


def test_a_changed_checkpoint_is_the_users_error(request_: Request, tmp_path: Path) -> None:
    run(request_, tmp_path / "c")
    path = tmp_path / "c" / "checkpoint.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content, indent=1))
    Store(tmp_path / "c", resume=True)
    content["sums"]["counts"] = {}
    for changed in (content, {**content, "seal": ""}):
        path.write_text(json.dumps(changed))
        with pytest.raises(UsageError, match=r"checkpoint\.json: it was changed .*remove it to begin anew"):
            Store(tmp_path / "c", resume=True)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": "stackproof.checkpoint/9"}', '{"format": "stackproof.checkpoint/1"}']
)
def test_a_broken_checkpoint_is_the_users_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "checkpoint.json").write_text(text)
    with pytest.raises(UsageError, match=r"checkpoint\.json.*remove it to begin anew"):
        Store(tmp_path)


def test_the_result_says_that_a_corpus_came_first_and_what_of_it_was_left_out(
    request_: Request, tmp_path: Path
) -> None:
    folder = tmp_path / "corpus"
    assert not any("corpus" in note for note in run(request_, folder).started.notes)
    stored = len(Store(folder).cases)
    assert stored > 1
    Corpus(folder).replace([], [Case(id="x", args={"pagesize": 1}), Case(id="y", args={"pages": 1})])
    first, left = [note for note in run(request_, folder).started.notes if "corpus" in note]
    assert first == f"first came {stored} cases of the corpus: without it the seed gives other cases"
    assert left.startswith("left out of the corpus: ") and left.endswith("; and 1 more")
    assert "page_size" in left
