"""Proposes ledger entries for the buckets of a run, as text to which a person adds the reasons.

An entry holds only for cases like those that its bucket shows. It has a condition for each input that the smallest
launch and the other forms have in common. A name or a switch must have the same value. A number only has to be set,
because one example does not show which numbers matter. The reason is left empty, and a ledger with an empty reason is
refused, so that a person has to write it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from harness.common.convert import changes
from harness.engine.ledger.entries import FORMAT
from harness.formats.contract import parse_case
from harness.moves.change import ROLES
from harness.report.result.format import BucketPart, GateDocument
from harness.report.wording.words import counted
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model

SCHEMA_FILE: Final = "stackproof-ledger.schema.json"
HEAD: Final = f'#:schema ./{SCHEMA_FILE}\nformat = "{FORMAT}"\n'
"""The first lines of a new ledger. The first one names the schema, for editors."""

ConditionTexts = dict[str, str]
"""Conditions on a case: a path such as ``args.page_size``, and the condition on the value there, as TOML text."""


def propose(result: GateDocument, taken: Collection[str] = ()) -> tuple[str, list[str], list[str]]:
    """Return entries as TOML text, their ids, and the ids of the buckets that no entry can explain.

    Buckets without an outcome cannot be explained. A bucket whose id is in ``taken`` has an entry already and is left
    out.
    """
    entries, names, left = [], [], []
    for bucket in result.buckets:
        if bucket.id in taken:
            continue
        if bucket.kind == "failure":
            left.append(bucket.id)
            continue
        names.append(bucket.id)
        entries.append("\n".join(_entry(bucket, result)) + "\n")
    return "\n".join(entries), names, left


def _entry(bucket: BucketPart, result: GateDocument) -> Iterator[str]:
    what = _remark(bucket.kind, bucket.field, bucket.first, "→", bucket.second)
    yield f"# In {counted(bucket.count, 'case')}: {what}"
    if bucket.writers is not None:
        yield f"# by {_remark(bucket.writers[0], '→', bucket.writers[1])}"
    yield f"# such as {_remark(bucket.launch)}"
    yield "[[difference]]"
    subjects = list(ROLES) if result.moved is not None else [side.name for side in result.subjects]
    yield f"id = {toml(bucket.id)}"
    yield f"subjects = {toml(subjects)}"
    yield from _what(bucket, result)
    yield 'reason = ""'
    yield 'reference = ""'
    yield 'owner = ""'
    yield "# expires = 2030-12-31"
    forms = [_conditions(parse_case(bytes(raw), bucket.id)) for raw in (bucket.witness, *bucket.others)]
    common, rest = _shared(forms)
    when = {**common, **_refusing(bucket)}
    if when:
        yield "[difference.when]"
        yield from _lines(when)
    for group in rest:
        yield "[[difference.any]]"
        yield from _lines(group)


def _what(bucket: BucketPart, result: GateDocument) -> Iterator[str]:
    """Yield the lines that say what may differ: fields, variables and refusals.

    They are what the bucket is about, and what differs as a consequence.
    """
    names = [*([bucket.field] if bucket.kind in ("field", "environment") else []), *bucket.along]
    fields = [name for name in names if name in result.compared]
    variables = [name for name in names if name not in result.compared]
    if fields:
        yield f"fields = {toml(fields)}"
    if variables:
        yield f"environment = {toml(variables)}"
    for kind in ("refusal", "refusals"):
        if kind == bucket.kind or any(part.kind == kind for part in bucket.parts):
            yield f"{kind} = true"


def _refusing(bucket: BucketPart) -> ConditionTexts:
    """Return conditions on the refusals of both sides; none unless every form of the bucket is about a refusal."""
    kinds = {bucket.kind, *(part.kind for part in bucket.parts)}
    if kinds & {"field", "environment"}:
        return {}
    group: ConditionTexts = {}
    for side, refusal in zip(("first", "second"), bucket.refusals, strict=True):
        if refusal is not None:
            group[f"{side}.error"] = toml(refusal.type)
            group[f"{side}.origin"] = toml(refusal.origin)
    return group


def _conditions(case: Case) -> ConditionTexts:
    """Return a condition on each part of a case that is not the default."""
    group: ConditionTexts = {}
    for head, given in (("args", case.args), ("env", case.env)):
        group |= {f"{head}.{name}": _asked(value) for name, value in given.items()}
    for head, part, plain in (("hardware", case.hardware, Hardware()), ("model", case.model, Model())):
        for name, value in changes(part, plain).items():
            # A version is a text, but as with a number, one example does not show which versions matter.
            group[f"{head}.{name}"] = _asked(0 if name == "cuda_version" and value is not None else value)
    if case.model.architectures != Model().architectures:
        group["model.architectures"] = f"{{ contains = {toml(case.model.architectures[0])} }}"
    return dict(sorted(group.items()))


def _asked(value: Any) -> str:
    if isinstance(value, str | bool):
        return toml(value)
    return "{ set = false }" if value is None else "{ set = true }"


def _shared(forms: Sequence[ConditionTexts]) -> tuple[ConditionTexts, list[ConditionTexts]]:
    """Return the conditions that all forms share, and for each form its further ones.

    If one form has no further conditions, the shared ones are enough, and the second list is empty.
    """
    common = {path: asked for path, asked in forms[0].items() if all(form.get(path) == asked for form in forms)}
    rest = []
    for form in forms:
        group = {path: asked for path, asked in form.items() if path not in common}
        if group not in rest:
            rest.append(group)
    return common, rest if all(rest) else []


def _lines(group: ConditionTexts) -> Iterator[str]:
    for path, asked in group.items():
        yield f"{toml(path)} = {asked}"


def _remark(*parts: Any) -> str:
    """Return the parts as text for a comment, on one line whatever is in them, and cut to a length."""
    words = " ".join(part if isinstance(part, str) else json.dumps(part) for part in parts if part != "")
    return "".join(char if char.isprintable() else " " for char in words)[:500]


def toml(value: Any) -> str:
    """Return a text, a switch, a number or a list of these as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is also a TOML string, except that JSON does not escape the character DEL, and TOML must.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    return f"[{', '.join(map(toml, value))}]"
