"""The ledger: what it explains, what it does not, and one sentence for whatever is wrong in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.common.errors import UsageError
from harness.engine.ledger.entries import Ledger, load_ledger
from harness.world.case import Case, Outcome, Refusal
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profile

HEAD = 'format = "stackproof.ledger/1"\n'
ENTRY = """
[[difference]]
id = "pages"
subjects = ["legacy", "sglang==0.5.14#slice"]
fields = ["page_size"]
reason = "meant"
reference = "https://example.org/1"
"""


def ledger(tmp_path: Path, text: str) -> Ledger:
    path = tmp_path / "ledger.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return load_ledger(path)


def outcome(**fields: object) -> Outcome:
    return Outcome(id="c", fields=fields, error=None, env={})


def explained(entries: Ledger, case: Case | None = None, first: int = 128, second: int = 1) -> str | None:
    sides = outcome(page_size=first), outcome(page_size=second)
    return entries.explains("field", "page_size", case or Case(id="c"), *sides)


def test_an_entry_without_conditions_explains_its_fields_and_no_others(tmp_path: Path) -> None:
    entries = ledger(tmp_path, ENTRY).between("legacy", "sglang==0.5.14#slice")
    assert explained(entries) == "pages"
    sides = outcome(dtype="a"), outcome(dtype="b")
    assert entries.explains("field", "dtype", Case(id="c"), *sides) is None
    assert entries.explains("environment", "page_size", Case(id="c"), *sides) is None
    assert entries.explains("refusal", "", Case(id="c"), *sides) is None


def test_an_entry_concerns_its_two_subjects_alone(tmp_path: Path) -> None:
    entries = ledger(tmp_path, ENTRY)
    assert explained(entries.between("legacy", "sglang==0.5.15#slice")) is None
    assert explained(entries.between("legacy", "legacy")) is None


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('"first.page_size" = 128', True),
        ('"first.page_size" = 64', False),
        ('"first.page_size" = 128.0', False),
        ('"second.page_size" = [1, 64]', True),
        ('"second.page_size" = { not = 1 }', False),
        ('"first.page_size" = { at_least = 128 }', True),
        ('"first.page_size" = { below = 128 }', False),
        ('"args.attention_backend" = "fa4"', True),
        ('"args.attention_backend" = { not = ["fa3", "fa4"] }', False),
        ('"args.dtype" = { set = false }', True),
        ('"args.dtype" = { set = true }', False),
        ('"env.SGLANG_X" = "1"', True),
        ('"hardware.platform" = "cuda"', True),
        ('"probe.is_sm100_supported" = true', True),
        ('"probe.is_sm100_supported" = 1', False),
        ('"model.architectures" = { contains = "Step3p5" }', True),
        ('"model.architectures" = { contains = ["Gemma", "Llama"] }', False),
        ('"model.quantization_config" = { set = false }', True),
        ('"checkpoint.check_gguf_file" = false', True),
        ('"first.error" = { set = false }', True),
    ],
)
def test_conditions(tmp_path: Path, condition: str, holds: bool) -> None:
    case = Case(
        id="c",
        args={"attention_backend": "fa4"},
        hardware=hardware_profile("b200"),
        model=Model(architectures=["Step3p5ForCausalLM"]),
        env={"SGLANG_X": "1"},
    )
    entries = ledger(tmp_path, f"{ENTRY}\n[difference.when]\n{condition}\n").between("legacy", "sglang==0.5.14#slice")
    assert (explained(entries, case) == "pages") is holds


def test_the_other_way_round_the_sides_are_turned(tmp_path: Path) -> None:
    entries = ledger(tmp_path, f'{ENTRY}\n[difference.when]\n"first.page_size" = 128\n')
    turned = entries.between("sglang==0.5.14#slice", "legacy")
    assert explained(turned, first=1, second=128) == "pages"
    assert explained(turned, first=128, second=1) is None


def test_two_copies_of_one_package_are_told_apart_by_their_words(tmp_path: Path) -> None:
    text = ENTRY.replace("sglang==0.5.14#slice", "dir:copy#legacy") + '[difference.when]\n"first.page_size" = 128\n'
    entries = ledger(tmp_path, text)
    assert explained(entries.between("legacy", "dir:copy#legacy")) == "pages"
    turned = entries.between("dir:copy#legacy", "legacy")
    assert explained(turned, first=1, second=128) == "pages"
    assert explained(turned, first=128, second=1) is None


def test_one_of_any_must_hold_beside_when(tmp_path: Path) -> None:
    text = f"""{ENTRY}
[difference.when]
"hardware.platform" = "cpu"
[[difference.any]]
"args.tp_size" = 2
[[difference.any]]
"args.tp_size" = 4
"""
    entries = ledger(tmp_path, text).between("legacy", "sglang==0.5.14#slice")
    assert explained(entries, Case(id="c", args={"tp_size": 4})) == "pages"
    assert explained(entries, Case(id="c", args={"tp_size": 8})) is None
    elsewhere = Case(id="c", args={"tp_size": 4}, hardware=Hardware(platform="xpu"))
    assert explained(entries, elsewhere) is None


def test_refusals_environment_and_absent_fields(tmp_path: Path) -> None:
    text = """
[[difference]]
id = "checks"
subjects = ["legacy", "sglang==0.5.15#slice"]
environment = ["NCCL_ALGO"]
absent = ["enable_tf32_matmul"]
refusal = true
reason = "meant"
reference = "none"
[difference.when]
"first.error" = "ValueError"
"first.message" = { contains = "too small" }
"""
    entries = ledger(tmp_path, text).between("legacy", "sglang==0.5.15#slice")
    refused = Outcome(id="c", fields=None, error=Refusal("ValueError", "tp is too small", "f"), env={})
    case = Case(id="c")
    assert entries.explains("refusal", "", case, refused, outcome()) == "checks"
    assert entries.explains("refusals", "", case, refused, refused) is None
    assert entries.explains("environment", "NCCL_ALGO", case, refused, outcome()) == "checks"
    assert entries.explains("environment", "NCCL_ALGO", case, outcome(), refused) is None
    assert entries.explains_absent("enable_tf32_matmul") == "checks"
    assert entries.explains_absent("page_size") is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[[differences]]\n", ["'differences'", "did you mean 'difference'?"]),
        ("difference = 1\n", ["[[difference]]"]),
        (ENTRY + "field = []\n", ["difference 1", "'field'", "did you mean 'fields'"]),
        (ENTRY.replace('reason = "meant"', ""), ["difference 1", "needs reason"]),
        (ENTRY.replace('reason = "meant"', "reason = 3"), ["needs reason, a text, not 3"]),
        (ENTRY.replace('["page_size"]', "[]"), ["pages", "explains nothing"]),
        (ENTRY.replace('["page_size"]', '"page_size"'), ["fields must be a list"]),
        (ENTRY.replace(', "sglang==0.5.14#slice"', ""), ["two subjects"]),
        (ENTRY.replace('"legacy"', '"legcy"'), ["did you mean 'legacy'?"]),
        (ENTRY + ENTRY, ["'pages'", "of its own"]),
        (ENTRY + "refusal = 1\n", ["refusal must be true or false"]),
        (ENTRY + '[difference.when]\n"arg.x" = 1\n', ["'arg.x'", "did you mean 'args'?"]),
        (ENTRY + '[difference.when]\n"probe.is_sm100" = true\n', ["probe.is_sm100", "is_sm100_supported"]),
        (ENTRY + '[difference.when]\n"model.architecture" = "x"\n', ["did you mean 'architectures'?"]),
        (ENTRY + '[difference.when]\n"args.x" = { contain = "x" }\n', ["did you mean 'contains'?"]),
        (ENTRY + '[difference.when]\n"args.x" = { below = "x" }\n', ["below takes one number"]),
        (ENTRY + '[difference.when]\n"args.x" = { set = 1 }\n', ["set takes true or false"]),
        ('[[unreached]]\nsubject = "legacy"\n', ["unreached 1", "needs field"]),
        (ENTRY + '[difference.when]\n"args.x" = { at_least = nan }\n', ["args.x", "nan is no value"]),
        (ENTRY + '[difference.when]\n"args.x" = inf\n', ["args.x", "inf is no value"]),
        (ENTRY + '[difference.when]\n"args.x" = []\n', ["args.x", "the list is empty"]),
        (ENTRY + '[difference.when]\n"args.x" = 2026-01-01\n', ["args.x", "2026-01-01 is no value"]),
        ("a = " + "[" * 100_000, ["nested too deeply"]),
        ("[[difference\n", ["not valid TOML"]),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, text: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        ledger(tmp_path, text)
    assert "ledger.toml" in str(caught.value) or "legcy" in text
    for part in parts:
        assert part in str(caught.value)


def test_a_file_of_another_format_or_none_at_all(tmp_path: Path) -> None:
    path = tmp_path / "ledger.toml"
    with pytest.raises(UsageError, match="No such file or directory: name a file that can be read"):
        load_ledger(path)
    (tmp_path / "ledgers.toml").touch()
    with pytest.raises(UsageError, match="did you mean 'ledgers"):
        load_ledger(path)
    with pytest.raises(UsageError, match="No such file"):
        load_ledger(tmp_path / "none" / "ledger.toml")
    path.write_text('format = "stackproof.ledger/9"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"stackproof\.ledger/1"):
        load_ledger(path)
