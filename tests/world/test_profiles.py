from __future__ import annotations

from importlib.resources import files

import msgspec
import pytest
from world_strategies import refused

from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import (
    hardware_names,
    hardware_profile,
    model_names,
    model_profile,
    name_of_hardware,
    name_of_model,
    real_launches,
)


def data(name: str) -> dict[str, dict[str, object]]:
    content = (files("harness.world") / "data" / name).read_bytes()
    return msgspec.json.decode(content, type=dict[str, dict[str, object]])


def test_names_stand_in_the_files_order() -> None:
    assert hardware_names() == tuple(data("hardware.json"))
    assert model_names() == tuple(data("models.json"))
    assert len(hardware_names()) == 31 and len(model_names()) == 32


@pytest.mark.parametrize("name", hardware_names())
def test_a_machine_is_what_the_file_says(name: str) -> None:
    machine = hardware_profile(name)
    for key, value in data("hardware.json")[name].items():
        given = getattr(machine, key)
        assert (list(given) if isinstance(given, tuple) else given) == value
    assert name_of_hardware(machine) == name


@pytest.mark.parametrize("name", model_names())
def test_a_model_is_what_the_file_says(name: str) -> None:
    model = model_profile(name)
    for key, value in data("models.json")[name].items():
        assert getattr(model, key) == value
    assert name_of_model(model) == name


def test_what_is_no_profile_has_no_name() -> None:
    assert name_of_hardware(Hardware(memory_mib=1)) is None
    assert name_of_model(Model()) is None


def test_a_model_is_new_every_time() -> None:
    model_profile("gpt-oss-120b").architectures.append("Other")
    assert model_profile("gpt-oss-120b").architectures == ["GptOssForCausalLM"]


def test_an_unknown_profile_is_named_with_the_nearest() -> None:
    sentence = refused(hardware_profile, "h1000", "cases.jsonl:3")
    assert sentence.startswith("cases.jsonl:3: there is no hardware profile 'h1000' (did you mean ")
    assert "'h100'" in sentence
    sentence = refused(model_profile, "deepseek-v3.1", "cases.jsonl:3")
    assert sentence.startswith("cases.jsonl:3: there is no model profile 'deepseek-v3.1' (did you mean ")
    assert "'deepseek-v3'" in sentence
    assert refused(hardware_profile, "").startswith("--hardware: there is no hardware profile ''")
    assert refused(model_profile, "x" * 10**6).startswith("--model: ")


def test_the_real_launches_name_profiles() -> None:
    launches = real_launches()
    assert len(launches) == 14
    assert len({launch.id for launch in launches}) == 14
    for launch in launches:
        hardware_profile(launch.hardware)
        model_profile(launch.model)
        assert launch.command and launch.source
