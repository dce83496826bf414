"""Writes the result of a gate as one JSON document, and its witnesses as files of cases.

The document has neither times nor the number of jobs, so that two runs of one seed can be compared with ``diff``.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import asdict

from harness.common.writing import make_folder, write_atomically
from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import Difference, check_texts, decision_text, writer_texts
from harness.engine.result.breakdown import Breakdown
from harness.engine.result.events import Covered, Finished
from harness.formats.contract import encode_case
from harness.report.result.format import (
    FORMAT,
    BreakdownPart,
    BucketPart,
    CountsPart,
    DrawnPart,
    ExplainedPart,
    FormPart,
    GateDocument,
    InteractionsPart,
    NamesPart,
    PairsPart,
    ReachPart,
    RefusalPart,
    SubjectPart,
    TriplesPart,
    UnseenPart,
    WritePart,
    WriterPart,
)
from harness.report.wording.causes import cause_words, slug
from harness.report.wording.places import involved
from harness.world.case import Case

_SEEN: Final = ("neither", "true", "false")


def document(result: Finished) -> bytes:
    """Return the result as indented JSON with a line break at the end."""
    started = result.started
    body = GateDocument(
        format=FORMAT,
        verdict=result.verdict,
        reason=result.reason,
        interrupted=result.interrupted,
        subjects=(
            SubjectPart(name=started.first, identity=started.identities[0]),
            SubjectPart(name=started.second, identity=started.identities[1]),
        ),
        seed=started.seed,
        counts=_as(CountsPart, result.counts),
        compared=started.compared,
        absent=started.absent,
        notes=started.notes,
        buckets=[_bucket(result, number) for number in range(len(result.buckets))],
        explained=[_explained(bucket, result) for bucket in result.explained],
        stale=result.stale,
        reach=(_reach(result.covered[0]), _reach(result.covered[1])),
        drawn=_drawn(result),
        interactions=_interactions(result),
        breakdown=_as(BreakdownPart, _in_order(result.breakdown)),
        moved=started.moved,
    )
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def _bucket(result: Finished, number: int) -> BucketPart:
    bucket, trace = result.buckets[number], result.traces[number]
    first, second = (_as(list[WritePart], involved(bucket, chain)) for chain in trace.chains)
    return BucketPart(
        id=slug(bucket),
        explanation=result.explanations[number].splitlines(),
        chains=(first, second),
        refusals=_as(tuple[RefusalPart | None, RefusalPart | None], trace.refusals),
        **_difference(bucket, result),
    )


def _explained(bucket: Bucket, result: Finished) -> ExplainedPart:
    entry = next(entry for entry in result.started.ledger.entries if entry.id == bucket.difference.entry)
    return ExplainedPart(
        entry=entry.id, reason=entry.reason, reference=entry.reference, **_difference(bucket, result)
    )


def _difference(bucket: Bucket, result: Finished) -> dict[str, Any]:
    """Return the keys that all buckets have, whether or not the ledger explains them."""
    cause = cause_words(bucket, result.started)
    return {
        **_differs(bucket.difference),
        "along": bucket.difference.along,
        "count": bucket.count,
        "parts": [FormPart(**_differs(part), count=count) for part, count in bucket.parts],
        "witness": msgspec.Raw(encode_case(bucket.witness)),
        "others": [msgspec.Raw(encode_case(case)) for case in bucket.others],
        "launch": cause.smallest.command,
        "resolve": cause.resolve,
    }


def _differs(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "field": difference.name,
        "first": difference.first,
        "second": difference.second,
        "writers": None if difference.writers is None else writer_texts(difference.writers),
        "decision": None if difference.decision is None else tuple(map(decision_text, difference.decision)),
        "parted": difference.parted,
        "checks": None if difference.checks is None else check_texts(difference.checks),
    }


def _reach(covered: Covered) -> ReachPart:
    return ReachPart(
        writes=[
            WriterPart(**{**asdict(site.writer), "count": site.count, "excuse": site.excuse})
            for site in covered.writes
        ],
        decisions=len(covered.decisions),
        outcomes=covered.outcomes,
        unseen=[
            UnseenPart(**asdict(site.decision), seen=_SEEN[site.seen]) for site in covered.decisions if site.seen != 3
        ],
    )


def _drawn(result: Finished) -> DrawnPart:
    """Return the names that some case had, and the other names that cases could have had, both sorted."""
    drawn, drawable = result.drawn, result.started.drawable
    return DrawnPart(
        architectures=_names(drawn.architectures, drawable.architectures),
        machines=_names(drawn.machines, drawable.machines),
    )


def _names(drawn: Set[str], drawable: Set[str]) -> NamesPart:
    return NamesPart(drawn=sorted(drawn & drawable), never=sorted(drawable - drawn))


def _interactions(result: Finished) -> InteractionsPart:
    found = result.interactions
    space = found.space
    return InteractionsPart(
        parameters=space.parameters,
        pairs=PairsPart(covered=found.pairs, total=space.pairs),
        triples=TriplesPart(covered=found.triples, counted=space.sampled, total=space.triples),
    )


def _in_order(breakdown: Breakdown) -> Any:
    """Return the groups and their counts in alphabetical order, because their own order depends on the jobs."""
    return msgspec.json.decode(msgspec.json.encode(breakdown, order="sorted"))


Converted = TypeVar("Converted")


def _as(kind: type[Converted], value: object) -> Converted:
    """Return ``value`` as the part ``kind`` of the document: each key gets the attribute of the same name."""
    return msgspec.convert(value, kind, from_attributes=True)


@contextlib.contextmanager
def folder_for(folder: Path | None) -> Iterator[None]:
    """Make the folder, if one is named, before the block runs; if the block fails, remove it if it was made.

    Raises UsageError for a folder that cannot be written or is not empty.
    """
    # It must be empty, because nobody could tell apart the witnesses of two runs in one folder.
    made = folder is not None and make_folder(folder, "--save", "witnesses need a folder", empty=True)
    try:
        yield
    except BaseException:
        if made and folder is not None:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _with_own_ids(cases: Sequence[Case]) -> Iterator[Case]:
    """Yield the cases with distinct ids. Several forms may have been minimised from one case and so have its id."""
    seen: Counter[str] = Counter()
    for case in cases:
        seen[case.id] += 1
        yield case if seen[case.id] == 1 else msgspec.structs.replace(case, id=f"{case.id}-form{seen[case.id]}")


def save_result(result: Finished, folder: Path) -> list[Path]:
    """Write the document as ``result.json``, and for each bucket a file of cases that ``replay`` can run again.

    The file of a bucket has its witness and the witnesses of its other forms. Returns these files, in the order of
    the buckets. Raises UsageError if a file cannot be written; then those already written are removed.
    """
    written = []
    try:
        for bucket in result.buckets:
            path = folder / f"{slug(bucket)}.jsonl"
            write_atomically(
                path, (encode_case(case) + b"\n" for case in _with_own_ids([bucket.witness, *bucket.others]))
            )
            written.append(path)
        write_atomically(folder / "result.json", document(result))
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return written
