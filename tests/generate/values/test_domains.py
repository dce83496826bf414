"""Where the values come from: choices, literals, comparisons, defaults."""

from __future__ import annotations

from descriptions import description, field

from harness.generate.values.domains import Domains, domains_of
from harness.subjects.description import Aims, Condition, Variable


def test_choices_are_joined_with_compared_values(domains: Domains) -> None:
    assert domains.args["backend"].values == ("a", "b", "c")
    assert domains.args["backend"].compared == ("b", "c")


def test_integers_surround_what_they_are_compared_with(domains: Domains) -> None:
    assert {31, 32, 33, 63, 64, 65} <= set(domains.args["page_size"].values)


def test_a_switch_is_only_drawn_away_from_its_default(domains: Domains) -> None:
    assert domains.args["flag"].values == (True,)


def test_a_switch_whose_default_differs_is_drawn_both_ways() -> None:
    first, second = (description(field("flag", "bool", default=default)) for default in (False, True))
    assert set(domains_of(first, second).args["flag"].values) == {True, False}


def test_text_that_nothing_is_compared_with_is_left_alone(domains: Domains) -> None:
    assert "label" not in domains.args


def test_text_that_is_only_asked_for_gets_some_text() -> None:
    subject = description(field("algorithm", "str", optional=True, compared=(None,)))
    assert domains_of(subject, subject).args["algorithm"].values == ("something-else",)


def test_text_compared_without_choices_is_also_something_else() -> None:
    subject = description(field("algorithm", "str", compared=("EAGLE",)))
    assert domains_of(subject, subject).args["algorithm"].values == ("EAGLE", "something-else")


def test_true_and_one_are_two_values() -> None:
    subject = description(field("x", "int", compared=(1,)), field("y", "str", compared=("1",)))
    values = domains_of(subject, subject).args["x"].values
    assert len([value for value in values if value == 1]) == 1
    assert all(type(value) is int for value in values)


def test_resolved_fields_weigh_more(domains: Domains) -> None:
    assert domains.pool.count("backend") > domains.pool.count("flag") == 1


def test_only_what_both_have_and_one_reads_is_drawn() -> None:
    first = description(field("a", "bool"), field("b", "bool"), field("c", "bool"), reads=("a", "c"))
    second = description(field("a", "bool"), field("b", "bool"), field("d", "bool"), reads=("d",))
    found = domains_of(first, second)
    assert set(found.args) == {"a"}
    assert found.foreign == ("c", "d")


def test_structured_values_are_the_profiles() -> None:
    subject = description(field("config", "object", optional=True))
    assert "config" not in domains_of(subject, subject).args
    assert domains_of(subject, subject).unknown == ("config",)
    found = domains_of(subject, subject, {"config": [{"decode": 1}], "unknown": [1]})
    assert found.args["config"].values == ({"decode": 1},)
    assert found.unknown == ()


def test_the_environment_holds_text_under_the_subjects_prefix(domains: Domains) -> None:
    assert domains.environment == {"SGLANG_FLAG": ("1", "0")}


def test_numbers_in_the_environment_surround_the_default() -> None:
    subject = description(environment={"SGLANG_N": Variable(type="int", default=2048, compared=(7,))})
    assert {"7", "2047", "2048", "2049", "0"} <= set(domains_of(subject, subject).environment["SGLANG_N"])


def test_architectures_are_those_of_the_source_and_of_the_profiles(domains: Domains) -> None:
    assert domains.architectures[0] == "NewForCausalLM"
    assert "LlamaForCausalLM" in domains.architectures


def test_what_a_test_asks_of_an_input_is_tried_although_nothing_is_compared_with_the_input_itself() -> None:
    asked = [
        Condition(kind="arg", name="size", operation="is", values=(17,), wanted=True),
        Condition(kind="arg", name="size", operation=">", values=(500,), wanted=False),
        Condition(kind="arg", name="size", operation="same", values=("width",), wanted=True),
        Condition(kind="arg", name="region", operation="is", values=("eu", None), wanted=True),
        Condition(kind="env", name="SGLANG_MODE", operation="is", values=("turbo", 3), wanted=True),
    ]
    subject = description(
        field("size", "int", default=1),
        field("region", "str", optional=True),
        environment={"SGLANG_MODE": Variable(type="str")},
        aims=Aims(conditions=tuple(asked)),
    )
    found = domains_of(subject, subject)
    assert {16, 17, 18, 499, 500, 501} <= set(found.args["size"].values)
    assert found.args["size"].compared == (17, 500)
    assert found.args["region"].values == ("eu", "something-else")
    assert found.environment["SGLANG_MODE"] == ("1", "text", "turbo", "3")


def test_a_test_of_a_value_that_is_known_anyway_changes_nothing() -> None:
    known = field("size", "int", default=8, choices=(8, 16))
    plain = description(known)
    asking = Aims(conditions=(Condition(kind="arg", name="size", operation="is", values=(16,), wanted=True),))
    assert domains_of(plain, description(known, aims=asking)).args == domains_of(plain, plain).args
