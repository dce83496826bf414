"""Real releases: every real launch has an outcome, and an outcome depends on nothing but its case."""

from __future__ import annotations

import ast
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.subjects.kinds import TreeSubject
from harness.subjects.profile import load_profile
from harness.subjects.sources import Tree
from harness.subjects.spec import SubjectSpec
from harness.subjects.wire import is_outcome
from harness.world.case import Case
from harness.world.profiles import (
    hardware_names,
    hardware_profile,
    model_names,
    model_profile,
    real_launches,
)

pytestmark = [pytest.mark.index, pytest.mark.slow]

RELEASES = ("0.5.14", "0.5.15", "0.5.15.post1", "0.5.16")
GetRelease = Callable[[str], Tree]


def launches(subject: TreeSubject) -> list[Case]:
    return [subject.launch_case(launch) for launch in real_launches()]


VALUES = {
    "tp_size": (1, 2, 8),
    "dp_size": (1, 2),
    "enable_dp_attention": (True,),
    "page_size": (1, 16, 64, 128),
    "attention_backend": ("fa3", "triton", "flashinfer", "trtllm_mla", "fa4", "aiter", "ascend"),
    "prefill_attention_backend": ("fa4", "triton"),
    "kv_cache_dtype": ("fp8_e4m3", "fp4_e2m1", "bfloat16"),
    "quantization": ("fp8", "modelopt_fp4", "unquant"),
    "moe_a2a_backend": ("deepep", "none"),
    "speculative_algorithm": ("EAGLE", "NGRAM"),
    "enable_deterministic_inference": (True,),
    "disable_radix_cache": (True,),
}
ENVIRONMENTS = ({}, {}, {"SGLANG_USE_AITER": "1"}, {"SGLANG_ENABLE_SPEC_V2": "0"})


def varied(fields: set[str], count: int) -> list[Case]:
    source = random.Random(7)
    hardware, models = [*map(hardware_profile, hardware_names())], [*map(model_profile, model_names())]
    cases = []
    for number in range(count):
        names = source.sample(sorted(VALUES), source.randint(0, 4))
        args = {name: source.choice(VALUES[name]) for name in names if name in fields}
        cases.append(
            Case(
                id=str(number),
                args=args,
                hardware=source.choice(hardware),
                model=source.choice(models),
                env=dict(source.choice(ENVIRONMENTS)),
            )
        )
    return cases


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("sliced", [True, False])
def test_every_real_launch_has_an_outcome(version: str, sliced: bool, release: GetRelease) -> None:
    with TreeSubject(SubjectSpec(release(version), sliced, load_profile())) as subject:
        check_launches(subject)


def check_launches(subject: TreeSubject) -> None:
    description = subject.describe()
    cases = launches(subject)
    assert len(cases) == 14
    for outcome in subject.outcomes(cases):
        assert outcome.failure is None, outcome
        if outcome.fields is not None:
            assert tuple(outcome.fields) == description.resolved
        else:
            assert outcome.error is not None and outcome.error.origin


@pytest.mark.parametrize("version", [RELEASES[0], RELEASES[-1]])
@pytest.mark.parametrize("sliced", [True, False])
def test_an_outcome_depends_on_its_case_alone(version: str, sliced: bool, release: GetRelease) -> None:
    with TreeSubject(SubjectSpec(release(version), sliced, load_profile())) as subject:
        check_independence(subject)


def check_independence(subject: TreeSubject) -> None:
    description = subject.describe()
    cases = varied(set(description.fields), 200 if subject.spec.slice else 120)
    in_order = subject.resolve(cases)
    assert sum(map(is_outcome, in_order)) > 0.8 * len(cases)
    # A case for which an answer is missing is as much the same everywhere as any other.
    shuffled = list(range(len(cases)))
    random.Random(3).shuffle(shuffled)
    again = subject.resolve([cases[number] for number in shuffled])
    assert [in_order[number] for number in shuffled] == again
    one_by_one = [subject.resolve([case])[0] for case in cases[:40]]
    assert one_by_one == in_order[:40]
    for number in (3, 77):
        subject.close()
        assert subject.resolve([cases[number]]) == [in_order[number]], cases[number]


SLOTS_14 = (
    "_handle_deprecated_args",
    "__post_init__",  # the quantization opt-out
    "_handle_hpu_backends",
    "_handle_cpu_backends",
    "_handle_npu_backends",
    "_handle_mps_backends",
    "_handle_xpu_backends",
    "__post_init__",  # deterministic inference and allreduce fusion
    "_handle_model_specific_adjustments",
    "_handle_sampling_backend",
    "_handle_deterministic_inference",
    "_handle_attention_backend_compatibility",
    "_handle_kv4_compatibility",
    "_handle_page_size",
    "_handle_data_parallelism",
    "_handle_moe_kernel_config",
    "_handle_a2a_moe",
    "_handle_pipeline_parallelism",
    "handle_speculative_decoding",
    "_handle_load_format",
    "_handle_dllm_inference",
)


def test_slots_of_0_5_14(release: GetRelease) -> None:
    with TreeSubject(SubjectSpec(release("0.5.14"), True, load_profile())) as subject:
        described = subject.describe()
    assert tuple(slot.partition(":")[0] for slot in described.slots) == SLOTS_14
    # enable_tf32_matmul came later; 27 of the 28 fields, and six pieces of state.
    assert len(described.resolved) == 33


HOOKS = ("deepseek_v4_hook", "hisparse_hook", "nemotron_h_hook", "speculative_hook")


def test_write_sites_of_0_5_14(release: GetRelease) -> None:
    srt = release("0.5.14").root / "sglang" / "srt"
    fields = set(load_profile()["slice"]["fields"])
    sites: dict[str, int] = {}
    for file in (srt / "server_args.py", *(srt / "arg_groups" / f"{hook}.py" for hook in HOOKS)):
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                count = sum(_writes(statement, fields) for statement in ast.walk(function))
                if count:
                    sites[function.name] = count
    assert sum(sites.values()) == 173
    # Of these, two are a single statement of a function that otherwise is no part of the slice.
    assert len(sites.keys() - {"__post_init__", "handle_speculative_decoding"}) == 22
    assert sites["_handle_model_specific_adjustments"] == 75


def _writes(statement: ast.AST, fields: set[str]) -> int:
    if not isinstance(statement, ast.Assign):
        return 0
    targets = [
        element
        for target in statement.targets
        for element in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    return sum(
        isinstance(target, ast.Attribute)
        and target.attr in fields
        and isinstance(target.value, ast.Name)
        and target.value.id in ("self", "server_args")
        for target in targets
    )


def _other_interpreters() -> list[str]:
    found = []
    for name in ("python3.10", "python3.11", "python3.12", "python3.13", "python3.14"):
        path = shutil.which(name)
        homes = sorted(Path.home().glob(f".pyenv/versions/{name[6:]}.*/bin/{name}"))
        for candidate in [*map(str, homes), *([path] if path else [])]:
            ran = subprocess.run(
                [candidate, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, check=False
            )
            if ran.returncode == 0:
                found.append(candidate)
                break
    # The oldest and the newest: the rest lies between.
    return found if len(found) < 2 else [found[0], found[-1]]


def test_other_interpreters(release: GetRelease) -> None:
    interpreters = _other_interpreters()
    if not interpreters:
        pytest.skip("needs another Python (3.10 to 3.14) on the machine")
    tree = release("0.5.14")
    with TreeSubject(SubjectSpec(tree, True, load_profile())) as subject:
        subject.describe()
        cases = launches(subject)
        expected = subject.outcomes(cases)
    for python in interpreters:
        with TreeSubject(SubjectSpec(tree, True, load_profile(), python=python)) as subject:
            subject.describe()
            assert subject.outcomes(cases) == expected, python


@pytest.mark.parametrize("version", RELEASES)
def test_a_case_leaves_nothing_to_the_next(version: str, release: GetRelease) -> None:
    """What the first case is the first to import must be there for the second, as if the second came alone."""
    plain = Case(id="plain")
    triggers = [
        {"attn_cp_size": 8},
        {"tp_size": 8, "attn_cp_size": 8},
        {"speculative_algorithm": "EAGLE3"},
        {"speculative_adaptive": True, "speculative_algorithm": "EAGLE"},
        {"enable_hisparse": True},
    ]
    cases = [plain, *(Case(id=str(number), args=args) for number, args in enumerate(triggers))]
    spec = SubjectSpec(release(version), False, load_profile())
    alone = []
    for case in cases:
        with TreeSubject(spec) as subject:
            alone += subject.resolve([case])
    with TreeSubject(spec) as subject:
        assert subject.resolve(cases[::-1]) == alone[::-1]
        assert subject.resolve(cases) == alone
