"""A batch of cases as bytes: what is equal is written the same."""

from __future__ import annotations

import itertools

import msgspec

from harness.subjects.batch import packed
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model

KEYS = ("quant_method", "activation_scheme", "modules_to_not_convert")


def test_a_subject_does_not_see_in_which_order_a_models_keys_came() -> None:
    for number, keys in enumerate(itertools.permutations(KEYS)):
        # Another value each time: no batch can be answered from what was kept of one before.
        model = Model(quantization_config={key: {"b": number, "a": number} for key in keys})
        case = Case(id="one", args={}, hardware=Hardware(platform="cpu"), model=model, env={})
        ((facts, _),) = msgspec.json.decode(msgspec.json.encode(packed([case])["models"]))
        assert list(facts["quantization_config"]) == sorted(KEYS)
        assert {tuple(value) for value in facts["quantization_config"].values()} == {("a", "b")}
