"""The JSON schema of a ledger, for editors: its keys with their meaning, and the paths of conditions."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from harness.engine.ledger.conditions import HEADS, known_names
from harness.engine.ledger.entries import EVERY_CASE, FORMAT

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
"""The draft that editors of TOML read."""


def ledger_schema() -> bytes:
    """Return the schema as indented JSON with a line break at the end."""
    free = [head for head in HEADS if known_names(head) is None]
    named = [f"{head}.{name}" for head in HEADS for name in known_names(head) or ()]
    conditions = {
        "type": "object",
        "properties": {path: {"$ref": "#/definitions/asked"} for path in named},
        "patternProperties": {f"^({'|'.join(free)})\\..+$": {"$ref": "#/definitions/asked"}},
        "additionalProperties": False,
    }
    body = {
        "$schema": _DRAFT,
        "title": FORMAT,
        "description": "Differences between two subjects that are meant.",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT, "description": "The version of this file's grammar."},
            "difference": {"type": "array", "items": {"$ref": "#/definitions/difference"}},
            "unreached": {"type": "array", "items": {"$ref": "#/definitions/unreached"}},
        },
        "required": ["format"],
        "additionalProperties": False,
        "definitions": {
            "text": {"type": "string", "pattern": "\\S"},
            "texts": {"type": "array", "items": {"type": "string"}},
            "plain": {"type": ["string", "boolean", "number", "array"]},
            "asked": _asked(),
            "conditions": conditions,
            "difference": _difference(),
            "unreached": _unreached(),
        },
    }
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def _asked() -> dict[str, Any]:
    plain = {"$ref": "#/definitions/plain"}
    operations = {
        "not": {**plain, "description": "None of these."},
        "contains": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}],
            "description": "A text with this in it, or a list with such an item.",
        },
        "at_least": {"type": "number"},
        "below": {"type": "number"},
        "set": {"type": "boolean", "description": "False: null, or not there at all."},
    }
    asked = {
        "type": "object",
        "properties": operations,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }
    return {"anyOf": [plain, asked], "description": "A value, one of a list of values, or one operation."}


def _difference() -> dict[str, Any]:
    texts = {"$ref": "#/definitions/texts"}
    properties = {
        "id": _text("The entry's own name."),
        "subjects": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 2,
            "maxItems": 2,
            "description": "The two subjects, as given to gate; base and head for those of gate --base.",
        },
        "fields": {**texts, "description": "Fields that may differ."},
        "environment": {**texts, "description": "Variables that may differ."},
        "absent": {**texts, "description": "Fields that one subject does not have."},
        "refusal": {"type": "boolean", "description": "One subject may refuse what the other resolves."},
        "refusals": {"type": "boolean", "description": "Both may refuse, with different checks."},
        "reason": _text("Why it is meant."),
        "reference": _text("Where that was decided: a pull request, an issue, a place in the source."),
        **_upkeep(),
        "scope": {"const": EVERY_CASE, "description": "The entry is meant without conditions."},
        "when": {"$ref": "#/definitions/conditions", "description": "All of these hold."},
        "any": {
            "type": "array",
            "items": {"$ref": "#/definitions/conditions"},
            "description": "One of these tables holds.",
        },
    }
    explains = ("fields", "environment", "absent", "refusal", "refusals")
    return {
        "type": "object",
        "properties": properties,
        "required": ["id", "subjects", "reason", "reference"],
        "anyOf": [{"required": [key]} for key in explains],
        "additionalProperties": False,
    }


def _unreached() -> dict[str, Any]:
    properties = {
        "subject": _text("The subject whose write cannot run."),
        "field": _text("The field that is written there."),
        "source": _text("The function that it stands in."),
        "reason": _text("Why no case can come there."),
        **_upkeep(),
    }
    required = ["subject", "field", "source", "reason"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _upkeep() -> dict[str, Any]:
    return {
        "owner": _text("Who answers for it."),
        "expires": {"description": "The last day that it is meant for, a date: ledger check tells from then on."},
    }


def _text(description: str) -> dict[str, Any]:
    return {"$ref": "#/definitions/text", "description": description}
