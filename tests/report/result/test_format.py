"""The JSON result is what its schema says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from made_results import HOSTILE, result

from harness.report.result.document import document
from harness.report.result.format import GateDocument, make_schema, schema

VALIDATOR: Any = jsonschema.Draft202012Validator(json.loads(schema()))


def test_the_shipped_schema_is_the_one_of_the_types() -> None:
    assert schema() == make_schema(), "write make_schema() to harness/report/schemas"
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))


@pytest.mark.parametrize("made", [result(), result(HOSTILE, HOSTILE, HOSTILE), result({"a": [None, 1.5]})])
def test_a_document_is_valid(made: Any) -> None:
    VALIDATOR.validate(json.loads(document(made)))


def test_a_document_is_read_by_its_types() -> None:
    body = msgspec.json.decode(document(result()), type=GateDocument)
    assert [part.field for part in body.buckets] == ["page_size", ""]
    assert [write.line for write in body.buckets[0].chains[1]] == [2, 3]
    assert [(part.never, part.excuse) for part in body.reach[1].unseen] == [("", ""), ("true", "no moon")]
    assert body.breakdown.machines["h100"].different == {"(refusal)": 1, "page_size": 3}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], "stackproof.gate/2"),
        (["verdict"], "fine"),
        (["counts", "different"], -1),
        (["buckets", 0, "witness"], {"args": {}}),
        (["buckets", 0, "chains"], [[]]),
        (["reach", 1, "unseen", 0, "seen"], "both"),
    ],
)
def test_the_schema_refuses(path: list[str | int], value: object) -> None:
    body = part = json.loads(document(result()))
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    assert not VALIDATOR.is_valid(body)


@pytest.mark.parametrize("key", ["format", "buckets", "breakdown", "reach"])
def test_the_schema_misses_a_key(key: str) -> None:
    body = json.loads(document(result()))
    del body[key]
    assert not VALIDATOR.is_valid(body)
