"""A case as a person would launch it: a command line to paste, and the machine and the model in words."""

from __future__ import annotations

import json
import shlex
from typing import Any, NamedTuple

import msgspec

from harness.common.convert import changes
from harness.common.errors import visible
from harness.formats.contract import encode_case
from harness.formats.launch import LAUNCH, LaunchFlags
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import name_of_hardware, name_of_model


class Launch(NamedTuple):
    """A case in words: ``command`` launches it, and ``world`` is the machine and the model that it runs on.

    ``world`` is empty if launches of the subjects have neither.
    """

    command: str
    world: str


def launch_of(case: Case, flags: LaunchFlags) -> Launch:
    """Return a case in words; ``flags`` says how its arguments are written."""
    return Launch(launch_command(case, flags), world_words(case, flags))


def quoted(text: str) -> str:
    """Return ``text`` quoted as one word for a shell.

    Text with characters that a terminal would not show is written as bash's ``$'...'``, with escapes.
    """
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_in_dollar_quotes, text)) + "'"


def _in_dollar_quotes(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char.isprintable():
        return char
    # In bash \xNN is a byte, and \UNNNNNNNN is a character.
    return f"\\x{ord(char):02x}" if char.isascii() else f"\\U{ord(char):08x}"


def launch_command(case: Case, flags: LaunchFlags) -> str:
    """Return the command that launches the case, with the environment variables in front.

    Values that no flag can express (a switch that is off, a field without a flag) follow in a shell comment, as
    ``# field=value``.
    """
    words = [f"{name}={quoted(value)}" for name, value in sorted(case.env.items())]
    words += flags.program
    if flags.program == LAUNCH and "model_path" not in case.args:
        words += ["--model-path", "org/model"]
    unsaid = []
    for name, value in sorted(case.args.items()):
        flag = flags.names.get(name)
        if value is False and name in flags.off:
            words.append(flags.off[name])
        elif flag is None or value is False or value is None:
            unsaid.append(f"{name}={json.dumps(value)}")
        elif value is True:
            words.append(flag)
        elif isinstance(value, list):
            words += [flag, *(quoted(str(item)) for item in value)]
        else:
            text = json.dumps(value) if isinstance(value, dict) else str(value)
            words += [flag, quoted(text)]
    return " ".join([*words, *(["#", *map(visible, unsaid)] if unsaid else [])])


def resolve_command(case: Case, subject: str, flags: LaunchFlags, *others: str) -> str:
    """Return the ``stackproof resolve`` command that shows how ``subject`` and ``others`` resolve the case."""
    parts = msgspec.json.decode(encode_case(case))
    words = ["stackproof", "resolve", *(word for name in (subject, *others) for word in ("--subject", name))]
    for name in flags.takes:
        words += [f"--{name}", parts[name] if isinstance(parts[name], str) else json.dumps(parts[name])]
    return f"{' '.join(map(quoted, words))} -- {launch_command(case, flags)}"


def world_words(case: Case, flags: LaunchFlags) -> str:
    """Return the machine and the model of a case in words, those of the two that launches have (``flags.takes``)."""
    words = {"hardware": machine_words(case.hardware), "model": model_words(case.model)}
    return "; ".join(words[name] for name in flags.takes)


def machine_words(hardware: Hardware, *, named: bool = True) -> str:
    """Return the name of the equal profile, or else the platform and the attributes that are not the default.

    Without ``named`` the attributes are returned even if a profile is equal.
    """
    if hardware == Hardware():
        return f"default machine ({hardware.platform})"
    name = name_of_hardware(hardware) if named else None
    if name is not None:
        return name
    changed = changes(hardware, Hardware())
    words = [str(changed.pop("platform", hardware.platform))]
    if hardware.capability is not None:
        major, minor = changed.pop("capability", hardware.capability)
        words.append(f"capability {major}.{minor}")
    words += [f"{name.replace('_', ' ')} {_plain(value)}" for name, value in changed.items()]
    return visible(", ".join(words))


def model_words(model: Model) -> str:
    """Return the name of the equal profile, or else the architectures and the attributes that are not the default."""
    if model == Model():
        return f"default model ({model.architectures[0]})"
    named = name_of_model(model)
    if named is not None:
        return named
    changed = changes(model, Model())
    words = ["/".join(changed.pop("architectures", model.architectures))]
    words += [f"{name.replace('_', ' ')} {_plain(value)}" for name, value in changed.items()]
    return visible(", ".join(words))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
