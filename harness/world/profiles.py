"""Profiles, which are machines and models with a name, built in or a user's own; and published launch commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar, cast

import msgspec

from harness.common.errors import UsageError
from harness.common.wording import brief, suggest
from harness.world.hardware import Hardware, hardware_from_json
from harness.world.model import Model, model_from_json


class PublishedLaunch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A published launch command.

    ``model`` and ``hardware`` are names of profiles. ``source`` is the address where the command was published.
    """

    id: str
    model: str
    hardware: str
    command: str
    env: dict[str, str]
    source: str


class OwnProfiles(msgspec.Struct, frozen=True, kw_only=True):
    """A user's own profiles, by name; one with the name of a built-in profile replaces it."""

    hardware: dict[str, Hardware] = {}
    models: dict[str, Model] = {}


_Kept = TypeVar("_Kept", bound=Callable[[], Any])
_own = OwnProfiles()
_made_of_profiles: list[Any] = []


def use_profiles(own: OwnProfiles) -> None:
    """Use the profiles ``own`` in this process, besides the built-in ones; they replace those of an earlier call."""
    global _own
    if own != _own:
        _own = own
        for kept in _made_of_profiles:
            kept.cache_clear()


def own_profiles() -> OwnProfiles:
    """Return the user's own profiles that this process uses."""
    return _own


def per_profiles(function: _Kept) -> _Kept:
    """Cache what ``function`` returns until `use_profiles` changes the profiles."""
    kept = cache(function)
    _made_of_profiles.append(kept)
    return cast(_Kept, kept)


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

    It is new because the caller may change its lists and objects. Raises UsageError with the nearest names for a
    profile that does not exist.
    """
    data = _model_data().get(name)
    if data is None:
        raise UsageError(_unknown("model", name, model_names(), where))
    return model_from_json(msgspec.json.decode(data), where, name)


def hardware_names() -> tuple[str, ...]:
    """Return the machines' names, in the data file's order, a user's own after them."""
    return tuple(_hardware())


def model_names() -> tuple[str, ...]:
    """Return the models' names, in the data file's order, a user's own after them."""
    return tuple(_model_data())


@per_profiles
def hardware_profiles() -> tuple[Hardware, ...]:
    """Return the machines, in the order of their names."""
    return tuple(map(hardware_profile, hardware_names()))


@per_profiles
def model_profiles() -> tuple[Model, ...]:
    """Return the models, in the order of their names; they are shared, so do not change them."""
    return tuple(map(model_profile, model_names()))


def name_of_hardware(hardware: Hardware) -> str | None:
    """Return the name of the profile equal to ``hardware``, None if there is none."""
    return _hardware_by_identity().get(hardware.identity())


def name_of_model(model: Model) -> str | None:
    """Return the name of the profile equal to ``model``, None if there is none."""
    return _models_by_identity().get(model.identity())


@cache
def real_launches() -> tuple[PublishedLaunch, ...]:
    """Return the real launch commands, in the data file's order."""
    lines = _read("launches.jsonl").splitlines()
    return tuple(msgspec.json.decode(line, type=PublishedLaunch) for line in lines if line.strip())


def _unknown(kind: str, name: str, names: tuple[str, ...], where: str) -> str:
    return f"{where}: there is no {kind} profile {brief(name)}{suggest(name, names)}"


def _read(file: str) -> bytes:
    return (files("harness.world") / "data" / file).read_bytes()


@per_profiles
def _hardware() -> Mapping[str, Hardware]:
    objects: dict[str, Any] = msgspec.json.decode(_read("hardware.json"))
    built_in = {name: hardware_from_json(value, "hardware.json", name) for name, value in objects.items()}
    return {**built_in, **_own.hardware}


@per_profiles
def _model_data() -> Mapping[str, msgspec.Raw]:
    own = {name: msgspec.Raw(msgspec.json.encode(model)) for name, model in _own.models.items()}
    return {**msgspec.json.decode(_read("models.json"), type=dict[str, msgspec.Raw]), **own}


@per_profiles
def _hardware_by_identity() -> Mapping[bytes, str]:
    by_identity: dict[bytes, str] = {}
    for name, hardware in _hardware().items():
        by_identity.setdefault(hardware.identity(), name)
    return by_identity


@per_profiles
def _models_by_identity() -> Mapping[bytes, str]:
    by_identity: dict[bytes, str] = {}
    for name in model_names():
        by_identity.setdefault(model_profile(name).identity(), name)
    return by_identity
