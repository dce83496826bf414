"""Compares two outcomes of a case.

Outcomes are equal if their values and types are. DeepDiff explains a difference that was found; it never decides
whether there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec

from harness.subjects.wire import decode_frame, says_the_same
from harness.world.case import FailureKind, Outcome, Refusal
from harness.world.chain import Decision, Place

DifferenceKind = Literal["field", "environment", "refusals", "refusal", "failure"]
Sides = tuple[Place | None, Place | None]
"""A place on each side, None where that side has none."""
PlaceText = Callable[[Place], str]

AS_GIVEN: Final = "as given"
"""The text for the writer of a field that no place writes: the value is the user's, or the default."""

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\b0x[0-9a-f]+\b|-?\b\d+(?:\.\d+)?\b")


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in which two outcomes differ; `key` gives its bucket.

    ``kind`` is one of:

    - ``field``, ``environment``: the field or variable ``name`` is ``first`` on one side and ``second`` on the other.
    - ``refusals``: both sides refuse, with different checks.
    - ``refusal``: one side resolves, the other refuses.
    - ``failure``: at least one side gives no outcome; ``first`` and ``second`` hold the details.

    For refusals ``first`` and ``second`` are the types and messages, or None for a side that resolved. Quoted values
    and numbers in a message are replaced by an ellipsis, so that one check makes one bucket.

    The other attributes are added later:

    - ``entry``: the id of the ledger's entry that explains the difference, or None.
    - ``writers``: the place of each side that wrote the field or set the variable, None for a side without one. The
      whole is None if the subjects did not report it. A refusal has writers if a field or variable had diverged
      before; that one is its ``name`` then.
    - ``along``: the names of other fields that differ as a consequence.
    - ``parted``: the field that the writers wrote, if it is not ``name``. It had diverged first, became equal again,
      and so does not differ itself.
    - ``decision``: the condition that took another branch, as it is on each side, if no field had diverged before a
      refusal.
    - ``checks``: the places that refused, None for a side that resolved.
    - ``failures``: the kinds of the missing outcomes, None for a side that has one.
    """

    kind: DifferenceKind
    name: str
    first: Any
    second: Any
    entry: str | None = None
    writers: Sides | None = None
    along: tuple[str, ...] = ()
    decision: tuple[Decision, Decision] | None = None
    parted: str | None = None
    checks: Sides | None = None
    failures: tuple[FailureKind | None, FailureKind | None] | None = None

    def key(self) -> str:
        """Return the identity of the bucket to which the difference belongs.

        All differences that one entry of the ledger explains belong to one bucket, and so do all that the same two
        places wrote or refused, whatever the values. Otherwise the values count, in type too: True is not 1.
        """
        return self._identity(str)

    def key_without_lines(self) -> str:
        """Return an identity that stays the same when other edits of a file move the places in it.

        It is that of `key`, but two differences get the same one if their places are in the same functions.
        """
        return self._identity(_without_line)

    def _identity(self, text: PlaceText) -> str:
        if self.entry is not None:
            return msgspec.json.encode(["entry", self.entry]).decode()
        if self.writers is not None:
            written = writer_texts(self.writers, text)
            return msgspec.json.encode([self.kind, self.name, self.parted, *written]).decode()
        checks = (self.first, self.second) if self.checks is None else check_texts(self.checks, text)
        decisions = [decision_text(one, text) for one in self.decision or ()]
        parts = [self.kind, self.name, *checks, *decisions]
        return msgspec.json.encode(parts, order="deterministic").decode()


def writer_texts(writers: Sides, text: PlaceText = str) -> tuple[str, str]:
    """Return the text of both writers, `AS_GIVEN` for a side where no place wrote."""
    first, second = writers
    return AS_GIVEN if first is None else text(first), AS_GIVEN if second is None else text(second)


def check_texts(checks: Sides, text: PlaceText = str) -> tuple[str, str]:
    """Return the text of both checks, the empty string for a side that resolved."""
    first, second = checks
    return "" if first is None else text(first), "" if second is None else text(second)


def decision_text(decision: Decision, text: PlaceText = str) -> str:
    """Return the text of a decision and its place."""
    return f"{decision.text} in {text(decision)}"


def _without_line(place: Place) -> str:
    return f"{place.source} ({place.file})"


def differences(first: Outcome, second: Outcome, *, messages: bool) -> list[Difference]:
    """Return what differs between two outcomes of one case, in a fixed order; empty when they agree.

    ``messages`` says whether two refusals must agree in their message too (two releases of one code base), or
    in their type only.
    """
    if first.failure is not None or second.failure is not None:
        return _failures(first, second)
    if first.error is not None and second.error is not None:
        return _refusals(first.error, second.error, messages)
    if first.error is not None or second.error is not None:
        sides = [_check(outcome.error) if outcome.error else None for outcome in (first, second)]
        return [Difference(kind="refusal", name="", first=sides[0], second=sides[1])]
    assert first.fields is not None and second.fields is not None
    found = [
        Difference(kind="field", name=name, first=value, second=second.fields[name])
        for name, value in first.fields.items()
        if name in second.fields and not _same(value, second.fields[name])
    ]
    for name in sorted(first.env.keys() | second.env.keys()):
        values = first.env.get(name, UNCHANGED), second.env.get(name, UNCHANGED)
        if values[0] != values[1]:
            found.append(Difference(kind="environment", name=name, first=values[0], second=values[1]))
    return found


UNCHANGED = "(unchanged)"
"""The value in a difference of a variable that one side did not change."""


def _same(first: Any, second: Any) -> bool:
    """Whether both are equal in value and type, inside lists and objects too.

    The child encodes NaN as text, so that it equals itself.
    """
    if type(first) is not type(second):
        return False
    if isinstance(first, (list, dict)):
        return msgspec.json.encode(first, order="deterministic") == msgspec.json.encode(second, order="deterministic")
    return bool(first == second)


def _failures(first: Outcome, second: Outcome) -> list[Difference]:
    left, right = (outcome.failure.kind if outcome.failure else None for outcome in (first, second))
    details = [outcome.failure.detail if outcome.failure else None for outcome in (first, second)]
    name = f"{left or 'outcome'} / {right or 'outcome'}"
    return [Difference(kind="failure", name=name, first=details[0], second=details[1], failures=(left, right))]


def _refusals(first: Refusal, second: Refusal, messages: bool) -> list[Difference]:
    if first.type == second.type and (first.message == second.message or not messages):
        return []
    return [Difference(kind="refusals", name="", first=_check(first), second=_check(second))]


def _check(refusal: Refusal) -> str:
    return check_words(refusal.type, refusal.message, refusal.origin)


def check_words(kind: str, message: str, origin: str) -> str:
    """Return the check behind a refusal: its type and its message without the values of this case."""
    if not message:
        return f"{kind} without a message in {origin}"
    return f"{kind}: {_QUOTED.sub('…', message)}"


class Comparison:
    """Compares the answer frames of two subjects, decoding only where the bytes differ.

    With ``fields_alone`` only the fields ``names`` count: not the environment, nor which check refuses a launch that
    both refuse. That one resolves and the other refuses always counts.
    """

    def __init__(self, names: Sequence[str], *, messages: bool = True, fields_alone: bool = False) -> None:
        self._names = tuple(names)
        self._messages = messages
        self._left_out = ("environment", "refusals") if fields_alone else ()

    def differences(self, first: bytes, second: bytes) -> list[Difference]:
        """Return what differs between two frames. A failure is a difference even if both sides fail alike."""
        if first[:1] != b"X" and says_the_same(first, second):
            return []
        found = differences(
            decode_frame(first, "", self._names),
            decode_frame(second, "", self._names),
            messages=self._messages,
        )
        return [difference for difference in found if difference.kind not in self._left_out]


def explain(difference: Difference, first: Outcome, second: Outcome) -> str:
    """Return DeepDiff's account of one difference between two outcomes, one change a line.

    Nested values are taken apart; of refusals, type and message are compared word for word.
    """
    # Imported here, because a gate without differences does not need it.
    from deepdiff import DeepDiff

    return str(DeepDiff(_part(difference, first), _part(difference, second), verbose_level=2).pretty())


def _part(difference: Difference, outcome: Outcome) -> Any:
    """Return the part of an outcome that a difference is about."""
    if difference.kind == "field":
        return {difference.name: (outcome.fields or {}).get(difference.name)}
    if difference.kind == "environment":
        return {difference.name: outcome.env.get(difference.name, UNCHANGED)}
    if outcome.failure is not None:
        return {"failure": msgspec.to_builtins(outcome.failure)}
    # Which function raised is reported beside the difference and is never one.
    return {"refusal": {"type": outcome.error.type, "message": outcome.error.message} if outcome.error else None}
