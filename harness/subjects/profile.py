"""The profile of a tree: which modules are loaded, which get stand-ins, and how a case answers for the stand-ins.

The built-in profile is ``sglang.toml`` beside this module; a user's answers file adds to it.
"""

from __future__ import annotations

import copy
import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from harness.common.errors import UsageError, hint
from harness.common.toml import read_toml
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.probes import checkpoint_answers, probe_answers

Profile = dict[str, Any]

# What an answers file may have: tables, and lists of modules.
_TABLES = ("answers", "imports", "partial")
_LISTS = ("real", "installed")
# The keys of an answer. It has exactly one of the first, which say what kind of answer it is.
_SPEC_KEYS = ("value", "none", "from", "case", "object", "tree", "function", "all", "call", "per_rank")
_EXTRA_KEYS = ("name", "attribute", "tuple", "of", "arguments", "absent_if_none")


_OUTER_KEYS = ("name", "attribute")


@functools.cache
def _builtin() -> Profile:
    text = resources.files("harness.subjects").joinpath("sglang.toml").read_text(encoding="utf-8")
    profile: Profile = tomllib.loads(text)
    probes = profile.pop("probes")
    for name in probes["names"]:
        profile["answers"].append({"name": f"{probes['module']}.{name}", "from": f"probe.{name}"})
    return profile


def load_profile(answers: Path | None = None) -> Profile:
    """Return the built-in profile with the entries of the file ``answers`` added.

    An entry replaces the built-in one of the same name. Raises UsageError if the file cannot be read, is not TOML, or
    has a key or an answer that means nothing.
    """
    profile: Profile = {
        key: list(value) if key in (*_TABLES, *_LISTS) else value for key, value in _builtin().items()
    }
    if answers is None:
        return profile
    added = _read(answers)
    for key in _TABLES:
        entries = added.get(key, [])
        if key == "answers":
            for entry in entries:
                _add_answer(profile[key], entry)
            continue
        names = {entry.get("name", entry.get("module")) for entry in entries}
        kept = [entry for entry in profile[key] if entry.get("name", entry.get("module")) not in names]
        profile[key] = kept + entries
    for key in _LISTS:
        profile[key] = profile[key] + added.get(key, [])
    return profile


def callable_profile(domains: Mapping[str, Sequence[Any]]) -> Profile:
    """Return the profile of a user's callable, which has no stand-ins.

    ``domains`` has values for arguments that the user lists by hand.
    """
    return {
        "slice": {"fields": [], "state": []},
        "values": {name: list(values) for name, values in domains.items()},
        "not_drawn": [],
        "entry_state": {},
    }


def entry_of(profile: Profile, *, sliced: bool) -> dict[str, Any]:
    """Return the starting values, other than the default, of arguments that a case does not set.

    Each is an answer. A slice starts in the middle of the construction, so it needs the values that the part before
    it would have set. A whole construction needs only the values that follow from the machine.
    """
    entry: dict[str, Any] = {
        name: answer for name, answer in profile["entry_state"].items() if sliced or "from" in answer
    }
    if sliced:
        entry[profile["config"]["field"]] = {"value": profile["config"]["default"]}
    return entry


def _read(path: Path) -> dict[str, Any]:
    added = read_toml(path, f"answers file {path}")
    for key, value in added.items():
        if key in _LISTS:
            if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
                raise UsageError(f"answers file {path}: {key!r} must be a list of module names")
        elif key in _TABLES:
            if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
                raise UsageError(f"answers file {path}: write {key!r} as tables, [[{key}]]")
            for number, entry in enumerate(value, 1):
                _check_entry(entry, key, f"answers file {path}: [[{key}]] number {number}")
        else:
            raise UsageError(f"answers file {path}: unknown table {key!r}{hint(key, (*_TABLES, *_LISTS))}")
    return added


def _check_entry(entry: dict[str, Any], table: str, where: str) -> None:
    if table == "partial":
        if not isinstance(entry.get("module"), str) or not isinstance(entry.get("names"), list):
            raise UsageError(f"{where} needs 'module' (a dotted name) and 'names' (a list)")
        return
    if not isinstance(entry.get("name"), str):
        raise UsageError(f"{where} has no 'name', the dotted name that the answer is for")
    where = f"{where} ({entry['name']})"
    if table == "imports" and type(entry.get("value", True)) is not bool:
        raise UsageError(f"{where}: 'value' is true or false, whether the import succeeds")
    _check_spec({key: value for key, value in entry.items() if key != "name"}, where)


def _check_spec(spec: object, where: str) -> None:
    if not isinstance(spec, dict):
        raise UsageError(f"{where}: an answer is a table such as {{ value = true }}")
    for key in spec:
        if key not in (*_SPEC_KEYS, *_EXTRA_KEYS):
            raise UsageError(f"{where}: unknown key {key!r}{hint(key, (*_SPEC_KEYS, *_EXTRA_KEYS))}")
    given = [key for key in _SPEC_KEYS if key in spec]
    if len(given) != 1:
        raise UsageError(f"{where} needs exactly one of {', '.join(_SPEC_KEYS)}, and has {len(given)}")
    for key in ("from", "case", "per_rank"):
        if key in spec:
            _check_fact(spec[key], where)
    if "case" in spec:
        if not isinstance(spec.get("of"), dict) or not spec["of"]:
            raise UsageError(f"{where}: 'case' needs 'of', one answer for each value")
        for value in spec["of"].values():
            _check_spec(value, where)
    if "object" in spec:
        if not isinstance(spec["object"], dict):
            raise UsageError(f"{where}: 'object' is a table of attributes, each an answer")
        for attribute, value in spec["object"].items():
            _check_spec(value, f"{where}.{attribute}")
    if "call" in spec:
        _check_spec(spec["call"], where)
    if "all" in spec:
        if not isinstance(spec["all"], list):
            raise UsageError(f"{where}: 'all' is a list of answers")
        for part in spec["all"]:
            _check_spec(part, where)
    for key in ("tree", "function"):
        if key in spec and not (isinstance(spec[key], str) and spec[key].count(":") == 1):
            raise UsageError(f"{where}: {key!r} is 'module:name' of the tree")
    if spec.get("none", True) is not True:
        raise UsageError(f"{where}: 'none' is true or left out")
    if spec.get("tuple") and not ("from" in spec or isinstance(spec.get("value"), list)):
        raise UsageError(f"{where}: 'tuple' is for a list, in 'value' or by 'from'")
    if "function" in spec:
        if not isinstance(spec.get("arguments", []), list):
            raise UsageError(f"{where}: 'arguments' is a list of facts")
        for fact in spec.get("arguments", []):
            _check_fact(fact, where)
        spec.setdefault("arguments", [])


@functools.cache
def _known_facts() -> frozenset[str]:
    hardware, model = Hardware(), Model()
    names = {f"hardware.{name}" for name in Hardware.__struct_fields__}
    names |= {f"model.{name}" for name in Model.__struct_fields__}
    names |= {f"probe.{name}" for name in probe_answers(hardware)}
    names |= {f"checkpoint.{name}" for name in checkpoint_answers(model)}
    return frozenset(names)


def _check_fact(path: object, where: str) -> None:
    """Raise UsageError for a fact that no case has, so that a misspelt one is reported before the first case."""
    if not isinstance(path, str) or path not in _known_facts():
        raise UsageError(f"{where}: the case has no fact {path!r}{hint(str(path), _known_facts())}")


def answer_for(detail: str) -> str:
    """Return the lines to add to an answers file for a failure of kind ``unanswered``; empty if no answer can help.

    ``detail`` is the failure's detail: the path, what was done with it, and perhaps the function in brackets.
    """
    path, _, how = re.sub(r" \(in \w+\)$", "", detail).partition(" ")
    return answer_example(path, how)


def answer_example(path: str, how: str) -> str:
    """Return the lines to add to an answers file for the unanswered name ``path``.

    A path is a dotted name in which ``()`` stands for a call: ``torch.compile().mode``. The answer is empty if
    ``path`` is something else, such as a file that was opened or a process that was started.
    """
    if how == "was imported" or how.startswith("was tried for"):
        return f'[[imports]]\nname = "{path}"\nvalue = true            # or: from = "hardware.flashinfer"'
    if not how.startswith("was ") or not re.fullmatch(r"[\w.]+(\(\)|\.\w+)*", path):
        return ""
    if how == "was called":
        path += "()"
    name, called, steps = path.partition("()")
    answer = "value = false"
    for step in reversed(re.findall(r"\(\)|\w+", steps)):
        answer = f"call = {{ {answer} }}" if step == "()" else f"object = {{ {step} = {{ {answer} }} }}"
    kind = "" if called else "attribute = true\n"
    return f'[[answers]]\nname = "{name}"\n{kind}{answer}           # or: from = "hardware.platform", ...'


def _add_answer(answers: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    """Add ``entry`` to ``answers``.

    It replaces an answer of the same name. If its name is in an object that another answer describes, it becomes an
    attribute of that object.
    """
    for number, answer in enumerate(answers):
        if answer["name"] == entry["name"]:
            answers[number] = entry
            return
        if "object" in answer and entry["name"].startswith(f"{answer['name']}."):
            *owners, attribute = entry["name"].removeprefix(f"{answer['name']}.").split(".")
            answer = answers[number] = copy.deepcopy(answer)
            described = answer["object"]
            for owner in owners:
                described = described.get(owner, {}).get("object") if described is not None else None
            if described is not None:
                described[attribute] = {key: value for key, value in entry.items() if key not in _OUTER_KEYS}
                return
    answers.append(entry)
