from __future__ import annotations

import inspect
import threading

import pytest
from hypothesis import given
from world_strategies import hardware

from harness.world import machine, probes
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.machine import OutsideCase, current, simulated
from harness.world.model import Model


@pytest.mark.parametrize("name", [*probes.HARDWARE_PROBES, *probes.CHECKPOINT_PROBES])
def test_every_probe_is_here_under_its_name(name: str) -> None:
    probe = getattr(machine, name)
    assert probe.__name__ == name
    assert probe.__doc__
    assert list(inspect.signature(probe).parameters) == ([] if name in probes.HARDWARE_PROBES else ["path"])


@given(hardware)
def test_probes_answer_as_the_rules_do(described: Hardware) -> None:
    model = Model(gguf=True)
    with simulated(Case(id="c", hardware=described, model=model)):
        for name, rule in probes.HARDWARE_PROBES.items():
            assert getattr(machine, name)() == rule(described)
        for name, of_model in probes.CHECKPOINT_PROBES.items():
            assert getattr(machine, name)("anywhere") == of_model(model)


def test_outside_a_case_nothing_answers() -> None:
    for name in probes.HARDWARE_PROBES:
        with pytest.raises(OutsideCase):
            getattr(machine, name)()
    with pytest.raises(OutsideCase):
        machine.check_gguf_file("org/model")
    with simulated(Case(id="c")):
        assert machine.is_cpu()
    with pytest.raises(OutsideCase):
        current()


def test_a_case_ends_when_its_block_raises() -> None:
    with pytest.raises(KeyError), simulated(Case(id="c")):
        raise KeyError
    with pytest.raises(OutsideCase):
        current()


def test_the_case_before_comes_back() -> None:
    with simulated(Case(id="outer", hardware=Hardware(platform="hip"))):
        with simulated(Case(id="inner", hardware=Hardware(platform="xpu"))):
            assert machine.is_xpu()
        assert machine.is_hip()


def test_another_thread_is_in_no_case() -> None:
    seen: list[bool] = []

    def ask() -> None:
        try:
            machine.is_cpu()
        except OutsideCase:
            seen.append(True)

    with simulated(Case(id="c")):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert seen == [True]


def test_the_environment_is_a_copy_whose_watched_changes_are_told() -> None:
    given_env = {"SGLANG_A": "1", "SGLANG_B": "1", "NCCL_C": "1", "OTHER": "1"}
    with simulated(Case(id="c", env=dict(given_env))) as world:
        assert world.changed_environment() == {}
        world.env.update({"SGLANG_A": "1", "SGLANG_B": "2", "OTHER": "2", "SGLANG_NEW": ""})
        del world.env["NCCL_C"]
        assert world.changed_environment() == {"NCCL_C": None, "SGLANG_B": "2", "SGLANG_NEW": ""}
    with simulated(Case(id="c", env=given_env)) as world:
        assert world.env == given_env


def test_the_model_configuration_is_one_object_a_case() -> None:
    with simulated(Case(id="c")) as first:
        assert first.model_config is first.model_config
    with simulated(Case(id="c")) as second:
        assert second.model_config is not first.model_config
