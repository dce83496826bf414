"""Where two subjects part although no field had: at a decision, or at what set a variable."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.engine.difference.compare import Difference
from harness.engine.difference.diverging import located, needs_trace
from harness.world.chain import Decision, Place, Trace, Write

REFUSAL = Difference(kind="refusal", name="", first=None, second="E: odd")
VARIABLE = Difference(kind="environment", name="NCCL_ALGO", first="(unchanged)", second="tree")


def took(*taken: tuple[str, str, bool], variables: tuple[Write, ...] = ()) -> Trace:
    return Trace(taken=tuple((asked(text, source), outcome) for text, source, outcome in taken), variables=variables)


def asked(text: str, source: str, line: int = 1) -> Decision:
    return Decision(text=text, source=source, file="m.py", line=line)


def at(source: str) -> Place:
    return Place(source=source, file="m.py", line=7)


def setter(name: str, value: str, source: str) -> Write:
    return Write(field=name, value=value, source=source, file="m.py", line=7)


def test_the_first_decision_that_comes_out_otherwise_is_where_they_part() -> None:
    first = took(("self.tp > 1", "f", True), ('self.dtype != "fp4"', "g", True), ("self.late", "h", True))
    second = took(
        ("view.tp > 1", "f", True), ('resolved_view(self).dtype != "fp4"', "g", False), ("self.late", "h", False)
    )
    assert located(REFUSAL, (first, second)).decision == (asked('dtype != "fp4"', "g"), asked('dtype != "fp4"', "g"))


@pytest.mark.parametrize(
    "second",
    [
        took(("self.tp > 1", "f", True)),
        took(("self.tp > 1", "other", False)),
        took(("self.tp > 2", "f", False)),
        took(("self.dp > 1", "f", False)),
        took(),
    ],
    ids=["same", "elsewhere", "another", "of another field", "never asked"],
)
def test_a_decision_is_held_against_the_same_in_the_same_function(second: Trace) -> None:
    assert located(REFUSAL, (took(("self.tp > 1", "f", True)), second)) is REFUSAL


def test_objects_within_an_object_stay_what_they_are() -> None:
    first = took(("self.config.decode.backend", "f", True))
    second = took(("self.config.prefill.backend", "f", False))
    assert located(REFUSAL, (first, second)) is REFUSAL


def test_of_two_alike_in_one_function_it_is_not_known_which_is_which() -> None:
    first = Trace(taken=((asked("self.a", "f", 1), True), (asked("self.a", "f", 5), False)))
    second = Trace(taken=((asked("self.a", "f", 5), False),))
    assert located(REFUSAL, (first, second)) is REFUSAL


def test_a_decision_in_a_loop_is_held_against_its_own_round() -> None:
    rounds = [("name in known", "f", outcome) for outcome in (True, True, False)]
    assert located(REFUSAL, (took(*rounds), took(*rounds[:2]))) is REFUSAL
    other = [("name in known", "f", outcome) for outcome in (True, False, False)]
    assert located(REFUSAL, (took(*rounds), took(*other))).decision is not None


def test_a_variable_has_those_that_set_it_last() -> None:
    sets = (setter("NCCL_ALGO", "ring", "early"), setter("OTHER", "1", "x"), setter("NCCL_ALGO", "tree", "late"))
    assert located(VARIABLE, (took(), took(variables=sets))).writers == (None, at("late"))
    assert located(VARIABLE, (took(), took())) is VARIABLE


def test_a_decision_that_asks_a_variable_goes_back_to_who_set_it() -> None:
    text = "envs.NCCL_ALGO.get()"
    first = took((text, "check", False))
    second = took((text, "check", True), variables=(setter("NCCL_ALGO", "tree", "new"),))
    root = located(REFUSAL, (first, second))
    assert (root.name, root.writers, root.decision) == ("NCCL_ALGO", (None, at("new")), None)
    longer = took((text, "check", True), variables=(setter("NCCL", "1", "x"),))
    assert located(REFUSAL, (first, longer)).name == ""


@pytest.mark.parametrize(
    ("changed", "needed"),
    [
        ({}, True),
        ({"kind": "environment"}, True),
        ({"kind": "field"}, False),
        ({"kind": "failure"}, False),
        ({"writers": (at("f"), at("g"))}, True),
        ({"kind": "field", "writers": (at("f"), at("g"))}, False),
        ({"entry": "meant"}, False),
    ],
)
def test_only_what_no_write_explains_is_asked_again(changed: dict[str, Any], needed: bool) -> None:
    made = {"kind": "refusal", "name": "", "first": None, "second": "E: odd"} | changed
    assert needs_trace(Difference(**made)) is needed


def test_a_refusal_has_the_places_that_raised() -> None:
    raised = Place(source="check", file="m.py", line=3)
    told = msgspec.structs.replace(took(), raised=raised)
    assert located(REFUSAL, (took(), told)).checks == (None, raised)
    both = msgspec.structs.replace(REFUSAL, kind="refusals", first="E: even")
    assert located(both, (told, told)).checks == (raised, raised)
    # A child that ended tells nothing.
    assert located(both, (told, took())).checks is None


def test_a_check_is_one_whatever_it_says_of_the_case() -> None:
    words = [msgspec.structs.replace(REFUSAL, second=f"E: not with {name}") for name in ("fa3", "triton")]
    told = msgspec.structs.replace(took(), raised=Place(source="check", file="m.py", line=3))
    assert len({located(one, (took(), told)).key() for one in words}) == 1
    assert len({one.key() for one in words}) == 2
