"""When outcomes agree (resolution slice), on outcomes and on the frames that children send."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.difference.compare import Comparison, Difference, differences, explain
from harness.world.case import Failure, Outcome, Refusal
from harness.world.chain import Decision, Place

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def resolved(env: dict[str, str | None] | None = None, **fields: Any) -> Outcome:
    return Outcome(id="c", fields=fields, error=None, env=env or {})


def refused(type: str, message: str, origin: str = "f") -> Outcome:
    return Outcome(id="c", fields=None, error=Refusal(type, message, origin), env={})


def failed(kind: str, detail: str = "it ended") -> Outcome:
    return Outcome(id="c", fields=None, error=None, env={}, failure=Failure(kind, detail))  # type: ignore[arg-type]


def compare(first: Outcome, second: Outcome, messages: bool = True) -> list[Difference]:
    return differences(first, second, messages=messages)


@given(st.dictionaries(st.sampled_from("abc"), VALUES))
def test_an_outcome_agrees_with_itself(fields: dict[str, Any]) -> None:
    assert compare(resolved(**fields), resolved(**fields)) == []


@given(VALUES, VALUES)
def test_values_agree_when_their_json_does(first: Any, second: Any) -> None:
    """The verdict on a value is that of its encoding, which tells types apart and knows no identity."""
    encoded = [msgspec.json.encode(value, order="deterministic") for value in (first, second)]
    same = encoded[0] == encoded[1]
    # -0.0 and 0.0 are equal numbers of one type.
    if first == second and type(first) is type(second) is float:
        same = True
    assert (compare(resolved(x=first), resolved(x=second)) == []) == same


@pytest.mark.parametrize(
    ("first", "second"), [(1, True), (1, 1.0), (0, None), ("1", 1), ([1], [True]), ({"a": 1}, {"a": 1.0})]
)
def test_types_count(first: Any, second: Any) -> None:
    (found,) = compare(resolved(page_size=first), resolved(page_size=second))
    assert (found.kind, found.name) == ("field", "page_size")


def test_a_field_that_one_lacks_is_no_mismatch() -> None:
    assert compare(resolved(a=1, b=2), resolved(a=1)) == []


def test_each_field_is_a_difference_of_its_own() -> None:
    assert [found.name for found in compare(resolved(a=1, b=2, c=3), resolved(a=2, b=2, c=4))] == ["a", "c"]


def test_the_environment_is_compared() -> None:
    (found,) = compare(resolved({"SGLANG_X": "1"}), resolved())
    assert (found.kind, found.name, found.first, found.second) == ("environment", "SGLANG_X", "1", "(unchanged)")
    (found,) = compare(resolved({"SGLANG_X": None}), resolved())
    assert found.first is None


def test_refusals_agree_by_type_and_among_releases_by_message() -> None:
    first, second = refused("ValueError", "page 1", "old"), refused("ValueError", "size 1", "new")
    assert compare(first, second, messages=False) == []
    assert [found.kind for found in compare(first, second)] == ["refusals"]
    assert compare(refused("ValueError", "x", "here"), refused("ValueError", "x", "there")) == []
    assert compare(refused("ValueError", "x"), refused("TypeError", "x"), messages=False)


def test_one_check_is_one_bucket_whatever_the_values() -> None:
    keys = {
        compare(refused("ValueError", f"tp_size={n} with '{name}'"), resolved(a=1))[0].key()
        for n, name in [(1, "a"), (22, "b"), (-3, "it is")]
    }
    assert len(keys) == 1


def test_resolving_and_refusing_never_agree() -> None:
    (found,) = compare(resolved(a=1), refused("ValueError", "no"))
    assert (found.kind, found.first, found.second) == ("refusal", None, "ValueError: no")
    (found,) = compare(refused("ValueError", "no"), resolved(a=1))
    assert (found.first, found.second) == ("ValueError: no", None)


@pytest.mark.parametrize("other", [resolved(a=1), refused("ValueError", "no"), failed("killed")])
def test_a_failure_agrees_with_nothing(other: Outcome) -> None:
    assert [found.kind for found in compare(failed("killed"), other)] == ["failure"]


def frame(kind: bytes, body: Any, aside: Any = None) -> bytes:
    said = kind + msgspec.json.encode(body)
    return said if aside is None else said + b"\n" + msgspec.json.encode(aside)


def test_frames_of_equal_bytes_agree_without_decoding() -> None:
    comparison = Comparison(["a"])
    assert comparison.differences(frame(b"F", [1, {}]), frame(b"F", [1, {}])) == []
    assert comparison.differences(frame(b"E", ["T", "m"], ["f", {}]), frame(b"E", ["T", "m"], ["g", {}])) == []


def test_frames_that_differ_are_decoded() -> None:
    (found,) = Comparison(["a"]).differences(frame(b"F", [1, {}]), frame(b"F", [True, {}]))
    assert (found.name, found.first, found.second) == ("a", 1, True)


def test_two_equal_failures_are_still_reported() -> None:
    (found,) = Comparison(["a"]).differences(*[frame(b"X", ["killed", "it was ended by SIGSEGV"])] * 2)
    assert found.name == "killed / killed"


def test_deepdiff_explains_and_leaves_out_the_origin() -> None:
    sides = resolved(page_size=1, other=[2]), resolved(page_size=128, other=[2, 3])
    size, other = compare(*sides)
    assert "page_size" in explain(size, *sides) and "128" in explain(size, *sides)
    assert "other" not in explain(size, *sides)
    assert "root['other'][1]" in explain(other, *sides)
    refusals = refused("A", "m 1", "f"), refused("A", "n 2", "g")
    (check,) = compare(*refusals)
    assert "n 2" in explain(check, *refusals)
    assert "origin" not in explain(check, *refusals)


def test_bare_asserts_differ_by_their_function() -> None:
    (found,) = compare(refused("AssertionError", "", "_handle_a"), refused("AssertionError", "x", "_handle_b"))
    assert found.first == "AssertionError without a message in _handle_a"


def test_fields_alone_leave_the_rest_out() -> None:
    comparison = Comparison(["a"], fields_alone=True)
    assert comparison.differences(frame(b"F", [1, {"SGLANG_X": "1"}]), frame(b"F", [1, {}])) == []
    assert comparison.differences(frame(b"E", ["T", "m"], ["f", {}]), frame(b"E", ["U", "n"], ["f", {}])) == []
    assert comparison.differences(frame(b"E", ["T", "m"], ["f", {}]), frame(b"F", [1, {}]))
    assert comparison.differences(frame(b"F", [2, {}]), frame(b"F", [1, {}]))


@given(st.dictionaries(st.sampled_from("abc"), VALUES), st.dictionaries(st.sampled_from("abc"), VALUES))
def test_a_key_names_one_difference(first: dict[str, Any], second: dict[str, Any]) -> None:
    for found in compare(resolved(**first), resolved(**second)):
        again = msgspec.json.decode(msgspec.json.encode(found), type=Difference)
        assert again.key() == found.key()


def test_a_key_without_lines_leaves_out_the_lines_of_places_and_nothing_else() -> None:
    def keys(line: int) -> list[tuple[str, str]]:
        place = Place(source="f", file="a.py", line=line)
        asked = Decision(text="x[1:2] > (y:3)", source="g", file="b.py", line=line)
        found = [
            Difference(kind="field", name="tp", first=1, second=2, writers=(None, place)),
            Difference(kind="refusal", name="", first="T: m", second=None, checks=(place, None)),
            Difference(kind="refusal", name="", first="T: m", second=None, decision=(asked, asked)),
            Difference(kind="field", name="tp", first="f (a.py:1)", second=2),
        ]
        return [(one.key(), one.key_without_lines()) for one in found]

    first, second = keys(1), keys(20)
    assert [a[1] for a in first] == [b[1] for b in second]
    assert [a[0] != b[0] for a, b in zip(first, second, strict=True)] == [True, True, True, False]
    assert first[0][1] == '["field","tp",null,"as given","f (a.py)"]'
    assert "(y:3) in g (b.py)" in first[2][1] and "f (a.py:1)" in first[3][1]
