"""The order of steps, what they may declare, effects, and what a resolution keeps."""

from __future__ import annotations

from typing import Any

import pytest
from engine_records import Facts, Record, Run

from declarative.engine import (
    DISPATCH,
    DeclarationError,
    Pass,
    Pipeline,
    Registry,
    Resolution,
    Slot,
    check,
    declare_before_resolution,
    post_process,
    provider,
)


@post_process(writes=("page_size",))
def default_page(view: Any) -> dict[str, Any]:
    return {"page_size": 1} if view.page_size is None else {}


@post_process(writes=("page_size",))
def doubled(view: Any) -> dict[str, Any]:
    return {"page_size": view.page_size * 2}


@post_process(writes=("dtype",), state=("radix", "graphs.decode.backend"), env=("A_VARIABLE",))
def effects(view: Any) -> dict[str, Any]:
    return {"A_VARIABLE": True, "dtype": "half", "radix": False, "graphs.decode.backend": "off"}


@check()
def refuse(view: Any) -> None:
    raise ValueError(f"page size {view.page_size}")


def returning(value: Any, **channels: tuple[str, ...]) -> Pass:
    def returns(view: Any) -> Any:
        return value

    return post_process(**channels)(returns)  # type: ignore[arg-type]


def test_a_pass_reads_what_earlier_ones_declared() -> None:
    run = Run(default_page, doubled)()
    assert run.resolution.declarations == [("default_page", {"page_size": 1}), ("doubled", {"page_size": 2})]
    assert run.record == Record()
    run.resolution.materialize()
    assert run.record == Record(page_size=2)
    assert run.resolution.pristine["page_size"] is None


def test_effects_are_applied_once_and_seen_by_later_passes() -> None:
    seen = []

    @post_process(writes=("page_size",))
    def reader(view: Any) -> dict[str, Any]:
        seen.append((view.radix, view.graphs.decode.backend, view.dtype, dict(run.environment)))
        return {}

    run = Run(effects, reader)
    run()
    assert seen == [(False, "off", "half", {"A_VARIABLE": "True"})]
    assert run.resolution.declarations == [("effects", {"dtype": "half"})]
    assert run.resolution.effects == [
        ("effects", {"A_VARIABLE": True, "radix": False, "graphs.decode.backend": "off"})
    ]
    assert run.record.graphs.decode.backend == "full"
    run.resolution.materialize()
    assert (run.record.radix, run.record.graphs.decode.backend, run.record.dtype) == (False, "off", "half")
    assert set(vars(run.record)) == set(vars(Record())) | {"states", "_resolved"}


def test_a_refusal_keeps_what_was_declared_and_done_before_it() -> None:
    run = Run(default_page, effects, refuse, doubled)
    with pytest.raises(ValueError, match="page size 1"):
        run()
    assert [source for source, _ in run.resolution.declarations] == ["default_page", "effects"]
    assert run.environment == {"A_VARIABLE": "True"}
    assert run.record == Record()


@pytest.mark.parametrize("value", [[], 0, "", 3, "page_size", ["page_size"]])
def test_something_that_is_no_dict_fails_at_once(value: object) -> None:
    with pytest.raises(DeclarationError, match="returns must return a dict or None"):
        Run(returning(value, writes=("page_size",)))()


def test_another_field_than_listed_fails_at_once_and_leaves_nothing() -> None:
    run = Run(returning({"page_size": 3, "dtype": "half"}, writes=("page_size",)))
    with pytest.raises(DeclarationError, match="returns declares 'dtype'"):
        run()
    assert run.resolution.declarations == []


@pytest.mark.parametrize(
    ("channels", "words"),
    [
        ({"writes": ("tp_size",)}, "returns writes 'tp_size'"),
        ({"writes": ("page_sise",)}, r"returns writes 'page_sise' \(did you mean 'page_size'\?\)"),
        ({"state": ("page_size",)}, "returns state 'page_size'"),
        ({"state": ("tp_size",)}, "returns state 'tp_size'"),
    ],
)
def test_a_step_cannot_list_what_is_not_there(channels: dict[str, tuple[str, ...]], words: str) -> None:
    with pytest.raises(DeclarationError, match=words):
        Run(returning({}, **channels))


def test_a_provider_off_the_whitelist_is_named() -> None:
    @provider(writes=("tp_size",))
    def wide(arguments: Any, model: Any) -> dict[str, Any]:
        return {}

    with pytest.raises(DeclarationError, match="wide writes 'tp_size'"):
        Run(DISPATCH, registry=Registry(exact=(("A", wide),)))
    with pytest.raises(DeclarationError, match=r"MODEL_OVERRIDES\['A'\] writes 'tp_size'"):
        Run(DISPATCH, registry=Registry(constants={"A": {"tp_size": 1}}))


def test_a_step_stands_once() -> None:
    with pytest.raises(DeclarationError, match="doubled is listed twice"):
        Run(doubled, default_page, doubled)


def test_providers_run_at_one_place() -> None:
    registry = Registry(constants={"A": {"dtype": "half"}})
    with pytest.raises(DeclarationError, match="name 0"):
        Run(default_page, registry=registry)
    with pytest.raises(DeclarationError, match="name 2"):
        Run(DISPATCH, DISPATCH, registry=registry)


def test_slots_are_in_the_order_of_their_numbers() -> None:
    with pytest.raises(DeclarationError, match=r"not in the order of their numbers: \[2, 1\]"):
        Pipeline((Slot(2, "b", ()), Slot(1, "a", ())), record=Record)


def test_a_condition_on_the_facts_leaves_a_pass_out() -> None:
    @post_process(writes=("page_size",), when=lambda facts: facts.device == "npu")
    def on_npu(view: Any) -> dict[str, Any]:
        return {"page_size": 128}

    assert Run(on_npu)().resolution.declarations == []
    assert Run(on_npu, facts=Facts(device="npu"))().resolution.declarations == [("on_npu", {"page_size": 128})]


def test_the_order_is_that_of_the_slots_and_not_of_definition() -> None:
    # `default_page` is defined before `doubled`: listed the other way round, it runs the other way round.
    with pytest.raises(TypeError):
        Run(doubled, default_page)()
    swapped = Run(doubled, default_page, record=Record(page_size=3))()
    assert [source for source, _ in swapped.resolution.declarations] == ["doubled"]


def test_what_a_launcher_declared_survives_and_lies_under_the_passes() -> None:
    record = Record()
    declare_before_resolution(record, "launcher", {"page_size": 16, "dtype": "half"})
    declare_before_resolution(record, "plug-in", {"attention_backend": "mine"})
    run = Run(default_page, doubled, record=record)()
    assert run.resolution.declarations == [
        ("launcher", {"page_size": 16, "dtype": "half"}),
        ("plug-in", {"attention_backend": "mine"}),
        ("doubled", {"page_size": 32}),
    ]
    run.resolution.materialize()
    assert (record.page_size, record.dtype, record.attention_backend) == (32, "half", "mine")


def test_a_launcher_cannot_declare_off_the_whitelist() -> None:
    record = Record()
    with pytest.raises(DeclarationError, match="launcher declares 'tp_size'"):
        declare_before_resolution(record, "launcher", {"page_size": 1, "tp_size": 2})
    assert Run(record=record)().resolution.declarations == []


def test_values_are_written_once() -> None:
    run = Run(default_page)()
    run.resolution.materialize()
    with pytest.raises(DeclarationError, match="each once"):
        run.resolution.materialize()
    with pytest.raises(DeclarationError, match="each once"):
        Resolution(Record()).materialize()


def test_arguments_are_resolved_once() -> None:
    run = Run(default_page)()
    with pytest.raises(DeclarationError, match="ran over this resolution before"):
        run()
    run.resolution.materialize()
    with pytest.raises(DeclarationError, match="were resolved before"):
        Resolution(run.record)


def test_recording_resolves_the_same_and_reports_each_step() -> None:
    reads = []
    run = Run(default_page, effects, doubled)
    run.pipeline.record(
        run.resolution, "m", Facts(), run.environment.__setitem__, lambda step, seen: reads.append((step.name, seen))
    )
    assert reads == [
        ("default_page", {"page_size"}),
        ("effects", frozenset()),
        ("doubled", {"page_size"}),
    ]
    assert run.resolution.log == Run(default_page, effects, doubled)().resolution.log


def test_a_resolution_leaves_no_cycle_behind() -> None:
    # A cycle in each would make the collector's work of millions of cases.
    import gc

    def once() -> None:
        run.resolution = Resolution(Record())
        run()
        run.resolution.materialize()

    run = Run(default_page, effects)
    once()
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            once()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_record_with_a_field_called_model_is_refused() -> None:
    from dataclasses import dataclass

    @dataclass
    class Other:
        model: str = ""

    with pytest.raises(DeclarationError, match="has a field 'model'"):
        Pipeline((), record=Other)
