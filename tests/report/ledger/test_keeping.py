"""Proposed ledger entries, the file they go into, its schema, and results that are read back."""

from __future__ import annotations

import datetime
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import HOSTILE, bucket, refusals, result

from harness.common.errors import UsageError
from harness.engine.ledger.entries import load_ledger
from harness.report.ledger.keeping import add_entries, check_lines, new_ledger
from harness.report.ledger.proposal import HEAD, toml
from harness.report.ledger.schema import ledger_schema
from harness.report.result.document import document
from harness.report.result.format import GateDocument
from harness.report.result.results import read_result
from harness.world.case import Case, Outcome
from harness.world.hardware import Hardware
from harness.world.model import Model

ROOT = Path(__file__).parents[3]
VALIDATOR: Any = jsonschema.Draft7Validator(json.loads(ledger_schema()))
SUBJECTS = ("dir:old", "dir:new")


def read(**changes: Any) -> GateDocument:
    """Return the made-up result as it is read back, with other parts."""
    made = msgspec.structs.replace(result(), **changes)
    made = msgspec.structs.replace(
        made, started=msgspec.structs.replace(made.started, first=SUBJECTS[0], second=SUBJECTS[1], absent={})
    )
    return msgspec.json.decode(document(made), type=GateDocument)


def given_reasons(text: str) -> str:
    return (
        text.replace('reason = ""', 'reason = "meant"')
        .replace('reference = ""', 'reference = "#1"')
        .replace('owner = ""', 'owner = "ann"')
    )


def test_an_entry_is_no_ledger_before_a_person_gave_it_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "ledger.toml"
    path.write_text(new_ledger(read()))
    with pytest.raises(UsageError, match=r"difference 1 \(page_size-\w+\): its reason is empty, write one"):
        load_ledger(path)


def test_with_reasons_it_explains_what_the_buckets_showed_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "ledger.toml"
    path.write_text(given_reasons(new_ledger(read())))
    entries = load_ledger(path).between(*SUBJECTS)
    pages, refusal = entries.entries
    assert pages.fields == ("page_size", "dtype")
    assert (refusal.refusal, refusal.refusals, refusal.fields) == (True, False, ())
    sides = tuple(Outcome(id="c", fields={"page_size": size}, error=None, env={}) for size in (1, 128))
    for case in (result().buckets[0].witness, *result().buckets[0].others):
        assert entries.explains("field", "page_size", case, *sides) == pages.id
    other = Case(id="c", hardware=Hardware(platform="npu"))
    assert entries.explains("field", "page_size", other, *sides) is None
    assert entries.explains("field", "ep_size", result().buckets[0].witness, *sides) is None
    assert VALIDATOR.is_valid(tomllib.loads(path.read_text()))


def test_forms_are_alternatives_and_what_they_share_is_asked_of_all() -> None:
    forms = [
        Case(id="a", args={"device": "xpu", "enable_x": True}, model=Model(architectures=["GlmForCausalLM"])),
        Case(id="b", args={"page_size": 3, "enable_x": True}, model=Model(architectures=["GlmForCausalLM"])),
    ]
    one = msgspec.structs.replace(bucket(), witness=forms[0], others=forms[1:])
    text = new_ledger(read(buckets=(one,), explanations=("",), traces=(result().traces[0],)))
    (entry,) = tomllib.loads(text)["difference"]
    assert entry["when"] == {"args.enable_x": True, "model.architectures": {"contains": "GlmForCausalLM"}}
    assert entry["any"] == [{"args.device": "xpu"}, {"args.page_size": {"set": True}}]


def test_a_form_that_needs_nothing_leaves_no_alternatives() -> None:
    forms = [Case(id="a"), Case(id="b", args={"device": "xpu"})]
    one = msgspec.structs.replace(bucket(), witness=forms[0], others=forms[1:])
    text = new_ledger(read(buckets=(one,), explanations=("",), traces=(result().traces[0],)))
    (entry,) = tomllib.loads(text)["difference"]
    assert not {"when", "any"} & set(entry)


def test_what_others_wrote_stays_in_its_line(tmp_path: Path) -> None:
    hostile = msgspec.structs.replace(bucket(HOSTILE), witness=Case(id="a", args={"device": f"{HOSTILE}\n\x7f"}))
    text = new_ledger(read(buckets=(hostile,), explanations=("",), traces=(result().traces[0],)))
    (entry,) = tomllib.loads(text)["difference"]
    assert entry["any"][0]["args.device"] == f"{HOSTILE}\n\x7f"
    assert "\x1b" not in text


def test_entries_are_added_once_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "ledger.toml"
    lines = list(add_entries(read(), path))
    assert lines[0] == f"added    2 entries to {path}: give each a reason"
    assert json.loads((tmp_path / "stackproof-ledger.schema.json").read_text()) == json.loads(ledger_schema())
    first = path.read_text()
    assert first.startswith("#:schema ./stackproof-ledger.schema.json\n")
    assert list(add_entries(read(), path)) == [f"added    0 entries to {path}"]
    path.write_text(f"{first}# a remark of mine")
    more = read(buckets=(refusals("TypeError: more"),), explanations=("",), traces=(result().traces[1],))
    assert next(iter(add_entries(more, path))).startswith("added    1 entry")
    assert path.read_text().startswith(f"{first}# a remark of mine\n\n#")
    assert len(tomllib.loads(path.read_text())["difference"]) == 3


def test_a_case_without_an_outcome_is_left_out(tmp_path: Path) -> None:
    failure = bucket(name="timeout / outcome", kind="failure", first="30 s", second="", writers=None, along=())
    failure.parts = []
    failed = read(buckets=(failure,), explanations=("",), traces=(result().traces[0],))
    lines = list(add_entries(failed, tmp_path / "ledger.toml"))
    assert lines[0].startswith("added    0 entries")
    assert "no difference that a ledger can explain" in lines[1]
    assert not (tmp_path / "ledger.toml").exists()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("format = 1\n", "write format = 'stackproof.ledger/1'"),
        ("[[", "not valid TOML"),
        (f"{HEAD}difference = []\n", "nothing was added"),
    ],
)
def test_a_file_that_is_no_ledger_stays_as_it_was(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "ledger.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=part.replace("[", r"\[")):
        list(add_entries(read(), path))
    assert path.read_text() == text
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.toml"]


@given(st.recursive(st.text() | st.booleans() | st.integers(-(2**63), 2**63 - 1), lambda inner: st.lists(inner)))
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert tomllib.loads(f"x = {toml(value)}")["x"] == value


def test_check_tells_each_entry_by_its_day(tmp_path: Path) -> None:
    path = tmp_path / "ledger.toml"
    path.write_text(given_reasons(new_ledger(read())).replace("# expires = 2030-12-31", "expires = 2030-12-31"))
    lines, sound = check_lines(path, datetime.date(2030, 12, 31), [])
    assert sound
    assert lines == ["checked  2 entries by 2030-12-31: all are sound"]
    lines, sound = check_lines(path, datetime.date(2031, 1, 1), [("r.json", read())])
    assert not sound
    assert [line.split()[0] for line in lines] == ["expired", "untried", "expired", "untried", "checked"]
    assert lines[-1] == "checked  2 entries by 2031-01-01 and 1 run: 2 want attention"


# -- the schema --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["legacy/ledger.toml", "declarative/ledger.toml"])
def test_our_own_ledgers_are_valid(path: str) -> None:
    VALIDATOR.validate(tomllib.loads((ROOT / path).read_text()))


ENTRY = """
[[difference]]
id = "pages"
subjects = ["legacy", "declarative"]
fields = ["page_size"]
reason = "meant"
reference = "#1"
"""


@pytest.mark.parametrize(
    "text",
    [
        ENTRY,
        f'{ENTRY}owner = "ann"\nexpires = 2030-12-31\nscope = "every case"\n',
        f'{ENTRY}[difference.when]\n"hardware.platform" = ["cuda", "hip"]\n"env.X" = {{ not = "1" }}\n',
        f'{ENTRY}[difference.when]\n"probe.is_sm100_supported" = true\n"first.page_size" = {{ at_least = 3 }}\n',
        f"{ENTRY}absnet = []\n",
        f'{ENTRY}scope = "all"\n',
        f'{ENTRY}owner = ""\n',
        f'{ENTRY}[difference.when]\n"hardware.platfrom" = "cuda"\n',
        f'{ENTRY}[difference.when]\n"args.x" = {{ contain = "cuda" }}\n',
        ENTRY.replace('fields = ["page_size"]\n', ""),
        ENTRY.replace('reason = "meant"', 'reason = " "'),
        ENTRY.replace(', "declarative"', ""),
        ENTRY.replace('reference = "#1"\n', ""),
        '[[unreached]]\nsubject = "legacy"\nfield = "a"\nsource = "b"\nreason = "c"\nowner = "ann"\n',
        '[[unreached]]\nsubject = "legacy"\nfield = "a"\nsource = "b"\n',
    ],
)
def test_the_schema_takes_what_the_reader_takes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ledger.toml"
    path.write_text(f'format = "stackproof.ledger/1"\n{text}')
    try:
        load_ledger(path)
        taken = True
    except UsageError:
        taken = False
    assert VALIDATOR.is_valid(tomllib.loads(path.read_text())) is taken


def test_a_wrong_day_or_scope_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "ledger.toml"
    for more, part in (
        ('expires = "2030-12-31"', "expires must be a date without quotes"),
        ("expires = 2030-12-31T10:00:00", "expires must be a date without quotes"),
        ('scope = "all"', "scope is left out, or 'every case'"),
        ('scope = "every case"\n[difference.when]\n"args.x" = 1', "leave one of the two out"),
    ):
        path.write_text(f'format = "stackproof.ledger/1"\n{ENTRY}{more}\n')
        with pytest.raises(UsageError, match=part):
            load_ledger(path)


# -- results -----------------------------------------------------------------------------------------------------


def test_a_result_comes_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(document(result()))
    assert msgspec.json.format(msgspec.json.encode(read_result(path)), indent=2) + b"\n" == document(result())


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "not the whole of the result of a gate"),
        (document(result())[:-30], "not the whole of the result of a gate"),
        (b"[" * 100_000, "not the whole of the result of a gate"),
        (b"{}", "its format is none"),
        (b'{"format": "stackproof.gate/9"}', "its format is 'stackproof.gate/9'"),
        (b'{"format": "' + b"x" * 10_000_000 + b'"}', "its format is 'xxx"),
        (b'{"format": "stackproof.gate/1"}', "missing required field `verdict`"),
        (b"\xff\xfe", "not the whole of the result of a gate"),
    ],
)
def test_what_is_no_result_is_one_sentence(tmp_path: Path, data: bytes, part: str) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=part):
        read_result(path)
    with pytest.raises(UsageError, match="No such file"):
        read_result(tmp_path / "none.json")
