"""Reads the JSON files that a gate wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.common.errors import UsageError
from harness.common.reading import parse_json, read_file
from harness.report.result.format import FORMAT, GateDocument

Document = TypeVar("Document")


class _Head(msgspec.Struct):
    format: Any = None


def read_result(path: Path) -> GateDocument:
    """Return the result in the file ``path``. Raises UsageError if it holds none in this version of the format."""
    return read_format(path, FORMAT, GateDocument, "the result of a gate, as --format json and --save write it")


def read_format(path: Path, format: str, kind: type[Document], what: str) -> Document:
    """Return the JSON document in the file ``path``, which has the format ``format`` and the type ``kind``.

    ``what`` describes such a document in messages. Raises UsageError if the file cannot be read, is of another format
    or version, or is not complete.
    """
    try:
        data = read_file(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    try:
        head = parse_json(data, _Head)
        if head.format != format:
            said = repr(head.format)[:80] if head.format is not None else "none"
            raise UsageError(f"{path}: its format is {said}, and this reads {format!r}, {what}")
        return parse_json(data, kind)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is not the whole of {what}: {error}") from None
