"""What every mutant is held against: cases, what the original makes of them, and which differences are meant."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.engine.compare import Difference
from harness.subjects.wire import failure_frame
from harness.world.case import Case, Outcome

Explained = Callable[[Difference, Case], bool]


def nothing_explained(difference: Difference, case: Case) -> bool:
    """Say that a difference was not meant."""
    return False


@dataclass(frozen=True)
class Trial:
    """One set of cases with the original's outcomes.

    ``expected`` holds a frame a case (`frame_of`) of the outcome fields ``names``; ``messages`` says whether refusals
    must agree in their words too. ``explained`` says which differences between original and package are meant, and
    ``rule`` names it, for results that are kept: they hold for the same rule alone.
    """

    cases: Sequence[Case]
    expected: Sequence[bytes] = field(repr=False)
    names: tuple[str, ...]
    messages: bool = True
    explained: Explained = nothing_explained
    rule: str = ""

    def digest(self, sources: Iterable[tuple[str, str]]) -> str:
        """Return a text that is the same for the same trial of the same ``sources`` (name and text of each file)."""
        whole = hashlib.sha256()
        for part in ([list(sources), self.names, self.messages, self.rule], self.cases, self.expected):
            whole.update(msgspec.msgpack.encode(part, order="deterministic"))
        return whole.hexdigest()[:32]


def make_trial(
    cases: Sequence[Case],
    outcomes: Iterable[Outcome],
    names: Sequence[str],
    *,
    messages: bool = True,
    explained: Explained = nothing_explained,
    rule: str = "",
) -> Trial:
    """Return the trial of ``cases`` whose ``outcomes`` the original gave, in their order."""
    expected = [frame_of(outcome, names) for outcome in outcomes]
    if len(expected) != len(cases):
        raise ValueError(f"{len(cases)} cases have {len(expected)} outcomes")
    return Trial(cases, expected, tuple(names), messages, explained, rule)


def frame_of(outcome: Outcome, names: Sequence[str]) -> bytes:
    """Return the outcome as an answer frame with the fields ``names`` (`harness.subjects.wire` reads it).

    Equal outcomes give equal frames. Raises TypeError for a field whose value is nothing that JSON has.
    """
    if outcome.failure is not None:
        return failure_frame(outcome.failure)
    if outcome.error is not None:
        error = outcome.error
        said = msgspec.json.encode([error.type, error.message])
        return b"E" + said + b"\n" + msgspec.json.encode([error.origin, outcome.env], order="deterministic")
    assert outcome.fields is not None
    values: list[Any] = [outcome.fields[name] for name in names]
    return b"F" + msgspec.json.encode([*values, outcome.env], order="deterministic")


def agreement_key(frame: bytes, messages: bool) -> bytes:
    """Return what is the same in two frames that agree: of a refusal its check, of other outcomes everything."""
    if not frame.startswith(b"E"):
        return frame
    said = frame.partition(b"\n")[0]
    return said if messages else said[: said.index(b'",')]
