"""The result as SARIF 2.1.0, with a SARIF result for each cause, at the lines of both subjects that decided.

The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections import Counter
from typing import Any, Final
from urllib.parse import quote

import msgspec

from harness.common.errors import visible
from harness.engine.difference.buckets import Bucket
from harness.engine.result.events import Finished, Reached
from harness.engine.result.excerpts import CONTEXT, Excerpts
from harness.report.wording.causes import cause_words, difference_words
from harness.report.wording.places import Spot, involved, partings, repository_path, spots
from harness.report.wording.words import shortened
from harness.world.chain import Place, Write

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASES: Final = ("FIRST", "SECOND")
_TOP: Final = "SRCROOT"
_LEVELS: Final = {"equivalent": "note", "different": "error", "inconclusive": "warning"}
_RULES: Final = {
    "field": ("FieldDiffers", "Both subjects resolve the launch, to different values of a field."),
    "environment": ("VariableDiffers", "Both subjects resolve the launch, and leave a variable different."),
    "refusals": ("ChecksDiffer", "Both subjects refuse the launch, by different checks."),
    "refusal": ("OneRefuses", "One subject resolves the launch, and the other refuses it."),
    "failure": ("NoOutcome", "A subject gave no outcome: it died, hung, ran out of memory or asked what is unknown."),
    "unreached": ("NeverRan", "No case reached this place that writes a compared field."),
}


def sarif(result: Finished) -> bytes:
    """Return a SARIF log with one run.

    A cause is an error, or a warning if a probe was unanswered, so that nothing could be compared. A difference that
    the ledger explains is a suppressed note. A place that writes a required field and never ran is a warning.

    If a file of the second subject is in the user's repository, its path starts at the top of that (``SRCROOT``). All
    other paths start at the folder that holds the package (``FIRST``, ``SECOND``). Equal results give equal bytes.
    """
    started = result.started
    found = [_result(result, number) for number in range(len(result.buckets))]
    found += [_explained(result, bucket) for bucket in result.explained]
    for side, covered in enumerate(result.covered):
        found += [_unreached(result, side, site) for site in covered.missed(started.gated)]
    names, seen = list(_RULES), Counter[str]()
    for one in found:
        one["ruleIndex"] = names.index(one["ruleId"])
        identity = one.pop("identity")
        # Results may have equal identities, because these contain no lines. Their number keeps them apart.
        seen[identity] += 1
        one["partialFingerprints"] = {"stackproof/v1": _digest(f"{identity}\0{seen[identity]}")}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver()},
                "automationDetails": {"id": visible(f"stackproof/{started.first}/{started.second}/")},
                "originalUriBaseIds": _bases(result),
                "invocations": [_invocation(result)],
                "columnKind": "unicodeCodePoints",
                "results": found,
                "properties": {
                    "verdict": result.verdict,
                    "subjects": [
                        {"name": visible(label), "identity": visible(identity)}
                        for label, identity in zip((started.first, started.second), started.identities, strict=True)
                    ],
                    "seed": started.seed,
                    "counts": {"cases": result.counts.cases, **msgspec.to_builtins(result.counts)},
                },
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n"


def _driver() -> dict[str, Any]:
    return {
        "name": "stackproof",
        "version": importlib.metadata.version("stackproof"),
        "rules": [
            {
                "id": kind,
                "name": name,
                "shortDescription": {"text": text},
                "defaultConfiguration": {"level": "warning" if kind == "unreached" else "error"},
            }
            for kind, (name, text) in _RULES.items()
        ],
    }


def _bases(result: Finished) -> dict[str, Any]:
    started = result.started
    bases: dict[str, Any] = {
        name: {"description": {"text": visible(f"the folder that holds the package of {label}")}}
        for name, label in zip(_BASES, (started.first, started.second), strict=True)
    }
    bases[_TOP] = {"description": {"text": "the top of the user's repository"}}
    return bases


def _invocation(result: Finished) -> dict[str, Any]:
    notification = {
        "level": _LEVELS[result.verdict],
        "message": {"text": _text(f"{result.verdict}: {result.reason}")},
    }
    return {"executionSuccessful": not result.interrupted, "toolExecutionNotifications": [notification]}


def _result(result: Finished, number: int) -> dict[str, Any]:
    bucket, trace = result.buckets[number], result.traces[number]
    first, second = result.started.first, result.started.second
    sides = spots(result, number)
    main = 1 if sides[1].place is not None else 0
    body = _body(result, bucket)
    body["locations"] = _locations(result, main, sides[main])
    related = [
        {**one, "id": side, "message": {"text": _text(_made(result, bucket, side))}}
        for side, spot in enumerate(sides)
        for one in _locations(result, side, spot)
        if "physicalLocation" in one
    ]
    related += [
        {**one, "id": 2 + side, "message": {"text": _text(f"{(first, second)[side]}: where the two diverged before")}}
        for side, spot in enumerate(partings(result, number))
        for one in _locations(result, side, spot)
    ]
    if related:
        body["relatedLocations"] = related
    flows = [
        {"message": {"text": _text(f"the writes of {label}")}, "threadFlows": [{"locations": steps}]}
        for side, label in enumerate((result.started.first, result.started.second))
        if (steps := [_step(result, side, write) for write in involved(bucket, trace.chains[side])])
    ]
    if flows:
        body["codeFlows"] = flows
    return body


def _body(result: Finished, bucket: Bucket) -> dict[str, Any]:
    difference, cause = bucket.difference, cause_words(bucket, result.started)
    first, second = cause.sides
    text = (
        f"{cause.name}: {first.value} in {first.label}, {second.value} in {second.label}; "
        f"{cause.cases}, the smallest: {cause.smallest.command}"
    )
    if cause.smallest.world:
        text += f" (on {cause.smallest.world})"
    missing = difference.failures is not None and "unanswered" in difference.failures
    return {
        "ruleId": difference.kind,
        "level": "warning" if missing else "error",
        "message": {"text": _text(text)},
        "occurrenceCount": bucket.count,
        "identity": difference.key_without_lines(),
        "properties": {
            "field": visible(difference.name),
            "first": visible(shortened(first.value)),
            "second": visible(shortened(second.value)),
            "launch": cause.smallest.command,
            "resolve": cause.resolve,
            "along": [visible(other) for other in difference.along],
        },
    }


def _explained(result: Finished, bucket: Bucket) -> dict[str, Any]:
    entry = next(entry for entry in result.started.ledger.entries if entry.id == bucket.difference.entry)
    reason = _text(f"ledger entry {entry.id}: {entry.reason} ({entry.reference})")
    suppression = {"kind": "external", "status": "accepted", "justification": reason}
    return {**_body(result, bucket), "level": "note", "suppressions": [suppression]}


def _unreached(result: Finished, side: int, site: Reached) -> dict[str, Any]:
    place = site.writer
    label = (result.started.first, result.started.second)[side]
    return {
        "ruleId": "unreached",
        "level": "warning",
        "message": {"text": _text(f"{place.field}: no case reached this place of {label}, in {place.source}")},
        "identity": f"{side}\0{place.field}\0{place.source}\0{place.file}",
        "locations": _locations(result, side, Spot(place, place.source)),
    }


def _made(result: Finished, bucket: Bucket, side: int) -> str:
    label = (result.started.first, result.started.second)[side]
    return f"{label}: {difference_words(bucket.difference)[1 + side]}"


def _step(result: Finished, side: int, write: Write) -> dict[str, Any]:
    (location,) = _locations(result, side, Spot(write, write.source))
    value = msgspec.json.encode(write.value).decode()
    return {"location": {**location, "message": {"text": _text(f"{write.field} = {value}")}}}


def _locations(result: Finished, side: int, spot: Spot) -> list[dict[str, Any]]:
    location: dict[str, Any] = {}
    if spot.place is not None:
        location["physicalLocation"] = _physical(result, side, spot.place)
    if spot.what:
        location["logicalLocations"] = [{"name": visible(spot.what), "kind": "function"}]
    return [location] if location else []


def _physical(result: Finished, side: int, place: Place) -> dict[str, Any]:
    path = repository_path(result, side, place.file) if side == 1 else None
    base = _TOP if path is not None else _BASES[side]
    body: dict[str, Any] = {"artifactLocation": {"uri": _uri(path or place.file), "uriBaseId": base}}
    if place.line < 1:
        return body
    excerpts = result.excerpts[side]
    body["region"] = {"startLine": place.line}
    if text := excerpts.line(place.file, place.line):
        body["region"]["snippet"] = {"text": visible(text)}
        body["contextRegion"] = _context(excerpts, place)
    return body


def _context(excerpts: Excerpts, place: Place) -> dict[str, Any]:
    lines = excerpts.around(place.file, place.line, CONTEXT)
    return {
        "startLine": lines[0][0],
        "endLine": lines[-1][0],
        "snippet": {"text": "".join(f"{visible(text)}\n" for _, text in lines)},
    }


def _uri(path: str) -> str:
    """Return a relative path as a relative URI that has no scheme and does not leave its base.

    A subject reports its paths itself, so that a path may have any form.
    """
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return "/".join(quote(part, safe="", errors="replace") for part in parts)


def _text(text: str) -> str:
    """Return ``text`` as a message without links: SARIF would read ``[text](target)`` as a link."""
    shown = visible(shortened(text))
    return shown.replace("](", "] (")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
