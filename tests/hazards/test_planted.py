"""Every hazard of `stack.md` is planted in a copy of the declarative side, and caught."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from plants import PLANTS, Plant, gate, opened, planted

from harness.common.errors import UsageError
from harness.subjects.open import open_subject

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", PLANTS)
def test_a_gate_sees(name: str, tmp_path: Path) -> None:
    result = gate(PLANTS[name], tmp_path)
    assert result.verdict == "different", f"{PLANTS[name].what}: {result.reason}"
    shown = {bucket.difference.name or bucket.difference.kind for bucket in result.buckets}
    assert PLANTS[name].shows in shown


def refused_at_load(edits: tuple[tuple[str, str, str], ...], folder: Path) -> str:
    copy = planted(Plant("", edits, cases=1, shows=""), folder)
    with pytest.raises(UsageError) as caught, open_subject(opened(f"dir:{copy}#declarative")) as subject:
        subject.load()
    return str(caught.value)


def test_10_a_pass_that_runs_twice_does_not_load(tmp_path: Path) -> None:
    twice = "page_size._page_size_default, page_size._page_size_default,"
    said = refused_at_load((("pipeline.py", "page_size._page_size_default,", twice),), tmp_path)
    assert "_page_size_default is listed twice" in said


def test_10_two_passes_in_the_wrong_order_do_not_load(tmp_path: Path) -> None:
    # The same as the plant "10-order", which is kept from this check.
    edits = tuple(edit for edit in PLANTS["10-order"].edits if "ORDER" not in edit[1])
    said = refused_at_load(edits, tmp_path)
    assert "_mla_backend_page_constraints must come before _fa4_page_constraint, for page_size" in said


def test_10_a_pass_that_is_dropped_from_the_list_does_not_load(tmp_path: Path) -> None:
    edits = tuple(edit for edit in PLANTS["10-never-run"].edits if "ORDER" not in edit[1])
    assert "'_sparse_head_overlap_disable'" in refused_at_load(edits, tmp_path)


_LAUNCHER = """
from declarative.engine import Resolution, RuntimeContext, declare_before_resolution
from declarative.pipeline import run_passes
from declarative.inputs.server_args import ServerArgs
from harness.world.case import Case
from harness.world.cuda_graph import CudaGraphConfig
from harness.world.machine import simulated
from harness.world.profiles import hardware_profile

with simulated(Case(id="c", hardware=hardware_profile("b200"))):
    record = ServerArgs(cuda_graph_config=CudaGraphConfig(), model_path="m", device="cuda")
    declare_before_resolution(record, "launcher", {"attention_backend": "fa4", "dtype": "half"})
    resolution = Resolution(record)
    run_passes(resolution)
    context = RuntimeContext()
    context.publish(resolution)
print(context.flags.attn.backend, context.flags.page_size, context.flags.dtype)
"""

# No case has a launcher that declares before: no gate of cases can see this one, publishing does.
DROPPED_DECLARATIONS = (
    (
        "engine/stash.py",
        "return tuple(vars(arguments).get(_ATTRIBUTE, ()))",
        "return ()",
    ),
)


def test_9_dropped_declarations_show_in_what_is_published(tmp_path: Path) -> None:
    planted(Plant("", DROPPED_DECLARATIONS, cases=1, shows=""), tmp_path)
    assert _published(Path(__file__).parents[2]) == "fa4 128 half"
    assert _published(tmp_path) != "fa4 128 half"


def _published(root: Path) -> str:
    program = f"import sys; sys.path.insert(0, {str(root)!r})\n{_LAUNCHER}"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.strip()
