"""Which providers an architecture has, and in which order."""

from __future__ import annotations

from typing import Any

import pytest
from engine_records import Facts, Record, Run

from declarative.engine import DISPATCH, DeclarationError, Registry, provider


@provider(writes=("dtype",))
def _first(arguments: Any, model: Any) -> dict[str, Any]:
    return {"dtype": "first"}


@provider(writes=("dtype", "page_size"))
def _second(arguments: Any, model: Any) -> dict[str, Any]:
    return {"dtype": "second", "page_size": arguments.tp_size}


@provider(writes=("dtype",))
def _named(arguments: Any, model: Any) -> dict[str, Any]:
    return {"dtype": "by name"}


REGISTRY = Registry(
    constants={"A": {"dtype": "constant"}, "C": {"page_size": 7}},
    exact=(("A", _first), (("A", "B"), _second)),
    predicates=((lambda name: "B" in name, _named),),
)


def names(architecture: str | None) -> list[str]:
    return [listed.name for listed in REGISTRY.providers(architecture)]


def test_constants_come_first_then_exact_names_then_predicates() -> None:
    assert names("A") == ["MODEL_OVERRIDES['A']", "_first", "_second"]
    assert names("B") == ["_second", "_named"]
    assert names("MyBModel") == ["_named"]
    assert names("C") == ["MODEL_OVERRIDES['C']"]
    assert names("D") == names(None) == []


def test_each_provider_is_listed_once() -> None:
    assert [listed.name for listed in REGISTRY] == [
        "MODEL_OVERRIDES['A']",
        "MODEL_OVERRIDES['C']",
        "_first",
        "_second",
        "_named",
    ]


def test_the_last_provider_wins_and_sees_pristine_arguments() -> None:
    run = Run(DISPATCH, record=Record(tp_size=4), registry=REGISTRY, facts=Facts("A"))()
    assert run.resolution.declarations == [
        ("MODEL_OVERRIDES['A']", {"dtype": "constant"}),
        ("_first", {"dtype": "first"}),
        ("_second", {"dtype": "second", "page_size": 4}),
    ]
    run.resolution.materialize()
    assert (run.record.dtype, run.record.page_size) == ("second", 4)


def test_a_constant_declaration_is_not_shared() -> None:
    table = {"A": {"dtype": "constant"}}
    registry = Registry(constants=table)
    registry.providers("A")[0](None, None)["dtype"] = "changed"
    assert table == {"A": {"dtype": "constant"}}
    assert registry.providers("A")[0](None, None) == {"dtype": "constant"}


def test_a_provider_stands_once_for_a_name() -> None:
    with pytest.raises(DeclarationError, match="_first is registered twice for A"):
        Registry(exact=(("A", _first), (("B", "A"), _first)))


def test_a_provider_cannot_write_what_it_gets() -> None:
    @provider(writes=("dtype",))
    def writing(arguments: Any, model: Any) -> dict[str, Any]:
        arguments.dtype = "half"
        return {}

    @provider(writes=("dtype",))
    def reaching_in(arguments: Any, model: Any) -> dict[str, Any]:
        arguments.graphs.decode.backend = "off"
        return {}

    for reckless in (writing, reaching_in):
        run = Run(DISPATCH, registry=Registry(exact=(("Plain", reckless),)))
        with pytest.raises(AttributeError, match="is read-only"):
            run()
        assert run.record == Record()
