from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_strategies import hardware, refused

from harness.common.convert import words_for
from harness.world.hardware import Hardware, hardware_from_json


def test_the_defaults_are_the_contracts() -> None:
    assert msgspec.structs.asdict(hardware_from_json({}, "x:1")) == {
        "platform": "cpu",
        "capability": None,
        "cuda_version": None,
        "driver": None,
        "memory_mib": 262144,
        "flashinfer": False,
        "triton_kernels": False,
        "amx": False,
        "xmx": False,
        "aiter_preshuffle": False,
        "host": "x86_64",
    }


def test_every_key_has_its_words() -> None:
    assert all(words_for(field.type) for field in msgspec.structs.fields(Hardware))


@given(hardware, hardware)
def test_identity_and_hash_follow_equality(one: Hardware, other: Hardware) -> None:
    assert (one == other) == (one.identity() == other.identity())
    again = hardware_from_json(msgspec.json.decode(one.identity()), "x:1")
    assert again == one and hash(again) == hash(one) and again.identity() == one.identity()


@pytest.mark.parametrize(
    ("key", "value", "parts"),
    [
        ("platform", "cude", ["one of cuda, hip", "not 'cude'", "did you mean 'cuda'"]),
        ("platform", None, ["not null"]),
        ("platform", "x" * 10**6, ["one of cuda, hip"]),
        ("host", "x86", ["one of x86_64, arm64", "'x86_64'"]),
        ("capability", [9], ["[major, minor]", "not [9]"]),
        ("capability", ["9", 0], ["[major, minor]"]),
        ("capability", [-1, 0], ["[major, minor]"]),
        ("cuda_version", "12", ["'12.9'", "not '12'"]),
        ("cuda_version", "12.9\n", ["'12.9'"]),
        ("cuda_version", 12.9, ["a string", "not 12.9"]),
        ("driver", 0, ["positive integer"]),
        ("memory_mib", 0, ["positive integer (MiB)", "not 0"]),
        ("memory_mib", True, ["not true"]),
        ("memory_mib", 10**30, ["positive integer (MiB)"]),
        ("flashinfer", 1, ["true or false", "not 1"]),
    ],
)
def test_a_wrong_value_is_named(key: str, value: object, parts: list[str]) -> None:
    sentence = refused(hardware_from_json, {"amx": True, key: value}, "cases.jsonl:3")
    assert sentence.startswith(f"cases.jsonl:3: hardware.{key} must be ")
    for part in parts:
        assert part in sentence


def test_an_unknown_key_is_named_with_the_nearest() -> None:
    sentence = refused(hardware_from_json, {"memory": 1}, "cases.jsonl:3")
    assert sentence == "cases.jsonl:3: unknown key hardware.memory (did you mean 'memory_mib'?)"


@given(st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers()))
def test_what_is_no_object_is_refused(value: object) -> None:
    assert "x:1: hardware must be an object" in refused(hardware_from_json, value, "x:1")
