"""The SARIF log: valid against the official schema, read by somebody else's package, and pointing at both sides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pysarif
import pytest
from made_results import HOSTILE, NEW, OLD, bucket, result

from harness.engine.result.events import Finished
from harness.report.ci.sarif import sarif
from harness.world.chain import Place

# Of the OASIS repository sarif-spec, as it is.
SCHEMA = Path(__file__).with_name("sarif-schema-2.1.0.json")
VALIDATOR: Any = jsonschema.Draft4Validator(json.loads(SCHEMA.read_bytes()))


@pytest.mark.parametrize("made", [result(), result(HOSTILE, HOSTILE, HOSTILE), result("x" * 100_000)])
def test_a_log_is_valid(made: Any) -> None:
    VALIDATOR.validate(json.loads(sarif(made)))


def test_the_schema_can_refuse() -> None:
    body = json.loads(sarif(result()))
    body["runs"][0]["results"][0]["level"] = "dreadful"
    assert not VALIDATOR.is_valid(body)


def test_another_reader_finds_the_causes_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "gate.sarif"
    path.write_bytes(sarif(result()))
    run = pysarif.load_from_file(str(path)).runs[0]
    found = [(one.rule_id, one.level, one.occurrence_count) for one in run.results]
    assert found == [
        ("field", "error", 3),
        ("refusal", "error", 1),
        ("field", "note", 1),
        ("unreached", "warning", None),
    ]
    place = run.results[0].locations[0].physical_location
    assert (place.artifact_location.uri, place.artifact_location.uri_base_id) == (f"src/{NEW}", "SRCROOT")
    assert (place.region.start_line, place.region.snippet.text) == (2, "    view.page_size = 128")
    flows = run.results[0].code_flows
    assert [flow.thread_flows[0].locations[0].location.physical_location.region.start_line for flow in flows] == [
        1,
        2,
    ]
    assert run.results[1].locations[0].physical_location.region.start_line == 5
    assert run.results[2].suppressions[0].justification == "ledger entry meant: it is (#7)"
    missed = run.results[3].locations[0].physical_location
    assert (missed.artifact_location.uri, missed.artifact_location.uri_base_id) == (OLD, "FIRST")


def at(source: str, file: str, line: int) -> Place:
    return Place(source=source, file=file, line=line)


def with_writers(*writers: Place | None) -> Finished:
    made = result()
    return msgspec.structs.replace(made, buckets=(bucket(128, writers=writers), *made.buckets[1:]))


def test_both_sides_are_located() -> None:
    body = json.loads(sarif(with_writers(at("handle", OLD, 3), at("page_pass", NEW, 2))))
    related = body["runs"][0]["results"][0]["relatedLocations"]
    assert [one["physicalLocation"]["artifactLocation"]["uriBaseId"] for one in related] == ["FIRST", "SRCROOT"]


def test_a_file_does_not_lead_out_of_its_base() -> None:
    made = with_writers(None, at("page_pass", "../../etc/pass wd?x#y:z", 2))
    place = json.loads(sarif(made))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/etc/pass%20wd%3Fx%23y%3Az"


def test_a_finding_stays_the_same_when_its_line_moves() -> None:
    def marks(line: int) -> list[str]:
        found = bucket(128, writers=(None, at("page_pass", NEW, line)))
        made = msgspec.structs.replace(result(), buckets=(found, *result().buckets[1:]))
        results = json.loads(sarif(made))["runs"][0]["results"]
        return [one["partialFingerprints"]["stackproof/v1"] for one in results]

    assert marks(2) == marks(40)
    assert len(set(marks(2))) == 4


def test_nothing_in_a_message_is_a_link() -> None:
    body = json.loads(sarif(result("[here](https://x.example)")))
    assert "](" not in body["runs"][0]["results"][0]["message"]["text"]


def test_the_bytes_are_of_the_result_alone() -> None:
    assert sarif(result()) == sarif(result())
