"""The checkpoint of a search, from which another process can continue. Its size does not grow with the cases."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from harness.common.errors import UsageError
from harness.common.reading import parse_json, read_file, seal
from harness.common.writing import write_atomically
from harness.engine.judgement.totals import Sums
from harness.engine.result.events import Started
from harness.engine.search.plan import Plan, encode
from harness.subjects.spec import SubjectSpec
from harness.world.case import Case
from harness.world.profiles import own_profiles

FORMAT: Final = "stackproof.checkpoint/1"
_NAME: Final = "checkpoint.json"


class Checkpoint(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The state of a search after some chunks.

    ``campaign`` is the digest of its campaign (`campaign_of`), ``corpus`` the cases that it began with, ``in_files``
    whether its kept cases are in the corpus already. ``seal`` is a digest of everything else: after an edit by hand
    the parts might not fit together, which the types cannot detect.
    """

    format: str = FORMAT
    subjects: tuple[str, str]
    seed: int
    campaign: str
    corpus: list[Case]
    in_files: bool = False
    sums: Sums
    seal: str = ""


def campaign_of(started: Started, plan: Plan, subjects: Sequence[SubjectSpec]) -> str:
    """Return a digest of everything that decides the cases of a campaign and their outcomes, except their number.

    This includes the source texts of ``subjects`` that are folders, and the answers to the probes of both.
    """
    ways = [(spec.sources(), spec.profile, spec.limits) for spec in subjects]
    return hashlib.sha256(
        encode((started.identities, started.first, started.second, plan, own_profiles(), ways))
    ).hexdigest()


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the checkpoint of a corpus folder, completely or not at all. Raises UsageError if that fails."""
    found = seal(parse_json(encode(msgspec.structs.replace(checkpoint, seal=""))))
    write_atomically(folder / _NAME, encode(msgspec.structs.replace(checkpoint, seal=found)))


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the checkpoint of a corpus folder, None if there is none. Raises UsageError for a broken one."""
    path = folder / _NAME
    try:
        data = read_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        found = parse_json(data, dict)
        if found.get("format") != FORMAT:
            raise UsageError(
                f"{path}: its format is {str(found.get('format'))[:60]!r}, and this version reads {FORMAT}; "
                "remove it to begin anew"
            )
        checkpoint = parse_json(data, Checkpoint)
        if seal({**found, "seal": ""}) != checkpoint.seal:
            raise UsageError(f"{path}: it was changed since it was written; remove it to begin anew")
        return checkpoint
    except msgspec.DecodeError as error:
        raise UsageError(f"{path}: this is no checkpoint: {str(error)[:200]}; remove it to begin anew") from None
