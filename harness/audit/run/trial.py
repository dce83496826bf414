"""Defines a trial, on which mutants are judged: cases, the original's outcomes, and the intended differences."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.engine.difference.compare import Difference
from harness.engine.ledger.entries import Ledger
from harness.subjects.child.serve import values
from harness.subjects.wire import failure_frame
from harness.world.case import Case, Outcome

# The code that runs inside a child has no annotations, so the types are given here.
_encode: Callable[[Any], bytes] = values.encode
_marked: Callable[[Any], Any] = values.marked
_without_addresses: Callable[[str], str] = values.without_addresses

Explained = Callable[[Difference, Case, Outcome, Outcome], bool]
"""Returns whether a difference is intended; gets it, its case, the original's outcome and the package's."""


def nothing_explained(difference: Difference, case: Case, original: Outcome, ours: Outcome) -> bool:
    """Return False: no difference is intended."""
    return False


def explained_by(ledger: Ledger) -> Explained:
    """Return a function that says whether ``ledger`` explains a difference; its first subject is the original."""

    def explained(difference: Difference, case: Case, original: Outcome, ours: Outcome) -> bool:
        return ledger.explains(difference.kind, difference.name, case, original, ours) is not None

    return explained


@dataclass(frozen=True)
class Trial:
    """One set of cases with the original's outcomes.

    ``expected`` has the original's answer frame of each case, with the fields ``names``. If ``messages`` is true,
    refusals must have the same message. ``explained`` says which differences between original and package are
    intended. ``rule`` stands for it in the digest, since kept results are valid only for the same rule.
    """

    cases: Sequence[Case]
    expected: Sequence[bytes] = field(repr=False)
    names: tuple[str, ...]
    messages: bool = True
    explained: Explained = nothing_explained
    rule: str = ""

    def __post_init__(self) -> None:
        if len(self.expected) != len(self.cases):
            raise ValueError(f"{len(self.cases)} cases have {len(self.expected)} outcomes")

    def digest(self, sources: Iterable[tuple[str, str]]) -> str:
        """Return a digest of the trial and the ``sources`` (name and text of each file).

        A kept result is valid only for the digest that it was made with.
        """
        whole = hashlib.sha256()
        for part in ([list(sources), self.names, self.messages, self.rule], self.cases, self.expected):
            whole.update(msgspec.msgpack.encode(part, order="deterministic"))
        return whole.hexdigest()[:32]


def mask_bytes(count: int) -> int:
    """Return how many bytes hold a bit for each of ``count`` cases."""
    return (count + 7) // 8


def numbers_in(cases: int) -> list[int]:
    """Return the numbers of the bits that are set in ``cases``, in order."""
    # Read from its binary digits: to shift an int of many thousands of bits bit by bit would copy it each time.
    return [number for number, bit in enumerate(bin(cases)[:1:-1]) if bit == "1"]


def frame_of(outcome: Outcome, names: Sequence[str]) -> bytes:
    """Return the frame with which a subject's child would answer this outcome, with the fields ``names``.

    Raises what the child's encoder raises for a value that JSON cannot represent.
    """
    if outcome.failure is not None:
        return failure_frame(outcome.failure)
    if outcome.error is not None:
        error = outcome.error
        check = _encode([error.type, _without_addresses(error.message)])
        return b"E%s\n%s" % (check, _encode([error.origin, outcome.env]))
    assert outcome.fields is not None
    fields = outcome.fields
    return b"F" + _encode([*(_marked(fields[name]) for name in names), outcome.env])
