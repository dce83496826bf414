"""Which constants occur for which name, and what an expected outcome is plainly equal to."""

from __future__ import annotations

import pytest

from harness.audit.reading.files import MutableFile
from harness.audit.reading.vocabulary import Vocabulary
from harness.audit.reading.walk import walk
from harness.audit.run.plain import ExpectedOutcome
from harness.audit.run.trial import frame_of
from harness.world.case import Outcome, Refusal

ONE = """
KNOWN = ("a", "b")

def f(x, quantization=None):
    if x.backend is None or x.backend in KNOWN:
        x.backend = "c" if x.n else "d"
    check(x, "e", mode="f")
    return {"key": "g"}["other"]
"""
TWO = """
def g(y):
    assert y.backend != "z", "text"
    default = "y"
    y.backend = default
    y.kind = Kind.ONE
    return Kind.TWO, other.Kind.THREE, MODULE.CONSTANT
"""


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary([MutableFile("p/one.py", ONE), MutableFile("p/two.py", TWO)])


def test_values_of_a_field_come_from_all_files_and_tables(vocabulary: Vocabulary) -> None:
    assert set(vocabulary.others("backend", "c")) == {None, "a", "b", "d", "y", "z"}
    assert vocabulary.others("backend", "c")[0] == "d"
    assert vocabulary.others("backend", "z")[0] is None
    assert vocabulary.others("KNOWN", "b")[0] == "c"


def test_arguments_keys_and_items_have_names(vocabulary: Vocabulary) -> None:
    assert vocabulary.others("check()", "x") == ["e"]
    assert vocabulary.others("mode", "x") == ["f"]
    assert vocabulary.others("key", "x") == ["g"]
    assert vocabulary.others("{}", "key") == ["other"]
    assert vocabulary.others("none", "x") == []


def test_tables_and_members(vocabulary: Vocabulary) -> None:
    assert vocabulary.is_table("KNOWN")
    assert not vocabulary.is_table("backend")
    assert not vocabulary.is_table("")
    assert vocabulary.other_member("Kind", "ONE") == "TWO"
    assert vocabulary.other_member("Kind", "TWO") == "ONE"
    assert vocabulary.other_member("MODULE", "CONSTANT") is None


def test_every_node_has_a_role() -> None:
    source = MutableFile("p/one.py", ONE)
    roles = {source.text_of(here.node): here.role for here in walk(source.module)}
    assert roles['("a", "b")'.strip("()")] == "table"
    assert roles['"c"'] == "value"
    assert roles["x.n"] == "guard"
    assert roles["x.backend in KNOWN"] == "guard"
    assert roles['"g"'] == "value"
    assert roles['"e"'] == "other"


def test_an_equal_outcome_is_known_at_once() -> None:
    def fields(**values: object) -> Outcome:
        return Outcome(id="x", fields=values, error=None, env={})

    plain = ExpectedOutcome(frame_of(fields(a=1, b=None), ("a", "b")), ("a", "b"), True)
    assert plain.is_plainly(fields(b=None, a=1, c=3))
    assert not plain.is_plainly(fields(a=True, b=None))
    assert not plain.is_plainly(fields(a=1.0, b=None))
    assert not plain.is_plainly(Outcome(id="x", fields={"a": 1, "b": None}, error=None, env={"A": "1"}))
    # What may agree without being plain is left to the frames.
    listed = fields(a=[1])
    assert not ExpectedOutcome(frame_of(listed, ("a",)), ("a",), True).is_plainly(listed)

    def refused(kind: str, message: str) -> Outcome:
        return Outcome(id="x", fields=None, error=Refusal(kind, message, "f"), env={})

    frame = frame_of(refused("ValueError", "no"), ("a",))
    assert ExpectedOutcome(frame, ("a",), True).is_plainly(refused("ValueError", "no"))
    assert not ExpectedOutcome(frame, ("a",), True).is_plainly(refused("ValueError", "never"))
    assert ExpectedOutcome(frame, ("a",), False).is_plainly(refused("ValueError", "never"))
    assert not ExpectedOutcome(frame, ("a",), False).is_plainly(refused("KeyError", "no"))
    assert not ExpectedOutcome(frame, ("a",), False).is_plainly(fields(a=1))
    assert not plain.is_plainly(refused("ValueError", "no"))
