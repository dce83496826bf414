from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_strategies import cases, json_values, outcomes, refused

from harness.common.errors import UsageError
from harness.formats.contract import (
    MAX_CASE_BYTES,
    MAX_DEPTH,
    encode_case,
    encode_outcome,
    parse_case,
    parse_outcome,
    read_cases,
)
from harness.world.case import Case, Failure, Outcome, Refusal
from harness.world.fields import FieldSpec
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profile, model_profile

FIELDS = {
    spec.name: spec
    for spec in (
        FieldSpec(name="tp_size", type="int", default=1),
        FieldSpec(name="attention_backend", type="str", optional=True),
        FieldSpec(name="cuda_graph_config", type="object"),
    )
}


@given(cases)
def test_a_case_survives_the_way_through_its_line(case: Case) -> None:
    line = encode_case(case)
    assert b"\n" not in line
    again = parse_case(line, "x:1")
    assert again == case
    assert encode_case(again) == line


@given(outcomes)
def test_an_outcome_survives_the_way_through_its_line(outcome: Outcome) -> None:
    line = encode_outcome(outcome)
    assert b"\n" not in line
    again = parse_outcome(line, "x:1")
    assert again == outcome
    assert encode_outcome(again) == line


def test_the_contracts_case() -> None:
    line = (
        b'{"id": "c1", "args": {"tp_size": 8, "attention_backend": "fa3", "cuda_graph_config":'
        b' {"decode": {"backend": "full"}, "prefill": {"backend": "disabled"}}},'
        b' "hardware": {"platform": "cuda", "capability": [9, 0]}, "model": "deepseek-v3.2",'
        b' "env": {"SGLANG_USE_AITER": "1"}}'
    )
    case = parse_case(line, "cases.jsonl:1", FIELDS)
    assert case.id == "c1"
    assert case.args["cuda_graph_config"] == {
        "decode": {"backend": "full"},
        "prefill": {"backend": "disabled"},
    }
    assert case.hardware == Hardware(platform="cuda", capability=(9, 0))
    assert case.model == model_profile("deepseek-v3.2")
    assert case.env == {"SGLANG_USE_AITER": "1"}


def test_a_silent_case_takes_the_defaults() -> None:
    case = parse_case(b'{"id": "c1"}', "x:1", FIELDS)
    assert case == Case(id="c1", args={}, hardware=Hardware(), model=Model(), env={})


def test_a_case_is_written_short_and_sorted() -> None:
    case = Case(
        id="c1",
        args={"tp_size": 8, "attention_backend": "fa3"},
        hardware=hardware_profile("h100"),
        model=Model(architectures=["A"], gguf=True),
    )
    assert encode_case(case) == (
        b'{"id":"c1","args":{"attention_backend":"fa3","tp_size":8},"hardware":"h100",'
        b'"model":{"architectures":["A"],"gguf":true},"env":{}}'
    )


def test_outcomes_are_written_as_in_the_contract() -> None:
    resolved = Outcome("c1", {"page_size": 1, "attention_backend": "fa3"}, None, {"NCCL_ALGO": "Tree"})
    assert encode_outcome(resolved) == (
        b'{"id":"c1","fields":{"attention_backend":"fa3","page_size":1},"error":null,"env":{"NCCL_ALGO":"Tree"}}'
    )
    refusal = Outcome("c2", None, Refusal("ValueError", "no", "_handle_page_size"), {})
    assert encode_outcome(refusal) == (
        b'{"id":"c2","fields":null,"error":{"type":"ValueError","message":"no","origin":"_handle_page_size"},"env":{}}'
    )
    failed = Outcome("c3", None, None, {}, Failure("timeout", "10 s"))
    assert msgspec.json.decode(encode_outcome(failed))["failure"] == {"kind": "timeout", "detail": "10 s"}


def test_what_utf8_cannot_carry_is_escaped() -> None:
    outcome = Outcome("c1", None, Refusal("ValueError", "bad \udcff path", "f"), {})
    again = parse_outcome(encode_outcome(outcome), "x:1")
    assert again.error is not None and again.error.message == "bad \\udcff path"


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b"[1]", ["the line must be an object, not [1]"]),
        (b"null", ["must be an object, not null"]),
        (b'{"id": "c1"', ["not one JSON value"]),
        (b'{"id": "c1"} {"id": "c2"}', ["not one JSON value"]),
        (b"{'id': 'c1'}", ["not one JSON value"]),
        (b'{"id": NaN}', ["not one JSON value"]),
        (b'{"id": 1e999}', ["not one JSON value"]),
        (b'{"id": "\\ud800"}', ["not one JSON value"]),
        (b'{"id": "\xff"}', ["byte 9 of the line is not UTF-8"]),
        ('{"id": "c1"}'.encode("utf-16"), ["byte 1 of the line is not UTF-8"]),
        (b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ["nested more than 64 deep"]),
        (b"{}", ["the key id is missing"]),
        (b'{"id": 1}', ["id must be a string", "not 1"]),
        (b'{"id": ""}', ["id must be a string of at least one character"]),
        (b'{"id": "c", "arg": {}}', ["unknown key arg", "'args'"]),
        (b'{"id": "c", "a.b c": 1}', ["unknown key 'a.b c'"]),
        (b'{"id": "c", "args": []}', ["args must be an object", "not []"]),
        (b'{"id": "c", "args": {"tp_sise": 1}}', ["unknown key args.tp_sise", "'tp_size'"]),
        (b'{"id": "c", "args": {"tp_size": "8"}}', ["args.tp_size must be an integer, not '8'"]),
        (b'{"id": "c", "hardware": "h1000"}', ["hardware: there is no hardware profile 'h1000'", "'h100'"]),
        (b'{"id": "c", "hardware": 1}', ["hardware must be a profile's name or an object, not 1"]),
        (b'{"id": "c", "hardware": null}', ["hardware must be a profile's name or an object, not null"]),
        (b'{"id": "c", "hardware": {"memori_mib": 1}}', ["unknown key hardware.memori_mib", "'memory_mib'"]),
        (b'{"id": "c", "hardware": {"memory_mib": "1"}}', ["hardware.memory_mib must be", "not '1'"]),
        (
            b'{"id": "c", "model": "gpt-oss"}',
            ["model: there is no model profile 'gpt-oss'", "'gpt-oss-120b'"],
        ),
        (b'{"id": "c", "model": {"atention": "mla"}}', ["unknown key model.atention", "'attention'"]),
        (b'{"id": "c", "model": {"attention": "gqa"}}', ["model.attention must be one of mha, mla"]),
        (b'{"id": "c", "env": {"A": 1}}', ["env.A must be a string, not 1"]),
        (b'{"id": "c", "env": ["A"]}', ["env must be an object of strings, not ['A']"]),
        (b'{"id": "c", "env": {"A=B": "1"}}', ["env has the key 'A=B'"]),
        (b'{"id": "c", "env": {"": "1"}}', ["env has the key ''"]),
        (b'{"id": "c", "env": {"A": "\\u0000"}}', ["env.A holds a null character"]),
    ],
)
def test_a_wrong_case_is_named(line: bytes, parts: list[str]) -> None:
    sentence = refused(parse_case, line, "cases.jsonl:3", FIELDS)
    assert sentence.startswith("cases.jsonl:3: ")
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({"id": "c", "args": {"tp_size": 1, "attention_backend": "x" * 10**7}}, "args.attention_backend"),
        ({"id": "c", "env": {"A": "x" * 10**7}}, "env.A"),
        ({"id": "x" * 10**7}, "id"),
        ({"id": "c", "hardware": "x" * 10**7}, "hardware"),
        ({"id": "c", "args": {"x" * 10**7: 1}}, "args.'xxx"),
        (["x" * 10**7], "the line"),
    ],
)
def test_a_value_of_ten_megabytes_is_named(value: object, key: str) -> None:
    sentence = refused(parse_case, msgspec.json.encode(value), "cases.jsonl:3", FIELDS)
    assert sentence.startswith(f"cases.jsonl:3: {key}")
    assert "bytes long" in sentence and str(MAX_CASE_BYTES) in sentence


def test_a_line_of_the_greatest_length_passes() -> None:
    line = encode_case(Case(id="c", args={"x": ""}))
    padded = line.replace(b'"x":""', b'"x":"' + b"y" * (MAX_CASE_BYTES - len(line)) + b'"')
    assert len(parse_case(padded, "x:1").args["x"]) == MAX_CASE_BYTES - len(line)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_the_deepest_line_passes_and_the_next_is_refused(opening: str, closing: str) -> None:
    def line(depth: int) -> bytes:
        return f'{{"id": "c", "args": {{"x": {opening * depth}1{closing * depth}}}}}'.encode()

    assert parse_case(line(MAX_DEPTH - 2), "x:1").id == "c"
    assert "nested more than 64 deep" in refused(parse_case, line(MAX_DEPTH - 1), "x:1")
    wide = b'{"id": "c", "args": {"x": [' + b"[],{}," * 500 + b"1]}}"
    assert len(parse_case(wide, "x:1").args["x"]) == 1001


@given(json_values | st.dictionaries(st.sampled_from(["id", "args", "hardware", "model", "env"]), json_values))
def test_any_json_gives_a_case_or_one_sentence(value: object) -> None:
    line = msgspec.json.encode(value)
    for parse in (parse_case, parse_outcome):
        try:
            parse(line, "x:1")
        except UsageError as error:
            assert "\n" not in str(error) and str(error).startswith("x:1: ")


@given(st.binary(max_size=40))
def test_any_bytes_give_one_sentence(line: bytes) -> None:
    assert refused(parse_case, line, "x:1").startswith("x:1: ")


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b'{"id": "c", "fields": {}, "error": null}', ["the key env is missing"]),
        (b'{"id": "c", "fields": null, "error": null, "env": {}}', ["holds none of them"]),
        (
            b'{"id": "c", "fields": {}, "error": {"type": "E", "message": "m", "origin": "o"}, "env": {}}',
            ["holds fields and error"],
        ),
        (b'{"id": "c", "fields": null, "error": {"type": "E"}, "env": {}}', ["error.message is missing"]),
        (b'{"id": "c", "fields": null, "error": {"typ": "E"}, "env": {}}', ["error.typ", "'type'"]),
        (b'{"id": "c", "fields": null, "error": 1, "env": {}}', ["error must be null or an object", "not 1"]),
        (
            b'{"id": "c", "fields": null, "error": null, "env": {}, "failure": {"kind": "kiled"}}',
            ["failure.kind must be one of killed", "'killed'"],
        ),
        (b'{"id": "c", "field": {}, "error": null, "env": {}}', ["unknown key field", "'fields'"]),
        (b'{"id": "", "fields": {}, "error": null, "env": {}}', ["id must be a string"]),
        (b'{"id": "c", "fields": {}, "error": null, "env": {"A": 1}}', ["env.A must be a string or null, not 1"]),
        (b"{", ["not one JSON value"]),
    ],
)
def test_a_wrong_outcome_is_named(line: bytes, parts: list[str]) -> None:
    sentence = refused(parse_outcome, line, "outcomes.jsonl:3")
    assert sentence.startswith("outcomes.jsonl:3: ")
    for part in parts:
        assert part in sentence


def test_a_file_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "b"}\r\n\n  \n{"id": "a", "hardware": "h100"}')
    read = read_cases(path, FIELDS)
    assert [case.id for case in read] == ["b", "a"]
    assert read[1].hardware == hardware_profile("h100")


def test_a_faulty_line_of_a_file_is_counted_with_the_blank_ones(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"id": "a"}\n\n{"id": "b", "args": {"tp_sise": 1}}\n')
    assert refused(read_cases, path, FIELDS) == (f"{path}:3: unknown key args.tp_sise (did you mean 'tp_size'?)")
    assert read_cases(path)[1].args == {"tp_sise": 1}


def test_an_id_that_occurs_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"id": "a"}\n{"id": "b"}\n{"id": "a"}\n')
    assert refused(read_cases, path) == f"{path}:3: the id 'a' is already that of line 1"


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_a_file_without_a_case_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content)
    assert f"{str(path)!r} holds no case" in refused(read_cases, path)


@pytest.mark.parametrize(
    ("name", "part"), [("missing", "does not exist"), (".", "is a folder"), ("nu\0ll", "cannot be read")]
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str, part: str) -> None:
    assert part in refused(read_cases, tmp_path / name)


def test_cases_of_one_profile_share_no_list(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"id": "a", "model": "qwq-32b"}\n{"id": "b", "model": "qwq-32b"}\n')
    one, other = read_cases(path)
    one.model.architectures.append("Other")
    assert other.model == model_profile("qwq-32b")
