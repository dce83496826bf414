"""Root causes: what came first in a case, and which buckets are one fault."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import Difference
from harness.engine.difference.folding import fold
from harness.engine.difference.roots import rooted
from harness.world.case import Case, Outcome, Refusal
from harness.world.chain import Decision, Place, Write


def write(field: str, value: Any, source: str) -> Write:
    return Write(field=field, value=value, source=source, file="m.py", line=1)


def at(source: str, line: int = 1) -> Place:
    return Place(source=source, file="m.py", line=line)


def field(name: str, first: Any = 1, second: Any = 2, **more: Any) -> Difference:
    return Difference(kind="field", name=name, first=first, second=second, **more)


def resolved(**fields: Any) -> Outcome:
    return Outcome(id="c", fields=fields, error=None, env={})


def refused(message: str) -> Outcome:
    return Outcome(id="c", fields=None, error=Refusal("ValueError", message, "f"), env={})


BOTH = resolved(), resolved()


def test_what_was_written_first_is_the_root_and_the_rest_follows() -> None:
    first = [write("runner", "auto", "defaults"), write("draft", "auto", "draft")]
    second = [
        write("runner", "auto", "defaults"),
        write("runner", "x", "family"),
        write("fusion", True, "experts"),
        write("draft", "x", "draft"),
    ]
    found = [field("draft"), field("fusion"), field("runner")]
    root = rooted(found, (first, second), BOTH)
    assert (root.name, root.writers) == ("runner", (at("defaults"), at("family")))
    assert root.along == ("draft", "fusion")


def test_a_write_that_the_successor_lost_counts_too() -> None:
    first = [write("page", 1, "default"), write("page", 64, "rule"), write("draft", 64, "draft")]
    second = [write("page", 1, "default"), write("draft", 1, "draft")]
    root = rooted([field("draft"), field("page")], (first, second), BOTH)
    assert (root.name, root.writers) == ("page", (at("rule"), at("default")))


def test_a_field_that_one_side_never_writes_comes_by_the_other_side() -> None:
    first = [write("page", 64, "rule"), write("draft", 64, "draft")]
    second = [write("early", 1, "e"), write("draft", 1, "draft")]
    root = rooted([field("draft"), field("page")], (first, second), BOTH)
    assert (root.name, root.writers) == ("page", (at("rule"), None))


def test_without_writes_the_first_difference_stays_as_it_is() -> None:
    found = [field("draft"), field("page")]
    assert rooted(found, ([], []), BOTH) is found[0]


def test_the_environment_follows_from_a_field_and_stands_alone_otherwise() -> None:
    variable = Difference(kind="environment", name="NCCL_ALGO", first="a", second="b")
    chains = [write("page", 1, "f")], [write("page", 2, "g")]
    assert rooted([variable], chains, BOTH) is variable
    assert rooted([field("page"), variable], chains, BOTH).along == ("NCCL_ALGO",)


@pytest.mark.parametrize("side", [0, 1])
def test_a_refusal_goes_back_to_the_field_that_parted_before(side: int) -> None:
    chains = (
        [write("dtype", "a", "f"), write("page", 64, "old")],
        [write("dtype", "a", "f"), write("page", 1, "new")],
    )
    outcomes = (refused("odd"), resolved(dtype="a", page=1))
    difference = Difference(kind="refusal", name="", first="ValueError: odd", second=None)
    if side:
        chains, outcomes = chains[::-1], outcomes[::-1]
    root = rooted([difference], chains, outcomes)
    assert root.name == "page"
    assert root.writers == ((at("old"), at("new"))[:: -1 if side else 1])


@pytest.mark.parametrize("side", [0, 1])
def test_what_a_refusing_side_never_came_to_has_not_parted(side: int) -> None:
    """The one whose check is gone writes on, and is refused by a later one."""
    chains = [[write("backend", "a", "platform")], [write("backend", "a", "platform"), write("backend", "b", "rule")]]
    outcomes = [refused("early"), refused("late")]
    if side:
        chains.reverse()
        outcomes.reverse()
    found = Difference(kind="refusals", name="", first="ValueError: early", second="ValueError: late")
    assert rooted([found], (chains[0], chains[1]), (outcomes[0], outcomes[1])) == found


def test_a_refusal_with_equal_writes_before_stays_a_matter_of_the_check() -> None:
    chains = ([write("page", 64, "f")], [write("page", 64, "g"), write("page", 1, "later")])
    difference = Difference(kind="refusal", name="", first="ValueError: odd", second=None)
    assert rooted([difference], chains, (refused("odd"), resolved(page=1))).writers is None


def bucket(difference: Difference, count: int, *args: str) -> Bucket:
    return Bucket(
        difference=difference, count=count, witness=Case(id=f"{count}", args=dict.fromkeys(args, 1)), others=[]
    )


def rule(first: str | Place, second: str | Place, value: int = 1) -> Difference:
    """Return a difference that these functions wrote; ``as given`` is none."""
    pair = tuple((None if one == "as given" else at(one)) if isinstance(one, str) else one for one in (first, second))
    return field("page", value, 128, writers=pair)


def test_a_new_rule_that_meets_many_writers_is_one_cause() -> None:
    buckets = [
        bucket(rule("default", "rule"), 50, "a", "b"),
        bucket(rule("snap", "rule", 64), 4, "a"),
        bucket(rule("as given", "rule", 32), 2, "c"),
        bucket(rule("default", "other rule"), 3, "d"),
    ]
    runs = {at("default"): 5000, at("snap"): 800}, {at("rule"): 60, at("other rule"): 3}
    causes = fold(buckets, runs)
    assert [(cause.count, cause.shared, len(cause.parts)) for cause in causes] == [
        (56, (1, "rule (m.py:1)"), 3),
        (3, (1, "other rule (m.py:1)"), 1),
    ]
    assert causes[0].witness.args == {"a": 1}
    assert causes[0].difference.first == 64
    assert [set(case.args) for case in causes[0].others] == [{"c"}, {"a", "b"}]


def test_two_lost_writes_that_leave_one_default_are_two_causes() -> None:
    buckets = [bucket(rule("first", "default"), 9), bucket(rule("second", "default"), 5)]
    causes = fold(buckets, ({at("first"): 9, at("second"): 5}, {at("default"): 4000}))
    assert [cause.shared for cause in causes] == [(0, "first (m.py:1)"), (0, "second (m.py:1)")]


def test_as_given_is_never_what_a_cause_shares() -> None:
    buckets = [bucket(rule("first", "as given"), 9), bucket(rule("second", "as given"), 5)]
    assert len(fold(buckets, ({}, {}))) == 2


def test_a_check_that_one_side_lost_is_one_cause_whatever_comes_instead() -> None:
    def refusals(first: str, second: str | None) -> Difference:
        return Difference(kind="refusals" if second else "refusal", name="", first=first, second=second)

    buckets = [
        bucket(refusals("E: lost", None), 7),
        bucket(refusals("E: lost", "E: later"), 3),
        bucket(refusals("E: lost", "E: latest"), 1),
        bucket(refusals("E: other", None), 2),
    ]
    causes = fold(buckets, ({}, {}))
    assert [(cause.count, cause.shared) for cause in causes] == [(11, (0, "E: lost")), (2, (0, "E: other"))]


def test_values_without_writers_stay_apart_and_nothing_is_lost() -> None:
    buckets = [bucket(field("page", 1, 2), 3), bucket(field("page", 1, 3), 2), bucket(rule("a", "b"), 1)]
    causes = fold(buckets, ({}, {}))
    assert sorted(cause.count for cause in causes) == [1, 2, 3]


def test_the_order_of_the_buckets_changes_nothing() -> None:
    source = random.Random(3)
    names = ["a", "b", "c", "as given"]
    pairs = {(source.choice(names), source.choice(names)) for _ in range(12)}
    buckets = [bucket(rule(*pair), number + 1, str(number)) for number, pair in enumerate(sorted(pairs))]
    runs = {at("a"): 100, at("b"): 20}, {at("c"): 30}
    expected = [(cause.count, cause.shared) for cause in fold(buckets, runs)]
    assert sum(count for count, _ in expected) == sum(one.count for one in buckets)
    for _ in range(5):
        source.shuffle(buckets)
        assert [(cause.count, cause.shared) for cause in fold(buckets, runs)] == expected


def test_a_check_that_also_fails_without_any_field_parted_takes_those_with_it() -> None:
    words = {"first": "E: old words", "second": "E: new words"}
    parted = Difference(kind="refusals", name="page", writers=(at("default"), at("rule")), **words)
    plain = Difference(kind="refusals", name="", **words)
    buckets = [bucket(plain, 100, "a"), bucket(parted, 2, "b"), bucket(rule("default", "rule"), 40, "c")]
    causes = fold(buckets, ({at("default"): 900}, {at("rule"): 42}))
    assert [(cause.count, cause.shared) for cause in causes] == [
        (102, (1, "E: new words")),
        (40, (1, "rule (m.py:1)")),
    ]


def test_a_refusal_that_only_follows_from_a_field_stays_with_it() -> None:
    parted = Difference(kind="refusal", name="page", writers=(at("default"), at("rule")), first="E: odd", second=None)
    buckets = [bucket(rule("default", "rule"), 40, "c"), bucket(parted, 3, "b")]
    (cause,) = fold(buckets, ({at("default"): 900}, {at("rule"): 43}))
    assert (cause.count, cause.shared) == (43, (1, "rule (m.py:1)"))


def decided(first: str | None, second: str | None, *decision: str) -> Difference:
    kind = "refusals" if first and second else "refusal"
    places = [Decision(text=text, source="f", file="m.py", line=1) for text in decision]
    pair = (places[0], places[-1]) if places else None
    return Difference(kind=kind, name="", first=first, second=second, decision=pair)


def test_checks_that_follow_from_one_decision_are_one_cause() -> None:
    buckets = [
        bucket(decided(None, "E: not on this machine", "dtype"), 13),
        bucket(decided(None, "E: not with this backend", "dtype"), 6),
        bucket(decided(None, "E: not with this backend", "size"), 2),
        bucket(decided(None, "E: nor that"), 1),
    ]
    causes = fold(buckets, ({}, {}))
    assert [(cause.count, cause.shared) for cause in causes] == [
        (19, (1, "dtype in f (m.py:1)")),
        (2, (1, "size in f (m.py:1)")),
        (1, (1, "E: nor that")),
    ]


def test_a_check_that_is_said_otherwise_is_no_matter_of_a_decision_that_also_parted() -> None:
    words = "E: old words", "E: new words"
    buckets = [bucket(decided(*words), 100), bucket(decided(*words, "dtype"), 2)]
    (cause,) = fold(buckets, ({}, {}))
    assert (cause.count, cause.shared) == (102, (1, "E: new words"))


def variable(second: str, **more: Any) -> Difference:
    return Difference(kind="environment", name="NCCL_ALGO", first="(unchanged)", second=second, **more)


def test_a_variable_that_two_places_set_is_two_causes() -> None:
    buckets = [
        bucket(variable("tree", writers=(None, at("f"))), 5),
        bucket(variable("tree", writers=(None, at("g", 9))), 3),
    ]
    assert [cause.count for cause in fold(buckets, ({}, {}))] == [5, 3]


def test_a_variable_that_no_one_is_known_to_set_is_one_cause_whatever_its_values() -> None:
    (cause,) = fold([bucket(variable("tree"), 5), bucket(variable("ring"), 3)], ({}, {}))
    assert cause.count == 8


def test_what_both_sides_wrote_before_tells_which_came_first_across_the_sides() -> None:
    # The successor turns graphs off early; that the original still changes the backend, late, follows from it.
    first = [write("dtype", "half", "d"), write("page", 1, "p"), write("backend", "flashinfer", "late")]
    second = [write("graphs", "off", "early"), write("dtype", "half", "d"), write("page", 1, "p")]
    root = rooted([field("backend"), field("graphs")], (first, second), BOTH)
    assert (root.name, root.along) == ("graphs", ("backend",))


def test_a_field_that_had_parted_and_came_together_is_the_root() -> None:
    first = [write("backend", "triton", "a"), write("backend", "flashinfer", "z"), write("page", 32, "p")]
    second = [write("backend", "trtllm", "b"), write("page", 64, "q"), write("backend", "flashinfer", "z")]
    root = rooted([field("page")], (first, second), BOTH)
    assert (root.name, root.parted) == ("page", "backend")
    assert root.writers is not None
    assert [place.source for place in root.writers if place is not None] == ["a", "b"]


def test_a_value_that_only_one_side_passed_through_is_none() -> None:
    # The successor works it out before it declares.
    first = [write("page", 64, "a"), write("page", 128, "b"), write("dtype", "half", "c")]
    second = [write("page", 128, "s"), write("dtype", "auto", "t")]
    assert rooted([field("dtype")], (first, second), BOTH).parted is None


def test_what_one_function_wrote_in_several_lines_and_is_lost_is_one_cause() -> None:
    lost = [bucket(field("ep", writers=(at("f", line), None)), 3) for line in (1, 5)]
    (cause,) = fold(lost, ({at("f"): 3, at("f", 5): 30}, {}))
    assert cause.count == 6
    # What two lines write now and no one wrote before may be two rules.
    new = [bucket(field("ep", writers=(None, at("f", line))), 3) for line in (1, 5)]
    assert len(fold(new, ({}, {}))) == 2


def checked(first: Place, second: Place | None = None) -> Difference:
    kind = "refusals" if second else "refusal"
    said = None if second is None else str(second)
    return Difference(kind=kind, name="", first=str(first), second=said, checks=(first, second))


def test_checks_of_one_function_that_are_gone_are_one_cause() -> None:
    gone = [bucket(checked(at("f")), 9), bucket(checked(at("f", 2)), 5), bucket(checked(at("g", 8)), 4)]
    assert [cause.count for cause in fold(gone, ({}, {}))] == [14, 4]
    # Said otherwise is not gone.
    changed = [bucket(checked(at("f", line), at("f", line + 8)), count) for line, count in ((1, 9), (2, 5))]
    assert len(fold(changed, ({}, {}))) == 2


def test_a_line_that_writes_over_what_was_given_is_one_cause_with_what_it_writes_otherwise() -> None:
    given, written = rule("as given", at("declared", 9), 1023), rule(at("memory", 5), at("declared", 9), 1024)
    # The original's writer always differs, so that by itself it looks like the fault.
    runs = {at("memory", 5): 14}, {at("declared", 9): 5000}
    (cause,) = fold([bucket(given, 14), bucket(written, 14)], runs)
    assert cause.shared == (1, "declared (m.py:9)")
    elsewhere = rule(at("memory", 5), at("other", 10), 1024)
    assert len(fold([bucket(given, 14), bucket(elsewhere, 14)], runs)) == 2
