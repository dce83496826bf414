"""Writes the file of one shard of a campaign, and reads the files of all shards to merge them.

The file of a shard has the request, and the sums that its search ended with; nothing is minimised or judged yet. A
merge opens the same subjects again, adds up the sums and continues from there, so that its result equals that of one
run.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from harness.common.errors import UsageError
from harness.common.reading import parse_json, seal
from harness.engine.judgement.totals import Gathered
from harness.engine.ledger.entries import Ledger
from harness.engine.options import GateOptions
from harness.engine.search.guide import STREAMS
from harness.engine.search.plan import Request, Shard
from harness.formats.subjectname import parse_subject
from harness.moves import Moved
from harness.report.result.results import read_format
from harness.subjects.open import checked_interpreter
from harness.subjects.profile import Profile
from harness.subjects.sources import Tree, locate
from harness.subjects.spec import Limits, SubjectSpec

FORMAT: Final = "stackproof.shard/1"
COUNTS: Final = tuple(number for number in range(1, STREAMS + 1) if STREAMS % number == 0)
"""The numbers of shards into which a campaign can be split: a shard consists of whole streams."""

_COMMIT: Final = "commit:"
_WHAT: Final = "a shard, as gate --shard writes it"


class ShardSubject(msgspec.Struct, frozen=True):
    """One subject: its name, its identity, and everything else that decides how it resolves.

    ``sources`` stands for its source texts: a digest of them for a folder, otherwise the identity.
    """

    name: str
    identity: str
    slice: bool
    package: str
    target: str
    profile: Profile
    limits: Limits
    sources: str


class AskedOfShards(msgspec.Struct, frozen=True, kw_only=True):
    """The request, which is equal for all shards of a campaign.

    ``stackproof`` is the version of stackproof that made the cases: another version may make other cases.
    """

    stackproof: str
    subjects: tuple[ShardSubject, ShardSubject]
    fields: tuple[str, ...]
    all_fields: bool
    cases: int | None
    seconds: float | None
    seed: int
    ledger: Ledger
    moved: tuple[Moved, ...] | None
    notes: tuple[str, ...]


class ShardDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The file of one shard: its number, the request, and the sums of its search.

    ``seal`` is a digest of ``gathered``. Types cannot check that its parts fit together, so a file in which it was
    edited is refused.
    """

    format: Literal["stackproof.shard/1"] = FORMAT
    shard: Shard
    asked: AskedOfShards
    gathered: Gathered
    seal: str


class _Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """A `ShardDocument` whose ``gathered`` is not decoded yet: the seal is checked on the JSON of the file."""

    shard: Shard
    asked: AskedOfShards
    gathered: msgspec.Raw
    seal: str


def parse_shard(text: str) -> Shard:
    """Return the shard that a text ``I/N`` names. Raises UsageError for any other form or number."""
    index, slash, of = text.partition("/")
    if not (slash and index.isascii() and index.isdigit() and of.isascii() and of.isdigit()):
        raise UsageError(f"--shard {text}: write I/N, such as 1/4 for the first of four")
    if int(of) not in COUNTS:
        known = f"{', '.join(map(str, COUNTS[:-1]))} or {COUNTS[-1]}"
        raise UsageError(f"--shard {text}: a campaign can be split into {known} shards, not {of}")
    if not 1 <= int(index) <= int(of):
        raise UsageError(f"--shard {text}: the shards of {of} are 1/{of} to {of}/{of}")
    return Shard(int(index), int(of))


def shard_document(request: Request, gathered: Gathered) -> bytes:
    """Return the content of a shard's file, as JSON: the request with its shard, and the sums of the search."""
    asked = AskedOfShards(
        stackproof=_version(),
        subjects=(_subject(request.first), _subject(request.second)),
        fields=request.fields,
        all_fields=request.all_fields,
        cases=request.budget.cases,
        seconds=request.budget.seconds,
        seed=request.seed,
        ledger=request.ledger,
        moved=request.moved,
        notes=request.notes,
    )
    found = seal(parse_json(msgspec.json.encode(gathered)))
    return msgspec.json.encode(ShardDocument(shard=request.shard, asked=asked, gathered=gathered, seal=found)) + b"\n"


def _version() -> str:
    return importlib.metadata.version("stackproof")


def _subject(spec: SubjectSpec) -> ShardSubject:
    return ShardSubject(
        spec.label,
        spec.tree.identity,
        spec.slice,
        spec.package,
        spec.target,
        spec.profile,
        spec.limits,
        spec.sources(),
    )


def read_shards(paths: Sequence[Path]) -> tuple[AskedOfShards, list[Gathered]]:
    """Return the request that the shards share, and the sums of each shard, in the order of the shards.

    Raises UsageError for a file that is no shard, and unless the files are all shards of one campaign, each once.
    """
    documents = [(path, _read(path)) for path in paths]
    first_path, first = documents[0]
    found: dict[int, Path] = {}
    for path, document in documents:
        _same(first_path, first, path, document)
        index, of = document.shard.index, document.shard.of
        if of not in COUNTS or not 1 <= index <= of:
            raise UsageError(f"{path} says that it is shard {index}/{of}, which there is not")
        if index in found:
            raise UsageError(f"shard {index}/{first.shard.of} is there twice: {found[index]} and {path}")
        found[index] = path
    missing = [f"{index}/{first.shard.of}" for index in range(1, first.shard.of + 1) if index not in found]
    if missing:
        raise UsageError(f"shard {', '.join(missing)} is missing: merge takes all shards of a campaign")
    if first.asked.stackproof != _version():
        raise UsageError(
            f"the shards were made by stackproof {first.asked.stackproof}, and this is {_version()}: use that one"
        )
    documents.sort(key=lambda pair: pair[1].shard.index)
    return first.asked, [document.gathered for _, document in documents]


def _read(path: Path) -> ShardDocument:
    sealed = read_format(path, FORMAT, _Sealed, _WHAT)
    raw = bytes(sealed.gathered)
    try:
        gathered = parse_json(raw, Gathered)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is not the whole of {_WHAT}: {error}") from None
    if seal(parse_json(raw)) != sealed.seal:
        raise UsageError(f"{path} is not {_WHAT}: what was gathered was changed since, run the shard again")
    return ShardDocument(shard=sealed.shard, asked=sealed.asked, gathered=gathered, seal=sealed.seal)


def _same(first_path: Path, first: ShardDocument, path: Path, document: ShardDocument) -> None:
    if document.shard.of != first.shard.of:
        raise UsageError(f"{first_path} is one of {first.shard.of} shards and {path} one of {document.shard.of}")
    for name in AskedOfShards.__struct_fields__:
        if msgspec.json.encode(getattr(first.asked, name)) != msgspec.json.encode(getattr(document.asked, name)):
            raise UsageError(f"{first_path} and {path} are not of one campaign: they differ in {name}")


def open_again(asked: AskedOfShards, options: GateOptions, folder: Path) -> Request:
    """Return the request ``asked``, with its subjects opened again; relative names start at ``folder``.

    Only the interpreter and the number of processes are taken from ``options``. Raises UsageError for a subject that
    is not the same here.
    """
    python = checked_interpreter(options.python or sys.executable)
    specs = [
        SubjectSpec(
            tree=_tree(part, folder),
            slice=part.slice,
            profile=part.profile,
            python=python,
            limits=part.limits,
            package=part.package,
            target=part.target,
        )
        for part in asked.subjects
    ]
    for part, spec in zip(asked.subjects, specs, strict=True):
        if spec.sources() != part.sources:
            raise UsageError(f"{part.name} was changed since the shards were run: run them again")
    same = dataclasses.replace(
        options,
        fields=asked.fields,
        all_fields=asked.all_fields,
        cases=asked.cases,
        seconds=asked.seconds,
        seed=asked.seed,
    )
    return same.request(specs[0], specs[1], ledger=asked.ledger, moved=asked.moved, notes=asked.notes)


def _tree(part: ShardSubject, cwd: Path) -> Tree:
    name = parse_subject(part.name)
    if part.identity.startswith(_COMMIT):
        # Open the commit and not the branch, which may have moved on since.
        name = dataclasses.replace(name, value=part.identity.removeprefix(_COMMIT))
    tree = locate(name, cwd=cwd)
    if tree.identity != part.identity:
        raise UsageError(f"{part.name} is {tree.identity} here, and the shards are of {part.identity}")
    return tree
