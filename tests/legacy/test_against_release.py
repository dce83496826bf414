"""The port against the real 0.5.14, beyond what its gate draws: launches, odd texts, metadata."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from aimed import aimed_cases

import legacy
from harness.engine.difference.compare import Difference, differences
from harness.engine.ledger.entries import load_ledger
from harness.generate.values.domains import domains_of
from harness.subjects.kinds import TreeSubject
from harness.subjects.profile import load_profile
from harness.subjects.sources import Tree
from harness.subjects.spec import Limits, SubjectSpec
from harness.world.case import Case
from harness.world.profiles import real_launches
from legacy import arguments

pytestmark = [pytest.mark.index, pytest.mark.slow]


@pytest.fixture(scope="module")
def original(release: Callable[[str], Tree]) -> Iterator[TreeSubject]:
    spec = SubjectSpec(release("0.5.14"), True, load_profile(), python=sys.executable, limits=Limits())
    with TreeSubject(spec) as subject:
        subject.describe()
        yield subject


def launch_cases(subject: TreeSubject) -> list[Case]:
    return [subject.launch_case(launch) for launch in real_launches()]


def unexplained(subject: TreeSubject, cases: Iterable[Case]) -> list[tuple[Difference, Case]]:
    """Return the differences between the release and the port that the port's ledger does not explain."""
    ledger = load_ledger(Path(legacy.__file__).parent / "ledger.toml").between("sglang==0.5.14#slice", "legacy")
    found = []
    iterator = iter(cases)
    while batch := list(islice(iterator, 1000)):
        for case, theirs in zip(batch, subject.outcomes(batch), strict=True):
            ours = legacy.resolve(case)
            found += [
                (difference, case)
                for difference in differences(theirs, ours, messages=False)
                if ledger.explains(difference.kind, difference.name, case, theirs, ours) is None
            ]
    return found


def test_the_real_launches_agree(original: TreeSubject) -> None:
    cases = launch_cases(original)
    assert len(cases) == 14
    assert unexplained(original, cases) == []
    assert all(legacy.resolve(case).error is None for case in cases if not original.outcomes([case])[0].error)


def test_the_port_takes_whatever_the_generator_draws_for_the_release(original: TreeSubject) -> None:
    described, spec = original.describe(), original.spec
    assert set(domains_of(described, described, spec.values, spec.not_drawn).args) <= set(arguments())


# What people export: spellings of yes and no, numbers, and text that is neither.
_TEXTS = ("y", "TRUE", "no", "False", "", "0", "512", "8192", "1_000", "two", "VECTORIZED_5D")
_GRAPHS: tuple[object, ...] = (
    None,
    {},
    {"decode": {"max_bs": 4, "unheard": 1}, "neither": {"backend": "full"}},
    {"prefill": {"backend": "disabled", "tc_compiler": None}},
)


def odd(case: Case, source: random.Random) -> Case:
    """Return the case with its environment in other words, and a graph configuration of another shape."""
    env = {name: source.choice(_TEXTS) for name in case.env}
    args = {**case.args, "cuda_graph_config": source.choice(_GRAPHS)} if source.random() < 0.3 else case.args
    return msgspec.structs.replace(case, args=args, env=env)


def test_odd_environments_and_graph_configurations_agree(original: TreeSubject) -> None:
    source = random.Random(3)
    cases = [odd(case, source) for case in aimed_cases(3, 20_000) if case.env or "cuda_graph_config" in case.args]
    assert len(cases) > 3_000
    assert unexplained(original, cases) == []


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
