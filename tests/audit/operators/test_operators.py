"""Each operator on its own examples, which are in the module here that is called like the operator's own."""

from __future__ import annotations

from importlib import import_module

import pytest
from operator_examples import Change, Examples

from harness.audit.operators import all_operators
from harness.audit.operators.operator import Operator, faults
from harness.audit.reading.files import MutableFile
from harness.audit.reading.mutant import compiles, mutated
from harness.audit.reading.vocabulary import Vocabulary


def examples_of(operator: Operator) -> Examples:
    module = operator.edits.__module__.rpartition(".")[2]
    found: Examples = import_module(f"{module}_examples").EXAMPLES[operator.name]
    return found


CHANGES = [(operator, change) for operator in all_operators() for change in examples_of(operator).changes]
UNCHANGED = [(operator, text) for operator in all_operators() for text in examples_of(operator).unchanged]


def made(operator: Operator, text: str) -> list[str]:
    source = MutableFile("package/module.py", text)
    return [mutated(text, mutant) for mutant in faults(source, Vocabulary([source]), [operator])]


@pytest.mark.parametrize(("operator", "change"), CHANGES, ids=lambda value: getattr(value, "name", ""))
def test_an_example_becomes_what_it_says(operator: Operator, change: Change) -> None:
    assert made(operator, change.before) == list(change.after)
    assert all(compiles(text) for text in (change.before, *change.after))


@pytest.mark.parametrize(("operator", "text"), UNCHANGED, ids=lambda value: getattr(value, "name", ""))
def test_what_is_no_place_for_the_fault_stays(operator: Operator, text: str) -> None:
    assert compiles(text)
    assert made(operator, text) == []


@pytest.mark.parametrize("operator", all_operators(), ids=lambda operator: operator.name)
def test_an_operator_has_examples_of_both_kinds(operator: Operator) -> None:
    examples = examples_of(operator)
    assert examples.changes
    assert examples.unchanged
    assert operator.does


def test_every_kind_of_fault_is_found() -> None:
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
