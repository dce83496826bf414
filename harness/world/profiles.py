"""The built-in machines, models and real launch commands, out of the package's data files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.world.hardware import Hardware, hardware_from_json
from harness.world.model import Model, model_from_json
from harness.world.wording import brief, suggest


class Launch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command somebody runs in public.

    ``model`` and ``hardware`` are profiles' names; ``source`` says where the command stands.
    """

    id: str
    model: str
    hardware: str
    command: str
    env: dict[str, str]
    source: str


def hardware_profile(name: str, where: str = "--hardware") -> Hardware:
    """Return the machine called ``name``; ``where`` is the place of the name, for the error.

    Raises UsageError with the nearest names for one that does not exist.
    """
    try:
        return _hardware()[name]
    except KeyError:
        raise UsageError(_unknown("hardware", name, hardware_names(), where)) from None


def model_profile(name: str, where: str = "--model") -> Model:
    """Return a new Model of the profile called ``name``; ``where`` is the place of the name, for the error.

    New, because a model holds lists and objects that nobody else's change may reach. Raises UsageError
    with the nearest names for a profile that does not exist.
    """
    data = _model_data().get(name)
    if data is None:
        raise UsageError(_unknown("model", name, model_names(), where))
    return model_from_json(msgspec.json.decode(data), where, name)


def hardware_names() -> tuple[str, ...]:
    """Return the machines' names, in the data file's order."""
    return tuple(_hardware())


def model_names() -> tuple[str, ...]:
    """Return the models' names, in the data file's order."""
    return tuple(_model_data())


def name_of_hardware(hardware: Hardware) -> str | None:
    """Return the name of the profile equal to ``hardware``, None if there is none."""
    return _hardware_by_identity().get(hardware.identity())


def name_of_model(model: Model) -> str | None:
    """Return the name of the profile equal to ``model``, None if there is none."""
    return _models_by_identity().get(model.identity())


@cache
def real_launches() -> tuple[Launch, ...]:
    """Return the real launch commands, in the data file's order."""
    lines = _read("launches.jsonl").splitlines()
    return tuple(msgspec.json.decode(line, type=Launch) for line in lines if line.strip())


def _unknown(kind: str, name: str, names: tuple[str, ...], where: str) -> str:
    return f"{where}: there is no {kind} profile {brief(name)}{suggest(name, names)}"


def _read(file: str) -> bytes:
    return (files("harness.world") / "data" / file).read_bytes()


@cache
def _hardware() -> Mapping[str, Hardware]:
    objects: dict[str, Any] = msgspec.json.decode(_read("hardware.json"))
    return {name: hardware_from_json(value, "hardware.json", name) for name, value in objects.items()}


@cache
def _model_data() -> Mapping[str, msgspec.Raw]:
    return msgspec.json.decode(_read("models.json"), type=dict[str, msgspec.Raw])


@cache
def _hardware_by_identity() -> Mapping[bytes, str]:
    by_identity: dict[bytes, str] = {}
    for name, hardware in _hardware().items():
        by_identity.setdefault(hardware.identity(), name)
    return by_identity


@cache
def _models_by_identity() -> Mapping[bytes, str]:
    by_identity: dict[bytes, str] = {}
    for name in model_names():
        by_identity.setdefault(model_profile(name).identity(), name)
    return by_identity
