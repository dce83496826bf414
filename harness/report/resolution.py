"""Shows or writes what one subject resolves cases to."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError, visible
from harness.report.words import machine_words, model_words
from harness.subjects.open import open_subject
from harness.subjects.profile import answer_for
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case, Outcome
from harness.world.chain import Write, Writer
from harness.world.contract import encode_outcome, read_cases, write_atomically
from harness.world.fields import FieldSpec
from harness.world.hardware import Hardware, hardware_from_json
from harness.world.launch import LaunchLine, split_launch
from harness.world.model import Model, model_from_json
from harness.world.profiles import hardware_profile, model_profile
from harness.world.slice import ENTRY_STATE

_BATCH = 250
Place = tuple[str, str, int]
"""A field, a file and a line."""


def resolve_file(spec: SubjectSpec, cases_path: Path, out: Path | None) -> bool:
    """Write the outcome of each case of ``cases_path`` to ``out`` (standard output when None), in order.

    Every line is checked before the first is resolved, and ``out`` is written whole or not at all. Returns
    whether every case has an outcome. Raises UsageError for a bad line, or a folder that cannot be written.
    """
    read_cases(cases_path)
    with open_subject(spec) as subject:
        cases = read_cases(cases_path, subject.describe().fields)
        failed = 0

        def lines() -> Iterator[bytes]:
            nonlocal failed
            for start in range(0, len(cases), _BATCH):
                for outcome in subject.outcomes(cases[start : start + _BATCH]):
                    failed += outcome.failure is not None
                    yield encode_outcome(outcome) + b"\n"

        if out is None:
            for line in lines():
                sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        else:
            write_atomically(out, lines())
    return not failed


def resolve_launch(
    spec: SubjectSpec, hardware: str, model: str, words: Sequence[str], say: Callable[[str], object]
) -> bool:
    """Print what the launch ``words`` (flags, or a whole command) resolves to; fields that moved are marked.

    Returns whether there was an outcome. Raises UsageError for unknown profiles and flags that do not parse.
    """
    machine, described = _machine(hardware), _model(model)
    line = _launch(words)
    with open_subject(spec) as subject:
        description = subject.describe()
        case = Case(
            id="launch",
            args=subject.parse(line.argv, "the launch flags"),
            hardware=machine,
            model=described,
            env=line.env,
        )
        (outcome,) = subject.outcomes([case])
        (chain,) = subject.chains([case]) if outcome.failure is None else [[]]
    slots = {_place(writer): writer.slot for writer in description.writers}
    silent = ENTRY_STATE if spec.slice else {}
    _say(outcome, case, description.fields, silent, spec.label, chain, slots, say)
    return outcome.failure is None


def _machine(text: str) -> Hardware:
    """Return the machine that a profile's name or a JSON object gives."""
    if text.lstrip().startswith("{"):
        return hardware_from_json(_object(text, "--hardware"), "--hardware")
    return hardware_profile(text)


def _model(text: str) -> Model:
    """Return the model that a profile's name or a JSON object gives."""
    if text.lstrip().startswith("{"):
        return model_from_json(_object(text, "--model"), "--model")
    return model_profile(text)


def _object(text: str, where: str) -> object:
    try:
        value: object = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"{where}: this is neither a profile's name nor a JSON object: {error}") from None
    return value


def _launch(words: Sequence[str]) -> LaunchLine:
    if len(words) == 1 and " " in words[0]:
        return split_launch(words[0], "the launch command")
    if words and not words[0].startswith("-"):
        return split_launch(shlex.join(words), "the launch command")
    return LaunchLine(env={}, argv=list(words))


def _say(
    outcome: Outcome,
    case: Case,
    fields: dict[str, FieldSpec],
    silent: Mapping[str, Any],
    label: str,
    chain: Sequence[Write],
    slots: Mapping[Place, str],
    say: Callable[[str], object],
) -> None:
    say(f"on {machine_words(case.hardware)}; {model_words(case.model)}")
    if outcome.failure is not None:
        say(f"{label} gave no outcome ({outcome.failure.kind}): {visible(outcome.failure.detail)}")
        if outcome.failure.kind == "unanswered" and (lines := answer_for(outcome.failure.detail)):
            say(f"give --answers a file with\n{lines}")
        return
    if outcome.error is not None:
        say(f"{label} refuses: {outcome.error.type} in {outcome.error.origin}: {visible(outcome.error.message)}")
    for name, value in (outcome.fields or {}).items():
        given = case.args.get(name, silent.get(name, fields[name].default if name in fields else None))
        known = name in fields
        moved = known and (type(given) is not type(value) or given != value)
        was = f"   (was {json.dumps(given)})" if moved else ""
        say(f"{'*' if moved else ' '} {name:38} {json.dumps(value)}{was}")
        _say_writes([write for write in chain if write.field == name], slots, say)
    if outcome.fields is None:
        _say_writes(chain, slots, say)
    for name, after in outcome.env.items():
        say(f"* {name:38} {json.dumps(after)}   (environment)")


def _say_writes(writes: Sequence[Write], slots: Mapping[Place, str], say: Callable[[str], object]) -> None:
    """Show each write in order: the value it left, the slot it ran in, what wrote it, and where."""
    for write in writes:
        slot = slots.get(_place(write), "")
        within = f"{slot}: " if slot and not slot.endswith(f" {write.source}") else ""
        number = f"{slot.partition(' ')[0]} " if slot and not within else ""
        value = f"{write.field} = {json.dumps(write.value)}"
        say(f"      {value:46} {within}{number}{write.source} ({write.file}:{write.line})")


def _place(place: Writer | Write) -> Place:
    return place.field, place.file, place.line
