"""Read-only views."""

from __future__ import annotations

from typing import Any

import pytest
from engine_records import STATE, Phase, Record
from hypothesis import given
from hypothesis import strategies as st

from declarative.engine import Pipeline, ReadOnly, RecordingView, Resolution, ResolvedView
from declarative.engine.view import with_nested

names = st.sampled_from(["page_size", "attention_backend", "dtype", "tp_size", "radix"])
PIPELINE = Pipeline((), record=Record, state=STATE)


def view_of(record: Record) -> ResolvedView:
    return PIPELINE.view(Resolution(record), "the model")


@given(st.dictionaries(names, st.integers() | st.none()), st.lists(st.dictionaries(names, st.integers())))
def test_a_view_shows_the_last_declaration_over_the_arguments(
    pristine: dict[str, Any], declarations: list[dict[str, Any]]
) -> None:
    values = {**vars(Record()), **pristine}
    before = dict(values)
    shown = dict(values)
    view = ResolvedView(shown)
    for declared in declarations:
        shown.update(declared)
    for name in before:
        expected = next((item[name] for item in reversed(declarations) if name in item), before[name])
        assert getattr(view, name) == expected
    assert values == before


@given(names, st.integers())
def test_a_view_cannot_be_written(name: str, value: int) -> None:
    record = Record()
    view = view_of(record)
    before = getattr(view, name)
    with pytest.raises(AttributeError, match=f"ResolvedView is read-only: declare '{name}'"):
        setattr(view, name, value)
    with pytest.raises(AttributeError, match="cannot be deleted"):
        delattr(view, name)
    with pytest.raises(TypeError):
        vars(view)[name] = value  # type: ignore[index]
    assert getattr(view, name) == before
    assert record == Record()


def test_a_name_that_no_one_has_is_an_attribute_error() -> None:
    view = view_of(Record())
    with pytest.raises(AttributeError, match="page_sise"):
        _ = view.page_sise
    assert getattr(view, "page_sise", 5) == 5


def test_fields_that_init_leaves_out_are_shown() -> None:
    assert view_of(Record()).states is False


def test_nested_objects_are_read_only_and_show_what_was_declared() -> None:
    record = Record()
    resolution = Resolution(record)
    view = PIPELINE.view(resolution, None)
    assert (view.graphs.decode.backend, view.graphs.decode.size, view.graphs.limit) == ("full", None, 8)
    with pytest.raises(AttributeError, match=r"graphs.decode is read-only: declare 'graphs.decode.backend'"):
        view.graphs.decode.backend = "off"
    resolution.nested["graphs.decode.backend"] = "off"
    assert view.graphs.decode.backend == "off"
    assert record.graphs.decode == Phase()


def test_a_recording_view_knows_what_was_read() -> None:
    resolution = Resolution(Record())
    PIPELINE.view(resolution, None)
    seen: set[str] = set()
    objects = frozenset(("graphs", "graphs.decode"))
    view = with_nested(RecordingView, ("graphs",), objects)(resolution.values, seen)
    assert view.page_size is None
    assert view.graphs.decode.backend == "full"
    assert getattr(view, "nothing", None) is None
    assert seen == {"page_size", "graphs.decode.backend"}
    with pytest.raises(AttributeError, match="read-only"):
        view.page_size = 1


def test_any_object_can_be_made_read_only() -> None:
    phase = Phase("off", 4)
    shown: Any = ReadOnly(phase)
    assert (shown.backend, shown.size, getattr(shown, "other", 1)) == ("off", 4, 1)
    with pytest.raises(AttributeError, match="Phase is read-only here: 'size'"):
        shown.size = 5
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del shown.size
    assert phase == Phase("off", 4)
