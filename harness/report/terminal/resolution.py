"""Prints how a launch resolves, or writes the outcomes of a file of cases."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.common.errors import UsageError, visible
from harness.common.reading import parse_json
from harness.formats.contract import case_lines, encode_outcome, parse_cases, write_atomically
from harness.formats.launch import LaunchFlags, LaunchLine, split_launch
from harness.report.wording.launches import world_words
from harness.subjects.open import open_subject
from harness.subjects.profile import answer_for
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case, Outcome
from harness.world.chain import Write, Writer
from harness.world.fields import FieldSpec
from harness.world.hardware import Hardware, hardware_from_json
from harness.world.model import Model, model_from_json
from harness.world.profiles import hardware_profile, model_profile
from harness.world.slice import ENTRY_STATE

_BATCH = 250
WriteKey = tuple[str, str, int]
"""A write by its place: a field, a file and a line. Or by its function alone: a field, a function and 0."""


def resolve_file(spec: SubjectSpec, cases_path: Path, out: Path | None) -> bool:
    """Write the outcome of each case of the file ``cases_path`` to ``out``, in order; return whether all have one.

    If ``out`` is None, they go to standard output. Every line is checked before the first case is resolved, and
    ``out`` is written whole or not at all. Raises UsageError for a bad line, or if ``out`` cannot be written.
    """
    content = case_lines(cases_path)
    parse_cases(content, cases_path)
    with open_subject(spec) as subject:
        cases = parse_cases(content, cases_path, subject.describe().fields)
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


class Resolved(NamedTuple):
    """How one subject resolved a launch.

    ``case`` is the launch as a case. ``fields`` describes the fields of the record. ``silent`` has the values, other
    than the defaults, that fields have at the start if the launch does not set them. ``chain`` has the writes, in
    order. ``slots`` maps a write to its slot, and ``reasons`` a pass to the reason that it gives. ``takes`` are the
    parts of the world that launches of the subject have.
    """

    label: str
    case: Case
    outcome: Outcome
    fields: dict[str, FieldSpec]
    silent: Mapping[str, Any]
    chain: Sequence[Write]
    slots: Mapping[WriteKey, str]
    reasons: Mapping[str, str]
    takes: tuple[str, ...]

    def given(self, name: str) -> Any:
        """Return the value that a field has before the resolution."""
        default = self.fields[name].default if name in self.fields else None
        return self.case.args.get(name, self.silent.get(name, default))

    def moved(self, name: str) -> bool:
        """Return whether the resolution changed a field that a launch can set."""
        value, given = (self.outcome.fields or {}).get(name), self.given(name)
        return name in self.fields and (type(given) is not type(value) or given != value)

    def writes(self, name: str) -> list[Write]:
        """Return the writes of one field, in order."""
        return [write for write in self.chain if write.field == name]


def resolve_launch(
    specs: Sequence[SubjectSpec], hardware: str, model: str, words: Sequence[str], say: Callable[[str], object]
) -> bool:
    """Print the fields that a launch resolves to; return whether all subjects had an outcome.

    ``words`` are the flags of the launch, or a whole command. One subject is printed with all its fields, the changed
    ones marked. Two are printed side by side, with the fields that one of them changes or writes. ``say`` prints each
    line. Raises UsageError for unknown profiles and flags that cannot be parsed.
    """
    machine, described = _machine(hardware), _model(model)
    line = _launch(words, specs[0].program)
    found = [_resolved(spec, line, machine, described) for spec in specs]
    if where := world_words(found[0].case, LaunchFlags(takes=found[0].takes)):
        say(f"on {where}")
    if len(found) == 1:
        _say(found[0], say)
    else:
        _say_beside(found, say)
    return all(one.outcome.failure is None for one in found)


def _resolved(spec: SubjectSpec, line: LaunchLine, machine: Hardware, model: Model) -> Resolved:
    with open_subject(spec) as subject:
        description = subject.describe()
        args = subject.parse(line.argv, "the launch flags")
        case = Case(id="launch", args=args, hardware=machine, model=model, env=line.env)
        (outcome,) = subject.outcomes([case])
        (chain,) = subject.chains([case]) if outcome.failure is None else [[]]
    slots = {_place(writer): writer.slot for writer in description.writers}
    # The line of a pass's writer is that of the pass, but its writes have the lines of the declared fields. So writes
    # are also looked up by their function.
    slots |= {(writer.field, writer.source, 0): writer.slot for writer in (*description.writers, *description.tables)}
    silent = ENTRY_STATE if spec.slice else {}
    reasons = description.reasons
    return Resolved(spec.label, case, outcome, description.fields, silent, chain, slots, reasons, description.takes)


def _machine(text: str) -> Hardware:
    """Return the machine that ``text``, the name of a profile or a JSON object, describes."""
    if text.lstrip().startswith("{"):
        return hardware_from_json(_object(text, "--hardware"), "--hardware")
    return hardware_profile(text)


def _model(text: str) -> Model:
    """Return the model that ``text``, the name of a profile or a JSON object, describes."""
    if text.lstrip().startswith("{"):
        return model_from_json(_object(text, "--model"), "--model")
    return model_profile(text)


def _object(text: str, where: str) -> object:
    try:
        value: object = parse_json(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"{where}: this is neither a profile's name nor a JSON object: {error}") from None
    return value


def _launch(words: Sequence[str], program: Sequence[str]) -> LaunchLine:
    if len(words) == 1 and " " in words[0]:
        return split_launch(words[0], "the launch command", program)
    if words and not words[0].startswith("-"):
        return split_launch(shlex.join(words), "the launch command", program)
    return LaunchLine(env={}, argv=list(words))


def _say(one: Resolved, say: Callable[[str], object]) -> None:
    if not _say_refused(one, say):
        return
    for name, value in (one.outcome.fields or {}).items():
        moved = one.moved(name)
        was = f"   (was {json.dumps(one.given(name))})" if moved else ""
        say(f"{'*' if moved else ' '} {name:38} {json.dumps(value)}{was}")
        _say_writes(one, one.writes(name), "      ", say)
    if one.outcome.fields is None:
        _say_writes(one, one.chain, "      ", say)
    for name, after in one.outcome.env.items():
        say(f"* {name:38} {json.dumps(after)}   (environment)")


def _say_refused(one: Resolved, say: Callable[[str], object]) -> bool:
    """Print a refusal, or why there is no outcome. Return whether there is an outcome; a refusal is one."""
    failure, error = one.outcome.failure, one.outcome.error
    if failure is not None:
        say(f"{one.label} gave no outcome ({failure.kind}): {visible(failure.detail)}")
        if failure.kind == "unanswered" and (lines := answer_for(failure.detail)):
            say(f"give --answers a file with\n{lines}")
        return False
    if error is not None:
        say(f"{one.label} refuses: {error.type} in {error.origin}: {visible(error.message)}")
    return True


def _say_beside(found: Sequence[Resolved], say: Callable[[str], object]) -> None:
    width = max(len(one.label) for one in found)
    for one in found:
        _say_refused(one, say)
    names = dict.fromkeys(name for one in found for name in (*(one.outcome.fields or {}), *_written(one)))
    for name in names:
        if not any(one.moved(name) or one.writes(name) for one in found):
            continue
        say(name)
        for one in found:
            fields = one.outcome.fields
            value = "refused before" if fields is None else json.dumps(fields.get(name))
            was = f"   (was {json.dumps(one.given(name))})" if fields is not None and one.moved(name) else ""
            say(f"  {one.label:{width}}  {value}{was}")
            _say_writes(one, one.writes(name), f"  {'':{width}}    ", say)
    for name in dict.fromkeys(name for one in found for name in one.outcome.env):
        say(f"{name} (environment)")
        for one in found:
            value = json.dumps(one.outcome.env[name]) if name in one.outcome.env else "unchanged"
            say(f"  {one.label:{width}}  {value}")


def _written(one: Resolved) -> list[str]:
    return [write.field for write in one.chain]


def _say_writes(one: Resolved, writes: Sequence[Write], indent: str, say: Callable[[str], object]) -> None:
    """Print each write with its place and, below it, the reason that its pass gives, if any."""
    for write in writes:
        say(f"{indent}{_write_words(write, one.slots)}")
        if reason := one.reasons.get(write.source):
            say(f"{indent}    {reason}")


def _write_words(write: Write, slots: Mapping[WriteKey, str]) -> str:
    """Return a write in words: the new value, the slot if it is known, the function and the line."""
    slot = slots.get(_place(write)) or slots.get((write.field, write.source, 0), "")
    within = f"{slot}: " if slot and not slot.endswith(f" {write.source}") else ""
    number = f"{slot.partition(' ')[0]} " if slot and not within else ""
    value = f"{write.field} = {json.dumps(write.value)}"
    return f"{value:46} {within}{number}{write.source} ({write.file}:{write.line})"


def _place(place: Writer | Write) -> WriteKey:
    return place.field, place.file, place.line
