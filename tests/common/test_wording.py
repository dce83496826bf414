from __future__ import annotations

import pytest
from hypothesis import given
from world_strategies import json_values

from harness.common.wording import brief, path_of, suggest


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "null"), (True, "true"), (False, "false"), (1, "1"), ("a", "'a'"), (["a", 1], "['a', 1]")],
)
def test_a_small_value_is_shown_whole(value: object, text: str) -> None:
    assert brief(value) == text


@given(json_values)
def test_any_value_is_one_line(value: object) -> None:
    assert "\n" not in brief(value)


def test_a_large_value_is_short() -> None:
    assert len(brief("x" * 10**6)) <= 60
    assert len(brief({"k" * 999: ["v" * 999] * 999})) <= 120


def test_a_path_quotes_what_is_no_name() -> None:
    assert path_of("args", "tp_size") == "args.tp_size"
    assert path_of("args", "a b") == "args.'a b'"
    assert len(path_of("args", "x" * 10**6)) < 80


def test_a_suggestion_names_something_whenever_it_can() -> None:
    names = ["tp_size", "dp_size", "page_size"]
    assert suggest("tp_sise", names).startswith(" (did you mean 'tp_size'")
    assert suggest("q", names).startswith(" (the nearest names are ")
    assert suggest("q", []) == ""
