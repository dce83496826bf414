"""The result as one JSON document, and as case files on disk. The same result gives the same bytes.

Neither times nor the number of jobs are in it: two runs of one seed can be compared with ``diff``.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.engine.buckets import Bucket
from harness.engine.events import Covered, Drawn, Finished, Reached
from harness.errors import UsageError
from harness.report.words import launch_command, resolve_command, slug
from harness.world.case import Case
from harness.world.chain import Decision
from harness.world.contract import encode_case, write_atomically

FORMAT = "stackproof.gate/1"
_SEEN = ("neither", "true", "false")


def document(result: Finished) -> bytes:
    """Return the result as indented JSON with a line break at the end."""
    started = result.started
    body = {
        "format": FORMAT,
        "verdict": result.verdict,
        "reason": result.reason,
        "interrupted": result.interrupted,
        "subjects": [
            {"name": started.first, "identity": started.identities[0]},
            {"name": started.second, "identity": started.identities[1]},
        ],
        "seed": started.seed,
        "counts": {"cases": result.counts.cases, **msgspec.to_builtins(result.counts)},
        "compared": started.compared,
        "absent": started.absent,
        "notes": started.notes,
        "buckets": [
            _bucket(bucket, explanation, result)
            for bucket, explanation in zip(result.buckets, result.explanations, strict=True)
        ],
        "explained": [_explained(bucket, result) for bucket in result.explained],
        "stale": result.stale,
        "reach": [_covered(side) for side in result.covered],
        "drawn": _drawn(result),
        "interactions": _interactions(result),
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def _explained(bucket: Bucket, result: Finished) -> dict[str, Any]:
    entry = next(entry for entry in result.started.ledger.entries if entry.id == bucket.difference.entry)
    body = _bucket(bucket, "", result)
    del body["id"], body["explanation"]
    return {"entry": entry.id, "reason": entry.reason, "reference": entry.reference, **body}


def _covered(covered: Covered) -> dict[str, Any]:
    return {
        "writes": [_reached(site) for site in covered.writes],
        "decisions": len(covered.decisions),
        "outcomes": covered.outcomes,
        "unseen": [
            {**_decision(site.decision), "seen": _SEEN[site.seen]} for site in covered.decisions if site.seen != 3
        ],
    }


def _decision(decision: Decision) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.to_builtins(decision)
    return body if decision.excuse else {name: body[name] for name in ("text", "source", "file", "line")}


def _reached(site: Reached) -> dict[str, Any]:
    body = {**msgspec.to_builtins(site.writer), "count": site.count}
    del body["excuse"]
    return {**body, "excuse": site.excuse} if site.excuse else body


def _drawn(result: Finished) -> dict[str, Any]:
    """Return the names that were drawn and those that could have been, sorted."""
    drawn, drawable = result.drawn, result.started.drawable
    return {
        what: {
            "drawn": sorted(getattr(drawn, what) & getattr(drawable, what)),
            "never": sorted(getattr(drawable, what) - getattr(drawn, what)),
        }
        for what in Drawn.__struct_fields__
    }


def _interactions(result: Finished) -> dict[str, Any]:
    found = result.interactions
    space = found.space
    return {
        "parameters": space.parameters,
        "pairs": {"covered": found.pairs, "total": space.pairs},
        "triples": {"covered": found.triples, "counted": space.sampled, "total": space.triples},
    }


def _bucket(bucket: Bucket, explanation: str, result: Finished) -> dict[str, Any]:
    difference = bucket.difference
    return {
        "id": slug(bucket),
        "kind": difference.kind,
        "field": difference.name,
        "first": difference.first,
        "second": difference.second,
        "writers": difference.writers,
        "decision": difference.decision,
        "parted": difference.parted,
        "checks": difference.checks,
        "along": difference.along,
        "count": bucket.count,
        "parts": [
            {
                "kind": part.kind,
                "field": part.name,
                "first": part.first,
                "second": part.second,
                "writers": part.writers,
                "decision": part.decision,
                "parted": part.parted,
                "checks": part.checks,
                "count": count,
            }
            for part, count in bucket.parts
        ],
        "witness": msgspec.Raw(encode_case(bucket.witness)),
        "others": [msgspec.Raw(encode_case(case)) for case in bucket.others],
        "launch": launch_command(bucket.witness, result.started.flags),
        "resolve": [
            resolve_command(bucket.witness, label, result.started.flags)
            for label in (result.started.first, result.started.second)
        ],
        "explanation": explanation.splitlines(),
    }


@contextlib.contextmanager
def folder_for(folder: Path | None) -> Iterator[None]:
    """Check the folder, if one is named, before the block; where the block fails, leave none that was not there.

    Raises UsageError for a folder that cannot be written or holds something.
    """
    made = folder is not None and _check_folder(folder)
    try:
        yield
    except BaseException:
        if made and folder is not None:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _check_folder(folder: Path) -> bool:
    """Make ``folder`` if it is not there, and prove that files can be written into it; return whether it was made.

    Raises UsageError, before a long run rather than after it, also for a folder that holds something: the witnesses
    of two runs in one folder could not be told apart.
    """
    made = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        if next(folder.iterdir(), None) is not None:
            raise UsageError(f"--save {folder}: the folder is not empty, name a new one")
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"--save {folder}: this is a file, and witnesses need a folder") from None
    except FileNotFoundError:
        raise UsageError(f"--save {folder}: the folder {folder.parent} does not exist") from None
    except OSError as error:
        raise UsageError(f"--save {folder}: cannot write there: {error.strerror or error}") from None
    return made


def _with_own_ids(cases: Sequence[Case]) -> Iterator[Case]:
    """Yield the cases with different ids: what was shrunk from one case may have several forms."""
    seen: Counter[str] = Counter()
    for case in cases:
        seen[case.id] += 1
        yield case if seen[case.id] == 1 else msgspec.structs.replace(case, id=f"{case.id}-form{seen[case.id]}")


def save_result(result: Finished, folder: Path) -> list[Path]:
    """Write the document as ``result.json``, and each witness as a case file that ``replay`` runs again.

    Returns the case files, in the buckets' order. Raises UsageError when a file cannot be written; a file is whole
    or not there.
    """
    written = []
    for bucket in result.buckets:
        path = folder / f"{slug(bucket)}.jsonl"
        write_atomically(
            path, (encode_case(case) + b"\n" for case in _with_own_ids([bucket.witness, *bucket.others]))
        )
        written.append(path)
    write_atomically(folder / "result.json", document(result))
    return written
