"""The list of passes: complete, explicit, and independent of the order of imports."""

from __future__ import annotations

import ast
import itertools
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import declarative
from declarative import families, passes
from declarative.engine import DISPATCH, DeclarationError, Pass, Pipeline, Provider, RecordingView, Slot
from declarative.inputs.facts import facts_of
from declarative.inputs.model import read_only_model
from declarative.inputs.server_args import ServerArgs
from declarative.inputs.state import STATE
from declarative.pipeline import PASSES, PIPELINE, REGISTRY
from declarative.recording import recorded_reads
from harness.world.case import Case
from harness.world.environ import Envs
from harness.world.machine import simulated
from harness.world.model import Model
from harness.world.profiles import hardware_profile
from harness.world.slice import FIELDS

PACKAGE = Path(declarative.__file__).parent


def modules() -> list[str]:
    return [
        f"declarative.{folder}.{path.stem}"
        for folder in ("families", "passes")
        for path in sorted((PACKAGE / folder).glob("*.py"))
        if path.stem != "__init__"
    ]


def defined(kind: type) -> set[str]:
    found = set()
    for name in modules():
        module = __import__(name, fromlist=["_"])
        found |= {value.name for value in vars(module).values() if isinstance(value, kind)}
    return found


def test_every_pass_and_provider_is_listed() -> None:
    listed = {step.name for stage in PASSES for step in stage.steps if isinstance(step, Pass)}
    assert defined(Pass) == listed
    assert defined(Provider) == {item.name for item in REGISTRY if not item.name.startswith("MODEL_OVERRIDES")}
    assert families.__doc__ and passes.__doc__


def test_slots_keep_the_slots_of_the_slice() -> None:
    assert [stage.number for stage in PASSES] == list(range(21))
    assert PASSES[8].steps[0] is DISPATCH


def test_every_resolvable_field_has_a_writer_and_every_state_one() -> None:
    steps = [step for _, step in PIPELINE.steps()]
    assert {name for step in steps for name in step.writes} == set(FIELDS)
    assert {name for step in steps for name in step.state} == set(STATE)
    assert {name for step in steps for name in step.env} <= {name for name in vars(Envs) if name.isupper()}


def test_names_that_the_public_stack_uses_are_there() -> None:
    names = {step.name for _, step in PIPELINE.steps()}
    assert names >= {
        "_page_size_default",
        "_dllm_page_size",
        "_mla_backend_page_constraints",
        "_fa4_page_constraint",
        "_intel_xpu_page_constraint",
        "_qwen3_5_hybrid_overrides",
        "_qwen3vl_overrides",
        "_moe_runner_backend_quant_constraints",
        "_cutlass_moe_env_override",
        "_gguf_quantization",
        "_qwen3_moe_family_overrides",
        "_gpt_oss_overrides",
    }


_PROGRAM = """
import sys
for name in sys.argv[1:]:
    __import__(name)
from declarative.pipeline import PIPELINE
print([step.name for _, step in PIPELINE.steps()])
"""


def test_the_order_does_not_depend_on_imports() -> None:
    forward, backward = modules(), modules()[::-1]
    orders = {
        subprocess.run([sys.executable, "-c", _PROGRAM, *names], capture_output=True, text=True, check=True).stdout
        for names in ([], forward, backward)
    }
    assert orders == {f"{[step.name for _, step in PIPELINE.steps()]}\n"}


def test_a_module_registers_nothing_by_being_imported() -> None:
    for path in (PACKAGE / "families").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            assert not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant), path


def test_a_step_of_the_real_list_twice_is_refused() -> None:
    (last,) = PASSES[13].steps
    with pytest.raises(DeclarationError, match="_page_size_default is listed twice"):
        Pipeline((*PASSES, Slot(21, "again", (last,))), record=ServerArgs, state=STATE, registry=REGISTRY)


def test_no_pass_writes_the_environment_by_itself() -> None:
    for name in modules():
        text = Path(sys.modules[name].__file__ or "").read_text(encoding="utf-8")
        calls = [
            node.func.attr
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ]
        assert "set" not in calls and "setattr" not in calls, name


def test_recorded_reads_name_what_each_pass_read() -> None:
    case = Case(id="c", hardware=hardware_profile("b200"), model=Model(architectures=["Step3p5ForCausalLM"]))
    reads = {entry.source: entry for entry in recorded_reads(case)}
    assert reads["_page_size_default"].fields == {"page_size"}
    assert reads["_fa4_page_constraint"].fields >= {"attention_backend", "model"}
    assert reads["_cutlass_moe_env_override"].environment == {"SGLANG_CUTLASS_MOE"}
    assert reads["_step3p_overrides"].fields == {"speculative_algorithm", "enable_hierarchical_cache"}
    assert "_gpt_oss_overrides" not in reads
    order = [step.name for _, step in PIPELINE.steps()]
    assert [entry.source for entry in recorded_reads(case)] == sorted(reads, key=order.index)


def test_recorded_reads_end_with_the_pass_that_refused() -> None:
    case = Case(id="c", args={"attention_backend": "cutedsl_mla"}, hardware=hardware_profile("h100"))
    assert recorded_reads(case)[-1].source == "_mla_backend_page_constraints"


def test_facts_depend_on_nothing_that_is_declared_before_their_use() -> None:
    case = Case(id="c")
    seen: set[str] = set()
    with simulated(case) as machine:
        record = ServerArgs(model_path="instance", device="cuda")
        facts_of(cast(ServerArgs, RecordingView(dict(vars(record)), seen)), read_only_model(machine.model_config))
    declarable = {name for _, step in PIPELINE.steps() for name in (*step.writes, *step.state)}
    assert seen >= {"model_path", "device", "dllm_algorithm", "dp_size"}
    # Declared where the fact that contains it already holds.
    assert seen & declarable == {"enable_deterministic_inference"}


def test_stage_labels_are_unique() -> None:
    labels = [stage.label for stage in PASSES]
    assert len(set(labels)) == len(labels)
    assert all(one < other for one, other in itertools.pairwise(labels))
