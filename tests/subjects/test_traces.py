"""What a child tells of a case that it resolves once more: the decisions it takes, the variables it sets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from made_up_trees import BAD, CPU, case, make_tree, subject_of

from harness.subjects.open import open_spec, open_subject
from harness.subjects.process import ChildFault
from harness.subjects.wire import raised_at
from harness.world.case import Case
from harness.world.chain import Trace, Write
from harness.world.profiles import hardware_profile


def taken(trace: Trace) -> list[tuple[str, str, bool]]:
    return [(decision.text, decision.source, outcome) for decision, outcome in trace.taken]


def test_a_tree_tells_its_decisions_in_order_and_who_set_a_variable(tmp_path: Path) -> None:
    body = "envs.SGLANG_MADE_UP.set('x'); os.environ['NCCL_ALGO'] = 'tree'; del os.environ['NCCL_ALGO']"
    with subject_of(make_tree(tmp_path, body=body)) as subject:
        plain, bad = subject.traces([case("a", CPU), case("b", env={"SGLANG_MADE_UP": "given"}, **BAD)])
        lines = (tmp_path / "sglang/srt/server_args.py").read_text(encoding="utf-8").splitlines()
    assert taken(plain) == [
        ("self.page_size is None", "_handle_page_size", True),
        ("is_cuda()", "_handle_page_size", False),
        ('self.attention_backend == "bad"', "_handle_page_size", False),
        ("self.tp_size < 1", "_handle_sampling_backend", False),
        ("self.sampling_backend is None", "_handle_sampling_backend", True),
        ("is_cuda()", "_handle_sampling_backend", False),
    ]
    assert plain.variables == ()
    assert ('self.attention_backend == "bad"', "_handle_page_size", True) in taken(bad)
    line = next(number for number, text in enumerate(lines, 1) if "SGLANG_MADE_UP" in text)
    place = {"source": "_bad", "file": "sglang/srt/server_args.py", "line": line}
    assert bad.variables == (
        Write(field="SGLANG_MADE_UP", value="x", **place),
        Write(field="NCCL_ALGO", value="tree", **place),
        Write(field="NCCL_ALGO", value=None, **place),
    )


def test_a_trace_counts_nothing_and_changes_nothing(tmp_path: Path) -> None:
    with subject_of(make_tree(tmp_path, body="envs.SGLANG_MADE_UP.set('x')")) as subject:
        before = subject.resolve([case("a", CPU)])
        subject.choose(("page_size",))
        subject.traces([case("a", CPU), case("b", **BAD), case("c", tp_size=0)])
        reach = subject.reach()
        assert (sum(reach.counts), set(reach.seen)) == (0, {0})
        subject.choose(("page_size", "sampling_backend", "cuda_graph_config.decode.backend"))
        assert subject.resolve([case("a", CPU)]) == before
        assert sum(subject.reach().counts) == 2


def test_a_refused_case_tells_what_it_decided_until_then(tmp_path: Path) -> None:
    with subject_of(make_tree(tmp_path)) as subject:
        (trace,) = subject.traces([case("c", tp_size=0)])
    assert taken(trace)[-1] == ("self.tp_size < 1", "_handle_sampling_backend", True)


def test_a_case_that_ends_the_child_tells_nothing(tmp_path: Path) -> None:
    with subject_of(make_tree(tmp_path, body="os._exit(3)")) as subject:
        assert subject.traces([case("a"), case("b", **BAD)]) == [Trace(), Trace()]
        (outcome,) = subject.outcomes([case("a")])
        assert outcome.fields is not None


def test_a_package_tells_its_decisions() -> None:
    spec = open_spec("declarative", answers=None, python=sys.executable, case_seconds=10, memory_mib=1024)
    with open_subject(spec) as subject:
        subject.choose(("page_size",))
        (trace,) = subject.traces([Case(id="c", hardware=hardware_profile("h100"))])
        assert not any(subject.reach().counts)
    assert ("view.page_size is not None", "_page_size_default", False) in taken(trace)
    assert trace.variables == ()


def test_a_refused_case_tells_where_it_was_raised(tmp_path: Path) -> None:
    with subject_of(make_tree(tmp_path)) as subject:
        plain, refused = map(raised_at, subject.resolve([case("a", CPU), case("c", tp_size=0)]))
        lines = (tmp_path / "sglang/srt/server_args.py").read_text(encoding="utf-8").splitlines()
    assert plain is None
    assert refused is not None
    assert (refused.source, refused.file) == ("_handle_sampling_backend", "sglang/srt/server_args.py")
    assert "raise" in lines[refused.line - 1]


def test_what_was_written_is_told_without_resolving_again(tmp_path: Path) -> None:
    cases = [case("a", CPU), case("b"), case("c", tp_size=0)]
    with subject_of(make_tree(tmp_path)) as subject:
        subject.resolve(cases)
        told = subject.chains_of(cases, [2, 1])
        assert told == subject.chains([cases[2], cases[1]])
        assert told[1]
        # Of another process nothing is known: the cases are resolved again.
        subject.close()
        assert subject.chains_of(cases, [2, 1]) == told


# What no parent of ours sends: a case on a machine that the request does not hold.
_WRONG: dict[str, Any] = {"machines": [], "models": [], "cases": [({}, 0, 0, {})]}


@pytest.mark.parametrize("operation", ["chains", "traces"])
@pytest.mark.parametrize("kind", ["tree", "package"])
def test_an_exception_of_our_own_is_no_death_of_the_tree(
    kind: str, operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = open_spec("legacy", answers=None, python=sys.executable, case_seconds=10, memory_mib=1024)
    with subject_of(make_tree(tmp_path)) if kind == "tree" else open_subject(spec) as subject:
        subject.choose(("page_size",))
        told = getattr(subject, operation)([Case(id="a")])
        with monkeypatch.context() as patch:
            patch.setattr(subject, "_packed", lambda cases: _WRONG)
            with pytest.raises(ChildFault, match="IndexError") as caught:
                getattr(subject, operation)([Case(id="a")])
        assert "Traceback" in caught.value.__notes__[0] and "loop.py" in caught.value.__notes__[0]
        assert getattr(subject, operation)([Case(id="a")]) == told


def test_nor_is_one_about_cases_that_were_resolved(tmp_path: Path) -> None:
    with subject_of(make_tree(tmp_path)) as subject:
        subject.resolve([case("a", CPU)])
        with pytest.raises(ChildFault, match="TypeError"):
            subject.chains_of([case("a", CPU)], [[0]])  # type: ignore[list-item]


def test_an_exception_of_the_tree_outside_of_a_case_is_its_death(tmp_path: Path) -> None:
    body = """
    class Odd:
        def __repr__(self):
            raise RuntimeError("odd")
    self.page_size = Odd()
    """
    with subject_of(make_tree(tmp_path, body=body)) as subject:
        cases = [case("a"), case("b", **BAD)]
        outcome = subject.outcomes(cases)[1]
        assert outcome.failure is not None and outcome.failure.kind == "broken"
        assert subject.chains_of(cases, [1]) == [[]]
        assert subject.chains(cases) == [[], []]
