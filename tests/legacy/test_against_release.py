"""The port against the real 0.5.14, case for case: what differs is one rule on purpose."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import msgspec
import pytest
from focused import FAMILIES, focused_cases

import legacy
from harness.engine.compare import Difference, differences
from harness.generate.cases import CaseMaker
from harness.generate.domains import domains_of
from harness.subjects.profile import load_profile
from harness.subjects.sources import Tree
from harness.subjects.spec import Limits, SubjectSpec
from harness.subjects.tree import TreeSubject
from harness.world.case import Case
from harness.world.probes import is_sm100_supported
from harness.world.profiles import real_launches
from legacy import arguments

pytestmark = pytest.mark.index


@pytest.fixture(scope="module")
def original(release: Callable[[str], Tree]) -> Iterator[TreeSubject]:
    spec = SubjectSpec(release("0.5.14"), True, load_profile(), python=sys.executable, limits=Limits())
    with TreeSubject(spec) as subject:
        subject.describe()
        yield subject


def launch_cases(subject: TreeSubject) -> list[Case]:
    return [subject.launch_case(launch) for launch in real_launches()]


def unexplained(subject: TreeSubject, cases: Iterable[Case]) -> tuple[list[tuple[Difference, Case]], int, int]:
    """Return the differences that are not the fa4 rule, how many that one explains, and how many cases refuse."""
    found, explained, refused = [], 0, 0
    iterator = iter(cases)
    while batch := list(islice(iterator, 1000)):
        for case, theirs in zip(batch, subject.outcomes(batch), strict=True):
            ours = legacy.resolve(case)
            refused += ours.error is not None
            for difference in differences(theirs, ours, messages=False):
                if is_fa4_rule(difference, case):
                    explained += 1
                else:
                    found.append((difference, case))
    return found, explained, refused


def is_fa4_rule(difference: Difference, case: Case) -> bool:
    return (
        (difference.kind, difference.name, difference.second) == ("field", "page_size", 128)
        and case.model.attention == "mha"
        and is_sm100_supported(case.hardware)
        and ("fa4" in case.args.values() or "Step3p" in case.model.architectures[0])
    )


def test_the_real_launches_agree(original: TreeSubject) -> None:
    cases = launch_cases(original)
    assert len(cases) == 14
    assert unexplained(original, cases)[:2] == ([], 0)
    assert all(legacy.resolve(case).error is None for case in cases if not original.outcomes([case])[0].error)


def test_generated_cases_agree_but_for_the_fa4_rule(original: TreeSubject) -> None:
    described = original.describe()
    shared = msgspec.structs.replace(
        described, fields={name: spec for name, spec in described.fields.items() if name in arguments()}
    )
    profile = original.spec.profile
    domains = domains_of(shared, shared, profile["values"], profile["not_drawn"])
    # Whatever the generator draws for the release, the port can be given.
    assert set(domains.args) == set(domains_of(described, described, profile["values"], profile["not_drawn"]).args)
    cases = CaseMaker(domains, launch_cases(original)).cases(1, 5_000)
    found, explained, refused = unexplained(original, cases)
    assert found == []
    assert explained > 0
    assert refused > 1_000


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_aimed_at_a_family_agree_but_for_the_fa4_rule(original: TreeSubject, family: str) -> None:
    cases = [case for case in focused_cases(1, 600) if case.id.rpartition("-")[0] == family]
    found, _, refused = unexplained(original, cases)
    assert found == []
    assert refused < len(cases)


def test_fields_defaults_choices_and_flags_are_the_originals(original: TreeSubject) -> None:
    theirs = original.describe().fields
    ours = arguments()
    assert set(ours) - set(theirs) == {"enable_tf32_matmul"}
    for name in set(ours) & set(theirs):
        assert msgspec.structs.replace(theirs[name], compared=()) == ours[name], name


def test_the_slots_are_the_originals(original: TreeSubject) -> None:
    theirs = original.describe().slots
    named = [slot.name for slot in legacy.SLOTS]
    assert len(theirs) == len(named)
    for mine, real in zip(named, theirs, strict=True):
        # Statements of the entry method itself go by their line there.
        assert mine.partition(" ")[0] == real.partition(":")[0]


def test_the_outcome_holds_what_the_profile_lists() -> None:
    profile = load_profile()["slice"]
    assert tuple(profile["fields"]) == legacy.FIELDS
    assert tuple(profile["state"]) == legacy.STATE


def test_environment_defaults_are_the_originals(original: TreeSubject) -> None:
    from harness.world.environ import Envs

    theirs = original.describe().environment
    ours = {name: field for name, field in vars(Envs).items() if name.startswith("SGLANG_")}
    # MLX is asked for outside the modules that are loaded for real.
    assert set(ours) - set(theirs) == {"SGLANG_USE_MLX"}
    assert set(theirs) - set(ours) == set()
    for name, variable in theirs.items():
        assert type(ours[name]).__name__ == f"Env{variable.type.capitalize()}", name
        assert ours[name].default == variable.default, name
