"""The options of a gate: what replaces what, and what a request gets."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.cli.frame.options import GATE_OPTIONS
from harness.common.defaults import DEFAULT_CASES
from harness.engine.options import GateOptions

CONFIGURED = GateOptions(fields=("port",), cases=300, seed=7, jobs=1)


def test_what_is_not_given_stays() -> None:
    none = dict.fromkeys(GATE_OPTIONS)
    assert CONFIGURED.replaced(**{**none, "all_fields": False, "fields": []}) == CONFIGURED


def test_a_seed_of_zero_is_given() -> None:
    assert CONFIGURED.replaced(seed=0).seed == 0


@pytest.mark.parametrize(
    ("given", "cases", "seconds"), [({"seconds": 2.0}, None, 2.0), ({"cases": 5}, 5, None), ({}, 300, None)]
)
def test_cases_and_seconds_replace_one_another(given: dict[str, float], cases: int, seconds: float) -> None:
    replaced = CONFIGURED.replaced(**given)
    assert (replaced.most_cases, replaced.seconds) == (cases, seconds)


def test_fields_and_all_fields_replace_one_another() -> None:
    every = CONFIGURED.replaced(all_fields=True)
    assert (every.fields, every.all_fields) == ((), True)
    one = every.replaced(fields=["host"])
    assert (one.fields, one.all_fields) == (("host",), False)


def test_without_a_budget_there_is_a_usual_number_of_cases() -> None:
    assert GateOptions().most_cases == DEFAULT_CASES


def test_the_command_line_has_every_option_but_domains() -> None:
    names = {field.name for field in dataclasses.fields(GateOptions)}
    assert set(GATE_OPTIONS) == names - {"domains"}


def test_a_request_has_the_options(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("def resolve(port: int = 1):\n    return {'port': port}\n")
    spec = CONFIGURED.spec("python:settings:resolve", tmp_path)
    request = CONFIGURED.request(spec, spec)
    assert (request.fields, request.budget.cases, request.seed, request.jobs) == (("port",), 300, 7, 1)
