"""Reading the JSON result of a gate back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.report.format import FORMAT, GateDocument


class _Head(msgspec.Struct):
    format: Any = None


def read_result(path: Path) -> GateDocument:
    """Return the result in the file ``path``; raises UsageError when there is none of this version in it."""
    where = f"result {path}"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror or error}") from None
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format != FORMAT:
            said = repr(head.format)[:80] if head.format is not None else "none"
            raise UsageError(
                f"{where}: its format is {said}, and this reads {FORMAT!r}, as --format json and --save write it"
            )
        return msgspec.json.decode(data, type=GateDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = str(error) or "it is nested too deeply"
        raise UsageError(f"{where} is not the whole JSON result of a gate: {what}") from None
