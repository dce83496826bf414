from __future__ import annotations

import os

import pytest

from harness.world.case import Case
from harness.world.environ import EnvBool, EnvFloat, EnvInt, Envs, EnvStr, envs
from harness.world.machine import OutsideCase, simulated


class Made:
    SWITCH = EnvBool(False)
    ON = EnvBool(True)
    COUNT = EnvInt(7)
    PART = EnvFloat(0.5)
    TEXT = EnvStr("text")
    NOTHING = EnvStr(None)


made = Made()


def in_environment(**env: str) -> Case:
    return Case(id="c", env=env)


def test_what_is_not_set_is_the_default() -> None:
    with simulated(in_environment()):
        assert (made.SWITCH.get(), made.ON.get(), made.COUNT.get(), made.PART.get()) == (False, True, 7, 0.5)
        assert (made.TEXT.get(), made.NOTHING.get()) == ("text", None)
        assert not made.SWITCH.is_set()


@pytest.mark.parametrize("text", ["true", "TRUE", "1", "yes", "Y"])
def test_texts_that_are_true(text: str) -> None:
    with simulated(in_environment(SWITCH=text)):
        assert made.SWITCH.get() is True


@pytest.mark.parametrize("text", ["false", "False", "0", "no", "N"])
def test_texts_that_are_false(text: str) -> None:
    with simulated(in_environment(ON=text)):
        assert made.ON.get() is False


@pytest.mark.parametrize("text", ["", " 1", "on", "2"])
def test_a_switch_of_the_wrong_form_is_set_and_has_its_default(text: str) -> None:
    with simulated(in_environment(SWITCH=text, ON=text)):
        assert (made.SWITCH.get(), made.ON.get()) == (False, True)
        assert made.SWITCH.is_set()


def test_numbers_are_read_as_python_reads_them() -> None:
    with simulated(in_environment(COUNT=" 1_000 ", PART="1e-3")):
        assert (made.COUNT.get(), made.PART.get()) == (1000, 0.001)
    with simulated(in_environment(COUNT="1.5", PART="half")):
        assert (made.COUNT.get(), made.PART.get()) == (7, 0.5)


def test_writing_is_seen_by_reading_and_told_as_text() -> None:
    case = Case(id="c", env={"SGLANG_USE_AITER": "1"})
    with simulated(case) as world:
        envs.SGLANG_USE_AITER.set(False)
        envs.SGLANG_VLM_CACHE_SIZE_MB.set(0)
        envs.NCCL_ALGO.set("Ring")
        assert envs.SGLANG_USE_AITER.get() is False
        assert envs.SGLANG_VLM_CACHE_SIZE_MB.is_set()
        assert world.changed_environment() == {
            "NCCL_ALGO": "Ring",
            "SGLANG_USE_AITER": "False",
            "SGLANG_VLM_CACHE_SIZE_MB": "0",
        }
    assert case.env == {"SGLANG_USE_AITER": "1"}
    assert "SGLANG_VLM_CACHE_SIZE_MB" not in os.environ


def test_an_accessor_says_nothing_by_itself() -> None:
    with simulated(in_environment()), pytest.raises(TypeError, match=r"envs\.SWITCH\.get"):
        bool(made.SWITCH)


def test_outside_a_case_there_is_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_USE_AITER", "1")
    for ask in (envs.SGLANG_USE_AITER.get, envs.SGLANG_USE_AITER.is_set, lambda: envs.SGLANG_USE_AITER.set(True)):
        with pytest.raises(OutsideCase):
            ask()


def test_every_variable_knows_its_own_name() -> None:
    for name, field in vars(Envs).items():
        if not name.startswith("__"):
            assert field.name == name
