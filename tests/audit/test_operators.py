"""Each operator on its own examples."""

from __future__ import annotations

import pytest

from harness.audit.mutant import compiles, mutated
from harness.audit.operator import Example, Operator
from harness.audit.operators import all_operators
from harness.audit.source import Source
from harness.audit.vocabulary import Vocabulary

EXAMPLES = [(operator, example) for operator in all_operators() for example in operator.examples]
UNCHANGED = [(operator, text) for operator in all_operators() for text in operator.unchanged]


def made(operator: Operator, text: str) -> list[str]:
    source = Source("package/module.py", text)
    return [mutated(text, mutant) for mutant in operator.mutants(source, Vocabulary([source]))]


@pytest.mark.parametrize(("operator", "example"), EXAMPLES, ids=lambda value: getattr(value, "name", ""))
def test_an_example_becomes_what_it_says(operator: Operator, example: Example) -> None:
    assert made(operator, example.before) == list(example.after)
    assert all(compiles(text) for text in (example.before, *example.after))


@pytest.mark.parametrize(("operator", "text"), UNCHANGED, ids=lambda value: getattr(value, "name", ""))
def test_what_is_no_place_for_the_fault_stays(operator: Operator, text: str) -> None:
    assert compiles(text)
    assert made(operator, text) == []


@pytest.mark.parametrize("operator", all_operators(), ids=lambda operator: operator.name)
def test_an_operator_has_examples_of_both_kinds(operator: Operator) -> None:
    assert operator.examples
    assert operator.unchanged
    assert operator.__class__.__doc__


def test_every_module_of_the_package_holds_an_operator() -> None:
    assert [operator.name for operator in all_operators()] == [
        "comparisons",
        "constants",
        "contained_names",
        "dropped_calls",
        "dropped_declarations",
        "dropped_entries",
        "dropped_environment_writes",
        "dropped_keys",
        "dropped_members",
        "dropped_operands",
        "dropped_writes",
        "fallthrough",
        "fixed_conditions",
        "moved_entries",
        "negated_conditions",
        "pristine_reads",
        "resolved_reads",
        "swapped_checks",
        "swapped_connectives",
        "swapped_entries",
        "swapped_probes",
        "swapped_statements",
        "written_values",
        "wrong_objects",
    ]
