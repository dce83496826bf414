"""The case, which is one input of a subject, and the outcome, which is what the subject makes of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from harness.common.convert import worded
from harness.world.hardware import Hardware
from harness.world.model import Model

Id = Annotated[str, worded("a string of at least one character")]
FailureKind = Literal["killed", "timeout", "memory", "unanswered", "broken"]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One input.

    ``args`` has only what the user set, as JSON values by the name of the field of ServerArgs.
    """

    id: str
    args: dict[str, Any] = msgspec.field(default_factory=dict)
    hardware: Hardware = msgspec.field(default_factory=Hardware)
    model: Model = msgspec.field(default_factory=Model)
    env: dict[str, str] = msgspec.field(default_factory=dict)


class BrokenSetUp(Exception):
    """Raised if a package cannot resolve any case as it is written; the text names the part that is wrong.

    This is not a refusal, since no argument of a user leads to it. A command ends with status 2 instead of comparing
    it.
    """


class Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The exception by which a subject rejected a case.

    ``type`` is the name of its class and ``message`` its text. ``origin`` is the innermost function of the subject
    that it passed through.
    """

    type: str
    message: str
    origin: str


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason why a subject gave no outcome of a case, neither fields nor a refusal; ``detail`` is one sentence.

    The subject was killed, ran out of time or memory, or asked a question that no case answers. Or it is broken: it
    cannot be loaded, or does not answer in the contract's format.
    """

    kind: FailureKind
    detail: str


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a subject made of the case ``id``: exactly one of ``fields``, ``error`` and ``failure`` is set.

    ``env`` holds the ``SGLANG_*`` and ``NCCL_*`` variables whose value changed; None means one that was unset.
    """

    id: Id
    fields: dict[str, Any] | None
    error: Annotated[Refusal | None, worded("null or an object of the strings type, message and origin")]
    env: dict[str, str | None]
    failure: Annotated[Failure | None, worded("an object of kind and detail")] = None
