"""What every mutant is held against: cases, what the original makes of them, and which differences are meant."""

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

# Written for Python without annotations, as all that runs inside a child is.
_encode: Callable[[Any], bytes] = values.encode
_marked: Callable[[Any], Any] = values.marked
_without_addresses: Callable[[str], str] = values.without_addresses

Explained = Callable[[Difference, Case, Outcome, Outcome], bool]
"""Whether a difference is meant, given its case, the original's outcome and the package's."""


def nothing_explained(difference: Difference, case: Case, original: Outcome, ours: Outcome) -> bool:
    """Say that a difference was not meant."""
    return False


def explained_by(ledger: Ledger) -> Explained:
    """Return the rule of a ledger that is turned to these two subjects, the original first."""

    def explained(difference: Difference, case: Case, original: Outcome, ours: Outcome) -> bool:
        return ledger.explains(difference.kind, difference.name, case, original, ours) is not None

    return explained


@dataclass(frozen=True)
class Trial:
    """One set of cases with the original's outcomes.

    ``expected`` holds the original's answer frames, as ``Subject.resolve`` gives them once ``names`` are chosen;
    ``messages`` says whether refusals
    must agree in their words too. ``explained`` says which differences between original and package are meant, and
    ``rule`` names it, for results that are kept: they hold for the same rule alone.
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
        """Return a text that is the same for the same trial of the same ``sources`` (name and text of each file)."""
        whole = hashlib.sha256()
        for part in ([list(sources), self.names, self.messages, self.rule], self.cases, self.expected):
            whole.update(msgspec.msgpack.encode(part, order="deterministic"))
        return whole.hexdigest()[:32]


def mask_bytes(count: int) -> int:
    """Return how many bytes hold a bit for each of ``count`` cases."""
    return (count + 7) // 8


def numbers_in(cases: int) -> list[int]:
    """Return the numbers of the cases that ``cases`` has a bit for, in order."""
    # Of many thousands of bits, text is the quickest way to the single ones.
    return [number for number, bit in enumerate(bin(cases)[:1:-1]) if bit == "1"]


def frame_of(outcome: Outcome, names: Sequence[str]) -> bytes:
    """Return the answer frame of an outcome with the fields ``names``: the one that a subject's child would give.

    Raises what the child's encoder does for a field whose value JSON cannot hold.
    """
    if outcome.failure is not None:
        return failure_frame(outcome.failure)
    if outcome.error is not None:
        error = outcome.error
        said = _encode([error.type, _without_addresses(error.message)])
        return b"E%s\n%s" % (said, _encode([error.origin, outcome.env]))
    assert outcome.fields is not None
    fields = outcome.fields
    return b"F" + _encode([*(_marked(fields[name]) for name in names), outcome.env])
