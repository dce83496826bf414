"""The successor against the port: the same outcome for every case, to the message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from focused import FAMILIES, focused_cases

import declarative
import legacy
from harness.generate.cases import CaseMaker
from harness.generate.domains import domains_of
from harness.subjects.description import Description, Variable
from harness.subjects.profile import load_profile
from harness.world.case import Case, Outcome
from harness.world.environ import EnvBool, EnvField, EnvInt, Envs


def told(outcome: Outcome) -> dict[str, Any]:
    """Return all of an outcome that two implementations have to agree on, types included."""
    error = outcome.error
    return {
        "fields": None if outcome.fields is None else [(n, type(v), v) for n, v in outcome.fields.items()],
        "refusal": None if error is None else (error.type, error.message),
        "env": outcome.env,
    }


def compared(cases: Iterable[Case]) -> tuple[int, int]:
    total = refused = 0
    for case in cases:
        port, successor = legacy.resolve(case), declarative.resolve(case)
        assert told(successor) == told(port), case
        total += 1
        refused += port.error is not None
    return total, refused


def own_cases(seed: int, count: int) -> Iterable[Case]:
    """Yield generated cases over every argument and every variable, without any tree to describe them."""
    kinds: dict[type, str] = {EnvBool: "bool", EnvInt: "int"}
    variables = {
        name: Variable(type=kinds.get(type(variable), "str"), default=variable.default)  # type: ignore[arg-type]
        for name, variable in vars(Envs).items()
        if isinstance(variable, EnvField)
    }
    names = tuple(dict.fromkeys(name for architectures, *_ in FAMILIES.values() for name in architectures))
    fields = declarative.arguments()
    mine = Description(
        fields=fields,
        reads=dict.fromkeys(fields, ()),
        environment=variables,
        architectures=names,
        resolved=declarative.FIELDS,
    )
    profile = load_profile()
    return CaseMaker(domains_of(mine, mine, profile["values"], profile["not_drawn"])).cases(seed, count)


def test_the_arguments_are_the_ports() -> None:
    assert declarative.arguments() == legacy.arguments()


def test_generated_cases_agree() -> None:
    total, refused = compared(own_cases(1, 4_000))
    assert total == 4_000
    assert 500 < refused < 3_500


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_aimed_at_a_family_agree(family: str) -> None:
    total, refused = compared(case for case in focused_cases(2, 250) if case.id.rpartition("-")[0] == family)
    assert total == 250
    assert refused < total


def test_both_write_before_a_refusal_what_the_other_does() -> None:
    # A refusal leaves the environment that was written until then.
    args = {"rl_on_policy_target": "fsdp", "attention_backend": "trtllm_mha"}
    case = Case(id="c", args=args)
    port, successor = legacy.resolve(case), declarative.resolve(case)
    assert port.error is not None and successor.error is not None
    assert (
        successor.env
        == port.env
        == {
            "SGLANG_ENABLE_DETERMINISTIC_INFERENCE": "True",
            "SGLANG_VLM_CACHE_SIZE_MB": "0",
        }
    )
