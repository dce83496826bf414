from __future__ import annotations

import json

import pytest
from hypothesis import given
from world_strategies import hardware

from harness.world import probes
from harness.world.hardware import PLATFORMS, Hardware
from harness.world.model import Model
from harness.world.probes import (
    CHECKPOINT_PROBES,
    HARDWARE_PROBES,
    checkpoint_answers,
    probe_answers,
)
from harness.world.profiles import hardware_names, hardware_profile


def cuda(major: int, minor: int, version: str | None) -> Hardware:
    return Hardware(platform="cuda", capability=(major, minor), cuda_version=version)


GENERATIONS = (
    "is_sm80_supported",
    "is_ampere_with_cuda_12_3",
    "is_sm90_supported",
    "is_hopper_with_cuda_12_3",
    "is_sm100_supported",
    "is_sm120_supported",
    "is_blackwell_supported",
    "is_blackwell",
)
AMPERE = {"is_sm80_supported", "is_ampere_with_cuda_12_3"}
HOPPER = {"is_sm90_supported", "is_hopper_with_cuda_12_3"}
BLACKWELL = {"is_blackwell_supported", "is_blackwell"}


@pytest.mark.parametrize(
    ("major", "version", "expected"),
    [
        (7, "12.9", set()),
        (8, "10.9", set()),
        (8, "11.0", {"is_sm80_supported"}),
        (8, "12.2", {"is_sm80_supported"}),
        (8, "12.3", AMPERE),
        (9, "12.2", set()),
        (9, "12.3", HOPPER),
        (9, "12.10", HOPPER),
        (9, "13.0", HOPPER),
        (10, "12.7", set()),
        (10, "12.8", BLACKWELL | {"is_sm100_supported"}),
        (10, "13.0", BLACKWELL | {"is_sm100_supported"}),
        (11, "12.7", set()),
        (11, "12.8", BLACKWELL),
        (12, "12.7", set()),
        (12, "12.8", BLACKWELL | {"is_sm120_supported"}),
        (13, "13.0", set()),
    ],
)
def test_generations_begin_at_the_contracts_boundaries(major: int, version: str, expected: set[str]) -> None:
    answers = probe_answers(cuda(major, 0, version))
    assert {name for name in GENERATIONS if answers[name]} == expected


def test_no_generation_without_cuda() -> None:
    machines = [cuda(10, 0, None), Hardware(platform="cuda", cuda_version="12.9")]
    machines += [
        Hardware(platform=platform, capability=(9, 0), cuda_version="12.9")  # type: ignore[arg-type]
        for platform in PLATFORMS
        if platform != "cuda"
    ]
    for machine in machines:
        answers = probe_answers(machine)
        assert not any(answers[name] for name in GENERATIONS)


def test_exactly_the_platforms_own_predicates_hold() -> None:
    for platform in PLATFORMS:
        answers = probe_answers(Hardware(platform=platform))  # type: ignore[arg-type]
        assert [other for other in PLATFORMS if answers[f"is_{other}"]] == [platform]
        assert answers["is_cuda_alike"] == (platform in ("cuda", "hip"))
        assert answers["is_habana_available"] == (platform == "hpu")
        assert answers["get_device"] == ("cuda" if platform in ("cuda", "hip", "musa") else platform)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("h100", {"get_device_capability": [9, 0], "get_device_sm": 90, "get_cuda_version": [12, 9]}),
        ("h100", {"is_flashinfer_available": True, "is_triton_kernels_available": True}),
        ("h100", {"get_device_memory_capacity": 81559, "get_nvidia_driver_version": [580]}),
        ("h100-cuda12.1", {"is_sm90_supported": False, "get_device_sm": 90}),
        ("b200-driver595", {"get_nvidia_driver_version": [595], "is_sm100_supported": True}),
        ("b300", {"get_device_sm": 103, "is_sm100_supported": True}),
        ("thor", {"is_blackwell_supported": True, "is_sm100_supported": False, "is_host_cpu_arm64": True}),
        ("dgx-spark", {"get_device_sm": 121, "is_sm120_supported": True}),
        ("mi300x", {"get_device_sm": 94, "is_gfx942_supported": True, "mxfp_supported": False}),
        ("mi300x", {"aiter_can_use_preshuffle_paged_mqa": False, "is_flashinfer_available": False}),
        ("mi355x", {"is_gfx95_supported": True, "aiter_can_use_preshuffle_paged_mqa": True}),
        ("mi355x", {"get_nvidia_driver_version": [0], "get_cuda_version": [0, 0]}),
        ("ascend-910b4", {"get_npu_memory_capacity": 32768, "get_device_capability": [None, None]}),
        ("arc-b60", {"xpu_has_xmx_support": True, "get_device_sm": 0}),
        ("xpu-no-xmx", {"xpu_has_xmx_support": False}),
        ("xeon-amx", {"cpu_has_amx_support": True, "is_host_cpu_x86": True}),
        ("xeon-no-amx", {"cpu_has_amx_support": False, "get_device_capability": [None, None]}),
        ("graviton4", {"is_host_cpu_arm64": True, "is_host_cpu_x86": False}),
        ("mtt-s5000", {"get_device_sm": 31, "get_device_capability": [3, 1], "is_musa": True}),
    ],
)
def test_profiles_answer(name: str, expected: dict[str, object]) -> None:
    answers = probe_answers(hardware_profile(name))
    assert {probe: answers[probe] for probe in expected} == expected


def test_a_package_counts_only_on_its_platform() -> None:
    everything = {"flashinfer": True, "triton_kernels": True, "xmx": True, "aiter_preshuffle": True}
    for platform in PLATFORMS:
        answers = probe_answers(Hardware(platform=platform, **everything))  # type: ignore[arg-type]
        assert answers["is_flashinfer_available"] == (platform == "cuda")
        assert answers["xpu_has_xmx_support"] == (platform == "xpu")
        assert answers["aiter_can_use_preshuffle_paged_mqa"] == (platform == "hip")
        assert answers["is_triton_kernels_available"] is True


@given(hardware)
def test_answers_are_plain_json_from_the_one_table(machine: Hardware) -> None:
    answers = probe_answers(machine)
    assert json.loads(json.dumps(answers)) == answers
    assert list(answers) == list(HARDWARE_PROBES)
    for name, answer in answers.items():
        direct = getattr(probes, name)(machine)
        assert answer == (list(direct) if isinstance(direct, tuple) else direct)


def test_every_public_probe_is_in_a_table() -> None:
    functions = {
        name
        for name, value in vars(probes).items()
        if callable(value) and getattr(value, "__module__", None) == probes.__name__ and name[0] != "_"
    }
    assert functions - {"probe_answers", "checkpoint_answers"} == {*HARDWARE_PROBES, *CHECKPOINT_PROBES}


def test_every_profile_answers() -> None:
    for name in hardware_names():
        assert len(probe_answers(hardware_profile(name))) == len(HARDWARE_PROBES)


def test_the_checkpoint_answers() -> None:
    assert checkpoint_answers(Model()) == {"has_fp8_weights_in_checkpoint": False, "check_gguf_file": False}
    assert checkpoint_answers(Model(fp8_weights=True))["has_fp8_weights_in_checkpoint"] is True
    assert checkpoint_answers(Model(gguf=True))["check_gguf_file"] is True


def test_an_answer_that_json_cannot_carry_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HARDWARE_PROBES, "is_cuda", lambda _: {1})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="JSON cannot carry"):
        probe_answers(Hardware())
