"""The counts by architecture and machine: nothing lost, nothing twice, whatever order they are added in."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.difference.compare import Difference
from harness.engine.result.breakdown import REFUSAL, Breakdown, Group
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profile

MACHINES = (hardware_profile("h100"), Hardware(platform="hip", capability=(9, 4)), Hardware(platform="xpu"))
ARCHITECTURES = ("LlamaForCausalLM", "Grok1ForCausalLM")


def difference(kind: str, name: str, along: tuple[str, ...] = (), entry: str | None = None) -> Difference:
    return Difference(kind=kind, name=name, first=1, second=2, along=along, entry=entry)  # type: ignore[arg-type]


counted = st.tuples(
    st.builds(
        Case,
        id=st.just("c"),
        hardware=st.sampled_from(MACHINES),
        model=st.builds(Model, architectures=st.sampled_from([[name, "x"] for name in ARCHITECTURES])),
    ),
    st.sampled_from(
        [
            ([], True, False),
            ([], False, False),
            ([difference("field", "page_size", ("dtype", "SGLANG_X"))], True, False),
            ([difference("environment", "SGLANG_X", entry="e")], True, False),
            ([difference("refusal", "page_size")], False, False),
            ([difference("refusals", "")], False, False),
            ([difference("failure", "killed / outcome")], False, False),
            ([difference("failure", "unanswered / outcome")], False, True),
        ]
    ),
)


def of(entries: list[tuple[Case, tuple[list[Difference], bool, bool]]]) -> Breakdown:
    breakdown = Breakdown()
    for case, (found, resolved, failed) in entries:
        breakdown.count(case, found, resolved=resolved, failed=failed)
    return breakdown


@given(st.lists(counted), st.lists(counted))
def test_parts_add_up_to_the_whole_in_any_order(first: list, second: list) -> None:  # type: ignore[type-arg]
    whole = of(first + second)
    for order in ((first, second), (second, first)):
        total = Breakdown()
        for part in order:
            total.add(msgspec.convert(msgspec.to_builtins(of(part)), Breakdown))
        assert total == whole
    for groups in (whole.architectures, whole.machines):
        assert sum(group.cases for group in groups.values()) == len(first) + len(second)
        assert all(
            count <= group.resolved + group.refused for group in groups.values() for count in group.different.values()
        )


def test_a_difference_counts_for_what_follows_from_it() -> None:
    case = Case(id="c", hardware=MACHINES[0])
    breakdown = of([(case, ([difference("field", "page_size", ("dtype",))], True, False))])
    assert breakdown.machines == {"h100": Group(resolved=1, different={"page_size": 1, "dtype": 1})}
    assert list(breakdown.architectures) == ["LlamaForCausalLM"]


@pytest.mark.parametrize("kind", ["refusal", "refusals", "failure"])
def test_other_checks_count_as_refusal_and_not_for_a_field_that_had_parted(kind: str) -> None:
    breakdown = of([(Case(id="c", hardware=MACHINES[2]), ([difference(kind, "page_size")], False, False))])
    assert breakdown.machines == {"xpu (other)": Group(refused=1, different={REFUSAL: 1})}


def test_what_the_ledger_explains_is_counted_apart() -> None:
    case = Case(id="c")
    breakdown = of([(case, ([difference("field", "dtype", entry="meant")], True, False))])
    assert breakdown.architectures["LlamaForCausalLM"] == Group(resolved=1, explained={"dtype": 1})
