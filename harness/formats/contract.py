"""Reads and writes cases and outcomes as JSON lines, the public format that the case contract defines.

Every error is a UsageError of one sentence that names the line, the key and the nearest valid names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec

from harness.common.convert import struct_from_json, worded, words_for
from harness.common.errors import UsageError
from harness.common.reading import read_file
from harness.common.wording import brief, path_of
from harness.common.writing import write_atomically
from harness.world.case import Case, Failure, Id, Outcome, Refusal
from harness.world.fields import FieldSpec, check_args
from harness.world.hardware import Hardware, hardware_from_json
from harness.world.model import Model, model_from_json
from harness.world.profiles import hardware_profile, model_profile, name_of_hardware, name_of_model

__all__ = ["MAX_CASE_BYTES", "MAX_DEPTH", "encode_case", "encode_outcome", "parse_case", "parse_outcome"]
__all__ += ["case_lines", "parse_cases", "read_cases", "write_atomically"]

MAX_CASE_BYTES = 2**20
"""The longest line of a case, in bytes. No launch needs more; a wrong file (weights, say) has longer ones."""

MAX_DEPTH = 64
"""The deepest nesting of a line's JSON. Code that copies or compares deeper values overflows the stack."""

Part = TypeVar("Part", Hardware, Model)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


_Profile = Annotated[str | dict[str, Any], worded("a profile's name or an object")]


class CaseLine(msgspec.Struct, forbid_unknown_fields=True):
    """A case's line with profiles unresolved; the order of the keys is the order they are written in."""

    id: Id
    args: Annotated[dict[str, Any], worded("an object of ServerArgs fields")] = msgspec.field(default_factory=dict)
    hardware: _Profile = msgspec.field(default_factory=dict)
    model: _Profile = msgspec.field(default_factory=dict)
    env: dict[str, str] = msgspec.field(default_factory=dict)


def read_cases(path: Path, fields: Mapping[str, FieldSpec] | None = None) -> list[Case]:
    """Return the cases of the file ``path``, one a line, in its order; lines of blanks are skipped.

    With ``fields``, by name, the arguments are checked against them. Raises UsageError for a file that
    cannot be read, and what `parse_cases` refuses.
    """
    return parse_cases(case_lines(path), path, fields)


def case_lines(path: Path) -> bytes:
    """Return the content of the file of cases ``path``; raises UsageError when it cannot be read."""
    try:
        return read_file(path)
    except FileNotFoundError:
        raise UsageError(f"the file of cases {str(path)!r} does not exist") from None
    except IsADirectoryError:
        raise UsageError(f"{str(path)!r} is a folder, give the path of a file of cases") from None
    except OSError as error:
        raise UsageError(f"the file of cases {str(path)!r} cannot be read: {error.strerror or error}") from None


def parse_cases(content: bytes, path: Path, fields: Mapping[str, FieldSpec] | None = None) -> list[Case]:
    """Return the cases of ``content``, which was read from ``path``.

    It does not read the file itself, because callers parse the content twice, and a pipe can be read only once.
    Raises UsageError if there is no case, if an id occurs twice, and as `parse_case` does.
    """
    cases: list[Case] = []
    line_of_id: dict[str, int] = {}
    for number, line in enumerate(content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), start=1):
        raw = line.strip()
        if not raw:
            continue
        where = f"{path}:{number}"
        case = parse_case(raw, where, fields)
        first = line_of_id.setdefault(case.id, number)
        if first != number:
            raise UsageError(f"{where}: the id {brief(case.id)} is already that of line {first}")
        cases.append(case)
    if not cases:
        raise UsageError(f"{str(path)!r} holds no case: it must have one JSON object a line")
    return cases


def parse_case(raw: bytes, where: str, fields: Mapping[str, FieldSpec] | None = None) -> Case:
    """Return the case of one line. Only the key ``id`` is required; the other keys have defaults.

    ``where`` is the line's place ("cases.jsonl:3"). With ``fields``, by name, the arguments are checked
    against them. Raises UsageError for a line that is too long, is not UTF-8 or JSON, or breaks the contract.
    """
    value = _decode(raw, where)
    if len(raw) > MAX_CASE_BYTES:
        key, size = _largest(value)
        raise UsageError(
            f"{where}: {key} is {size} bytes long, and a case's line may have {MAX_CASE_BYTES} bytes in all"
        )
    line = struct_from_json(CaseLine, value, where)
    _check_id(line.id, where)
    for name in line.env:
        # Such a name or value cannot be put into a process's environment.
        if not name or "=" in name or "\0" in name:
            raise UsageError(f"{where}: env has the key {brief(name)}, which is no variable's name")
        if "\0" in line.env[name]:
            raise UsageError(f"{where}: {path_of('env', name)} holds a null character")
    if fields is not None:
        check_args(line.args, fields, where)
    return Case(
        id=line.id,
        args=line.args,
        hardware=(
            hardware_profile(line.hardware, f"{where}: hardware")
            if isinstance(line.hardware, str)
            else hardware_from_json(line.hardware, where)
        ),
        model=(
            model_profile(line.model, f"{where}: model")
            if isinstance(line.model, str)
            else model_from_json(line.model, where)
        ),
        env=line.env,
    )


def encode_case(case: Case) -> bytes:
    """Return ``case`` as one line of JSON, without a line break; equal cases give equal bytes.

    The machine and the model are written as the name of an equal profile, or else as an object with the keys that
    differ from the default. The default itself is an empty object.
    """
    line = CaseLine(
        id=case.id,
        args=case.args,
        hardware=_named_or_keys(case.hardware, name_of_hardware),
        model=_named_or_keys(case.model, name_of_model),
        env=case.env,
    )
    return msgspec.json.encode(line, order="deterministic")


def parse_outcome(raw: bytes, where: str) -> Outcome:
    """Return the outcome of one line; ``where`` is the line's place ("outcomes.jsonl:3").

    Raises UsageError for a line that is not UTF-8 or JSON, or that breaks the contract. The contract includes that an
    outcome holds exactly one of fields, error and failure.
    """
    value = _decode(raw, where)
    if isinstance(value, dict):
        if isinstance(value.get("error"), dict):
            struct_from_json(Refusal, value["error"], where, "error")
        if isinstance(value.get("failure"), dict):
            struct_from_json(Failure, value["failure"], where, "failure")
    outcome = struct_from_json(Outcome, value, where)
    _check_id(outcome.id, where)
    given = [
        name
        for name, part in (("fields", outcome.fields), ("error", outcome.error), ("failure", outcome.failure))
        if part is not None
    ]
    if len(given) != 1:
        raise UsageError(
            f"{where}: an outcome holds exactly one of fields, error and failure, "
            f"and this one holds {' and '.join(given) or 'none of them'}"
        )
    return outcome


def encode_outcome(outcome: Outcome) -> bytes:
    """Return ``outcome`` as one line of JSON, without a line break; equal outcomes give equal bytes.

    Characters that UTF-8 does not have (half a surrogate pair, as in a file name that could not be decoded) are
    written as escapes; a number that is not finite is written as null, since JSON has none.
    """
    try:
        return msgspec.json.encode(outcome, order="deterministic")
    except UnicodeEncodeError:
        return msgspec.json.encode(_printable(msgspec.to_builtins(outcome)), order="deterministic")


def _decode(raw: bytes, where: str) -> object:
    """Return the JSON value of one line. Raises UsageError if it is not UTF-8 or JSON, or is nested too deeply."""
    try:
        value: object = msgspec.json.decode(raw)
    except RecursionError:
        raise UsageError(f"{where}: the JSON is nested more than {MAX_DEPTH} deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as fault:
            raise UsageError(f"{where}: byte {fault.start + 1} of the line is not UTF-8") from None
        raise UsageError(f"{where}: the line is not one JSON value: {error}") from None
    # A line with few brackets cannot nest deeply, so hardly any line needs the slow check.
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise UsageError(f"{where}: the JSON is nested more than {MAX_DEPTH} deep")
    return value


def _is_deep(value: object) -> bool:
    """Return whether ``value`` has more than MAX_DEPTH objects and lists inside one another, itself included."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [part for part in level if isinstance(part, dict | list)]
        if not containers:
            return False
        level = [item for part in containers for item in (part.values() if isinstance(part, dict) else part)]
    return True


def _check_id(identifier: str, where: str) -> None:
    if not identifier:
        raise UsageError(f"{where}: id must be {words_for(Id)}, not {brief(identifier)}")


def _largest(value: object) -> tuple[str, int]:
    """Return the path and the bytes of the largest value one or two keys below ``value``."""
    sizes = [("the line", len(msgspec.json.encode(value)))]
    if isinstance(value, dict) and value:
        sizes = []
        for name, part in value.items():
            parts = part if isinstance(part, dict) and part else {"": part}
            for inner, item in parts.items():
                keys = (name, inner) if inner else (name,)
                sizes.append((path_of(*keys), len(inner) + len(msgspec.json.encode(item))))
    return max(sizes, key=lambda entry: entry[1])


_DEFAULTS: Final[Mapping[type, Any]] = {Hardware: Hardware(), Model: Model()}


def _named_or_keys(part: Part, name_of: Callable[[Part], str | None]) -> str | dict[str, Any]:
    """Return the name of an equal profile, or else the keys that differ from the default; none for the default."""
    default = _DEFAULTS[type(part)]
    if part == default:
        return {}
    return name_of(part) or {
        name: getattr(part, name) for name in part.__struct_fields__ if getattr(part, name) != getattr(default, name)
    }


def _printable(value: Any) -> Any:
    """Return ``value`` with escapes for the characters that UTF-8 does not have."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(item) for item in value]
    return value
