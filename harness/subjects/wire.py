"""Decodes the frames that a child answers cases with; compares two frames without decoding them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.world.case import Failure, Outcome, Refusal
from harness.world.chain import Place

_FIELDS, _REFUSED, _NONE = b"F"[0], b"E"[0], b"X"[0]
_DECODER = msgspec.json.Decoder()
_PLACES = msgspec.json.Decoder(Place | None)


def is_outcome(frame: bytes) -> bool:
    """Return whether the frame has an outcome (fields or a refusal) and not a failure."""
    return frame[0] != _NONE


def says_the_same(first: bytes, second: bytes) -> bool:
    """Return whether two frames have the same outcome by their bytes; the place of a refusal does not count."""
    return first == second or (first[0] == _REFUSED == second[0] and _compared(first) == _compared(second))


def _compared(frame: bytes) -> list[bytes]:
    return frame.split(b"\n", 2)[:2]


def raised_at(frame: bytes) -> Place | None:
    """Return where a refusal was raised, None if the frame is no refusal or does not have the place."""
    if frame[0] != _REFUSED or frame.count(b"\n") < 2:
        return None
    return _PLACES.decode(frame.split(b"\n", 2)[2])


def failure_frame(failure: Failure) -> bytes:
    """Return the frame that a child would have sent for ``failure``."""
    return b"X" + msgspec.json.encode([failure.kind, failure.detail])


def decode_frame(frame: bytes, case_id: str, names: Sequence[str]) -> Outcome:
    """Return the outcome in ``frame``; ``names`` are its fields, in the order in which they were chosen.

    Raises ValueError if ``frame`` is not an answer frame.
    """
    try:
        return _decode(frame, case_id, names)
    except (msgspec.DecodeError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"an answer frame is not one: {error}") from None


def _decode(frame: bytes, case_id: str, names: Sequence[str]) -> Outcome:
    body = memoryview(frame)[1:]
    if frame[0] == _FIELDS:
        *values, env = _DECODER.decode(body)
        fields: dict[str, Any] = dict(zip(names, values, strict=True))
        return Outcome(id=case_id, fields=fields, error=None, env=env)
    if frame[0] == _REFUSED:
        refusal, aside = bytes(body).split(b"\n", 2)[:2]
        (kind, message), (origin, env) = _DECODER.decode(refusal), _DECODER.decode(aside)
        return Outcome(id=case_id, fields=None, error=Refusal(kind, message, origin), env=env)
    if frame[0] == _NONE:
        kind, detail = _DECODER.decode(body)
        return Outcome(id=case_id, fields=None, error=None, env={}, failure=Failure(kind, detail))
    raise ValueError(f"an answer frame starts with {frame[:1]!r}")
