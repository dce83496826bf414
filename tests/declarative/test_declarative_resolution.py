"""What the package promises to the harness, whatever the passes decide."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from aimed import aimed_cases

import declarative
import legacy
from declarative.engine import RuntimeContext
from harness.common.errors import UsageError
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profile
from harness.world.slice import FIELDS, STATE

PACKAGE = Path(declarative.__file__).parent


def test_a_silent_case_has_all_fields_in_order() -> None:
    fields = declarative.resolve(Case(id="c")).fields
    assert fields is not None
    assert list(fields) == [*FIELDS, *STATE]
    assert declarative.FIELDS is FIELDS and declarative.STATE is STATE


@pytest.mark.parametrize(
    ("args", "words"), [({"page_sise": 1}, "page_size"), ({"uses_mamba_radix_cache": True}, "uses_mamba_radix_cache")]
)
def test_what_is_no_argument_is_refused(args: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        declarative.resolve(Case(id="c", args=args))


def test_a_case_is_not_changed_and_gives_the_same_outcome_again() -> None:
    for case in aimed_cases(5, 400):
        before = copy.deepcopy(case)
        first = declarative.resolve(case)
        assert declarative.resolve(case) == first
        assert case == before


def test_writers_point_at_their_definitions() -> None:
    for writer in declarative.writers():
        line = (PACKAGE.parent / writer.file).read_text(encoding="utf-8").splitlines()[writer.line - 1]
        name = writer.source.partition("'")[2].rstrip("']") or writer.source
        assert f"def {name}(" in line or f'"{name}":' in line, writer
    assert {writer.field for writer in declarative.writers()} == {*FIELDS, *STATE}
    slots = [writer.slot for writer in declarative.writers()]
    assert slots == sorted(slots)
    assert "13 page_size" in slots


def test_the_chain_ends_at_the_outcome_and_names_writers() -> None:
    known = {(writer.field, writer.source, writer.file, writer.line) for writer in declarative.writers()}
    for case in aimed_cases(6, 400):
        fields, chain = declarative.resolve(case).fields, declarative.chain(case)
        assert {(write.field, write.source, write.file, write.line) for write in chain} <= known
        if fields is not None:
            last = {write.field: write.value for write in chain}
            assert last == {name: fields[name] for name in last}


def test_the_chain_of_a_refusal_holds_what_was_written_before() -> None:
    args = {"attention_backend": "trtllm_mla", "quantization": "unquant"}
    case = Case(id="c", args=args, hardware=hardware_profile("h100"))
    assert declarative.resolve(case).error is not None
    assert [(write.field, write.source) for write in declarative.chain(case)] == [
        ("quantization", "_quantization_opt_out"),
        ("sampling_backend", "_sampling_backend_default"),
    ]


def test_an_unknown_architecture_resolves_as_a_plain_model() -> None:
    for name in ("h100", "b200", "mi300x"):
        machine = hardware_profile(name)
        unknown = Case(id="c", hardware=machine, model=Model(architectures=["NeverHeardOfForCausalLM"]))
        assert declarative.resolve(unknown) == declarative.resolve(Case(id="c", hardware=machine))


def test_a_machine_without_capability_is_a_type_error_for_sparse_attention() -> None:
    model = Model(architectures=["DeepseekV32ForCausalLM"], index_topk=2048)
    error = declarative.resolve(Case(id="c", model=model, hardware=Hardware())).error
    assert error is not None
    assert (error.type, error.origin) == ("TypeError", "_dsa_kv_cache_dtype_default")


def test_both_write_before_a_refusal_what_the_other_does() -> None:
    # A refusal leaves the environment that was written until then.
    args = {"rl_on_policy_target": "fsdp", "attention_backend": "trtllm_mha"}
    case = Case(id="c", args=args)
    port, successor = legacy.resolve(case), declarative.resolve(case)
    assert port.error is not None and successor.error is not None
    assert (
        successor.env
        == port.env
        == {
            "SGLANG_ENABLE_DETERMINISTIC_INFERENCE": "True",
            "SGLANG_VLM_CACHE_SIZE_MB": "0",
        }
    )


def test_the_arguments_are_the_ports() -> None:
    assert declarative.arguments() == legacy.arguments()


def test_every_step_gives_its_reason_in_one_sentence() -> None:
    reasons = declarative.reasons()
    assert list(reasons) == list(dict.fromkeys(step.source for step in declarative.steps()))
    for name, reason in reasons.items():
        assert 20 < len(reason) <= 118 and reason.endswith((".", ").")), f"{name}: {reason!r}"
        # What a check raises is for the second paragraph.
        assert "Raise" not in reason, name


def test_provenance_tells_why() -> None:
    context = RuntimeContext()
    declarative.publish(Case(id="c", args={"attention_backend": "fa4"}, hardware=hardware_profile("b200")), context)
    (pages,) = (entry for entry in context.provenance if entry.source == "_fa4_page_constraint")
    assert pages.reason.startswith("fa4 reads pages of 128 tokens")
    context.declare_late("weights", {"page_size": 64}, reason="The weights were packed for it.")
    assert context.provenance[-1].reason == "The weights were packed for it."
    assert pages in context.provenance


def test_what_is_published_is_the_outcome_of_the_case() -> None:
    for case in aimed_cases(7, 100):
        outcome = declarative.publish(case, RuntimeContext())
        assert outcome == declarative.resolve(case)
