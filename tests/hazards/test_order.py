"""The order of the passes: derived from what they read and write, tried, written down, and kept."""

from __future__ import annotations

import json
from functools import cache

import pytest
from plants import opened

from declarative.engine import DeclarationError, Pipeline, check_order, constraints_of, exchanged
from declarative.inputs.server_args import ServerArgs
from declarative.inputs.state import STATE
from declarative.order import ORDER
from declarative.pipeline import PASSES, PIPELINE, REGISTRY
from harness.cli import app, guarded
from harness.engine.hazards import Hazards, HazardSearch, StepPair, find_hazards

pytestmark = pytest.mark.slow

CONSTRAINTS = tuple(constraints_of(ORDER))
NAMES = [step.name for _, step in PIPELINE.steps()]


def rebuilt(first: str, second: str) -> Pipeline:
    stages = exchanged(PASSES, REGISTRY, first, second)
    return Pipeline(stages, record=ServerArgs, state=STATE, registry=REGISTRY, order=CONSTRAINTS)


@cache
def found() -> Hazards:
    return find_hazards(HazardSearch(opened("declarative"), cases=600))


def pair(earlier: str, later: str) -> StepPair:
    return next(one for one in found().pairs if (one.earlier.source, one.later.source) == (earlier, later))


def test_the_shipped_order_is_the_written_one() -> None:
    check_order(NAMES, CONSTRAINTS)
    assert len(CONSTRAINTS) > 500


def test_each_pair_of_the_written_order_is_refused_the_other_way() -> None:
    for before, after in {(before, after) for before, after, _ in CONSTRAINTS}:
        with pytest.raises(DeclarationError) as caught:
            rebuilt(before, after)
        fields = {field for one, other, field in CONSTRAINTS if (one, other) == (before, after)}
        said = str(caught.value)
        assert any(said.startswith(f"{before} must come before {after}, for {field}:") for field in fields), said


def test_what_steps_do_is_what_the_written_order_is_about() -> None:
    does = {step.name: {*step.writes, *step.state} for _, step in PIPELINE.steps()}
    for field, groups in ORDER.items():
        listed = [name for group in groups for name in group]
        assert len(listed) == len(set(listed)) == len(set(listed) & set(NAMES))
        assert any(field in does[name] for name in listed), field


def test_every_exchange_that_changes_a_result_is_refused() -> None:
    changed = [one for one in found().pairs if one.changed]
    assert len(changed) > 200
    for one in changed:
        with pytest.raises(DeclarationError):
            rebuilt(one.earlier.source, one.later.source)


def test_pairs_have_the_kinds_of_their_constraints() -> None:
    kinds = {(one.field, one.kind) for one in pair("_npu_defaults", "_page_size_default").constraints}
    assert kinds == {
        ("page_size", "read after write"),
        ("page_size", "write after read"),
        ("page_size", "write after write"),
    }
    fa4 = pair("_attention_backend_default", "_fa4_page_constraint")
    assert ("attention_backend", "read after write") in {(one.field, one.kind) for one in fa4.constraints}
    assert fa4.changed and fa4.first and fa4.changed <= fa4.run == fa4.together


def test_steps_that_never_run_together_are_no_pair() -> None:
    pairs = {(one.earlier.source, one.later.source) for one in found().pairs}
    assert ("_hpu_defaults", "_npu_defaults") not in pairs


def test_check_order_names_both_and_the_field() -> None:
    order = {"page_size": (("a", "b"), ("c",)), "dtype": (("c",), ("d",))}
    constraints = list(constraints_of(order))
    assert constraints == [("a", "c", "page_size"), ("b", "c", "page_size"), ("c", "d", "dtype")]
    check_order(["b", "a", "x", "c", "d"], constraints)
    with pytest.raises(DeclarationError, match=r"^a must come before c, for page_size:"):
        check_order(["c", "b", "a", "d"], constraints)
    with pytest.raises(DeclarationError, match=r"'c' .*for page_size: no step has this name"):
        check_order(["a", "b", "d"], constraints)


def test_two_steps_of_one_place_cannot_be_exchanged() -> None:
    with pytest.raises(DeclarationError, match="are in one place"):
        exchanged(PASSES, REGISTRY, "_exaone_overrides", "_step3p_overrides")
    with pytest.raises(DeclarationError, match=r"there is no step '_page_size_defaults' \(did you mean"):
        exchanged(PASSES, REGISTRY, "_exaone_overrides", "_page_size_defaults")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = guarded(lambda: app(["hazards", *words], standalone_mode=False))
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_prints_fields_then_exchanges(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--cases", "1500", "--field", "sampling_backend")
    assert status == 0
    assert "  _cpu_defaults (03) -> _sampling_backend_default (09): read after write" in out
    assert "exchanged, with another result: " in out
    assert "1500 cases of seed 0" in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--field", "page_sise"), "no step writes it (did you mean 'page_size' or "),
        (("--subject", "legacy"), "legacy has no steps that declare: it lacks steps, recorded_reads, exchanged"),
    ],
)
def test_what_a_user_gets_wrong(words: tuple[str, ...], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "--cases", "10", *words)
    assert (status, out) == (2, "")
    assert part in err


def test_the_document_is_the_same_each_time(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    words = ["hazards", "--cases", "100", "--field", "page_size", "--format", "json"]
    documents = []
    for _ in range(2):
        assert guarded(lambda: app(words, standalone_mode=False)) == 0
        documents.append(capfdbinary.readouterr().out)
    assert documents[0] == documents[1]
    assert json.loads(documents[0])["format"] == "stackproof.hazards/1"
