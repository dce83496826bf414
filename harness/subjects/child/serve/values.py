"""Writes values of a resolution as JSON: in every process the same bytes for equal values of equal types."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ..world.standins import now

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def encode(value: Any) -> bytes:
    """Return ``value`` as compact JSON bytes, the same bytes for equal values of equal types.

    UTF-8 has no half of a surrogate pair, so such a half is written as the text of its escape. Raises ValueError,
    TypeError or RecursionError for a value that JSON cannot hold.
    """
    text = _ENCODER.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda half: f"\\\\u{ord(half[0]):04x}", text).encode()


def without_addresses(text: str) -> str:
    """Return ``text`` without addresses in memory, which differ from one process to the next."""
    # Most texts have no address, and looking for two letters first is several times as quick as the pattern.
    return _ADDRESS.sub("0x...", text) if "0x" in text else text


def marked(value: Any) -> Any:
    """Return ``value`` in JSON's types. A value of any other type becomes ``{"$TYPE": ...}``.

    So two values have equal JSON only if they and their types are equal.
    """
    value = now(value)
    if isinstance(value, dict):
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: marked(item) for key, item in value.items()}
        return {"$dict": [[marked(key), marked(item)] for key, item in value.items()]}
    if type(value) is list:
        return [marked(item) for item in value]
    if isinstance(value, (list, tuple)):
        return {f"${type(value).__name__}": [marked(item) for item in value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(float(value))}
    if value is None or type(value) in (bool, str, int, float):
        return value
    if isinstance(value, str):
        # ``str(value)`` would call the method of a subclass, which an enumeration has for example.
        return {f"${type(value).__name__}": str.__str__(value)}
    if isinstance(value, (int, float)):
        return {f"${type(value).__name__}": int(value) if isinstance(value, int) else float(value)}
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted((marked(item) for item in value), key=repr)}
    return {f"${type(value).__name__}": without_addresses(repr(value))}
