"""The port and the real tree, migrated in one step: nothing stays imperative, the gate agrees, and is red if forced.

Field after field, each with a gate, is the stack's to run.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from codemods.frame.codemod import Codemod, Left
from codemods.frame.driver import StepResult, run_in
from codemods.mods.add_runtime import AddRuntime
from codemods.mods.end_dual_apply import EndDualApply
from codemods.mods.lift_writes import LiftWrites
from codemods.mods.record_writes import RecordWrites
from codemods.reading.facts import RecordFacts
from codemods.reading.files import FolderTree, copied
from codemods.reading.record import read_facts
from harness.engine.campaign import Budget, Request, run_campaign
from harness.engine.result.events import Finished
from harness.subjects.open import open_spec
from harness.subjects.sources import Tree
from harness.subjects.spec import SubjectSpec
from harness.world.slice import FIELDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RECORD = "legacy.server_args:ServerArgs"


def copy_of_port(folder: Path) -> Path:
    copied(ROOT / "legacy", folder / "legacy")
    return folder


def facts_of(root: Path) -> RecordFacts:
    return read_facts(FolderTree(root), RECORD)


def recorded(root: Path) -> Path:
    facts = facts_of(root)
    run_in(root, [AddRuntime(facts), RecordWrites(facts, tuple(FIELDS))])
    return root


def lifted(root: Path, fields: Sequence[str], *, force: bool = False) -> StepResult:
    step: list[Codemod] = [LiftWrites(facts_of(root), tuple(fields), force)]
    return run_in(root, step)


def gated(first: str, second: str, fields: Sequence[str] = (), cases: int = 1000) -> Finished:
    def spec(name: str) -> SubjectSpec:
        return open_spec(name, answers=None, python=sys.executable, case_seconds=10, memory_mib=2048)

    budget = Budget(cases=cases)
    request = Request(spec(first), spec(second), fields=tuple(fields), budget=budget, seed=1)
    return run_campaign(request, lambda event: None)


def writes_of(path: Path) -> Counter[str]:
    """Count the writes of the fields in a file by how they are written; by name, whatever holds the record."""
    found: Counter[str] = Counter()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in FIELDS:
            found["imperative"] += 1
        elif isinstance(node, ast.Call):
            given = sum(keyword.arg in FIELDS for keyword in node.keywords)
            if isinstance(node.func, ast.Name) and node.func.id == "declare":
                found["recorded"] += given
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "declare":
                found["lifted"] += given
    return found


def writes_in(root: Path) -> Counter[str]:
    return sum((writes_of(path) for path in root.rglob("*.py")), Counter())


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Left, ...]]:
    root = recorded(copy_of_port(tmp_path_factory.mktemp("port")))
    return root, tuple(lifted(root, FIELDS).left)


def test_no_write_stays_imperative_and_most_are_lifted(migrated: tuple[Path, tuple[Left, ...]]) -> None:
    root, left = migrated
    before, after = writes_in(ROOT / "legacy"), writes_in(root)
    assert after["imperative"] == 0
    assert after["recorded"] + after["lifted"] == before["imperative"]
    assert after["lifted"] >= 0.6 * before["imperative"]
    assert len(left) == after["recorded"]
    assert all(item.reason for item in left)


def test_the_migrated_port_agrees_with_the_port_and_with_the_successor(
    migrated: tuple[Path, tuple[Left, ...]],
) -> None:
    root, _ = migrated
    for original in ("legacy", "declarative"):
        counts = gated(original, f"dir:{root}#legacy").counts
        assert (counts.different, counts.failed) == (0, 0), original


@pytest.mark.parametrize("fields", [("page_size",), tuple(FIELDS)], ids=["one", "all"])
def test_the_port_sets_its_fields_once_and_agrees(
    migrated: tuple[Path, tuple[Left, ...]], tmp_path: Path, fields: tuple[str, ...]
) -> None:
    root = copied(migrated[0], tmp_path / "tree")
    result = run_in(root, [EndDualApply(facts_of(root), fields)])
    assert not result.left
    assert "@applies_at_end(" in (root / "legacy/resolution.py").read_text()
    assert not run_in(root, [EndDualApply(facts_of(root), fields)]).changed
    counts = gated("legacy", f"dir:{root}#legacy", cases=400).counts
    assert (counts.different, counts.failed) == (0, 0)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print(vars(self)['page_size'])", "handed on to vars"),
        ("plugins.check(self)", "handed on to plugins.check"),
        ("self.page_size = 7", "record_writes comes first"),
    ],
)
def test_a_reader_that_is_planted_in_the_port_is_in_the_way(
    migrated: tuple[Path, tuple[Left, ...]], tmp_path: Path, body: str, reason: str
) -> None:
    root = copied(migrated[0], tmp_path / "tree")
    path = root / "legacy/handlers/inference.py"
    text = path.read_text()
    path.write_text(text.replace(HANDLER, f"{HANDLER}        {body}\n"))
    result = run_in(root, [EndDualApply(facts_of(root), ("page_size",))])
    assert not result.changed
    (left,) = result.left
    assert (left.file, left.line) == (
        "legacy/handlers/inference.py",
        path.read_text().splitlines().index(f"        {body}") + 1,
    )
    assert reason in left.reason


PLUGINS = (
    "current_platform.apply_server_args_defaults",
    "algo.validate_server_args",
    "algo.handle_server_args",
)


@pytest.mark.index
def test_the_real_tree_goes_the_same_way(release: Callable[[str], Tree], tmp_path: Path) -> None:
    original = release("0.5.14").root
    root = copied(original, tmp_path / "tree")
    facts = read_facts(FolderTree(root), "sglang.srt.server_args:ServerArgs")
    files = sorted({place.file for place in (*facts.classes, *facts.passed)})
    before = sum((writes_of(root / path) for path in files), Counter())
    fields = tuple(field for field in FIELDS if field in facts.fields or field in facts.attributes)
    result = run_in(root, [AddRuntime(facts), RecordWrites(facts, fields), LiftWrites(facts, fields)])
    after = sum((writes_of(root / path) for path in files), Counter())
    assert not result.unreadable
    assert after["imperative"] == 0
    assert after["recorded"] + after["lifted"] == before["imperative"] >= 173
    assert after["lifted"] >= 0.6 * before["imperative"]
    assert sum(item.file in files for item in result.left) == after["recorded"]
    for mode in ("", "#slice"):
        counts = gated(f"dir:{original}{mode}", f"dir:{root}{mode}", cases=600).counts
        assert (counts.different, counts.failed) == (0, 0), mode
    # Three hooks of plugins are handed the record: no field goes until somebody vouches for them.
    facts = read_facts(FolderTree(root), "sglang.srt.server_args:ServerArgs")
    stays = run_in(root, [EndDualApply(facts, fields)])
    assert not stays.changed
    assert sorted(item.what.partition("(")[0] for item in stays.left) == sorted(PLUGINS)
    assert not run_in(root, [EndDualApply(facts, fields, PLUGINS)]).left
    counts = gated(f"dir:{original}", f"dir:{root}", cases=300).counts
    assert (counts.different, counts.failed) == (0, 0)


HANDLER = "    def _handle_dllm_inference(self) -> None:\n"
PLANTED = {
    # Shadowing: what a call writes after a declaration, the replayed declaration overrides.
    "kv_cache_dtype": (
        "which writes kv_cache_dtype",
        "if self.tp_size > 1:",
        "self.kv_cache_dtype = 'planted'",
        "self._writes()",
    ),
    # Half-applied reads: a call sees the value from before.
    "quantization": (
        "would read dtype before it is applied",
        "if self.tp_size > 1:",
        "self.dtype = 'float16'",
        "self.quantization = self._reads()",
    ),
    # The same, where the record goes out of sight.
    "sampling_backend": (
        "hands the record to something",
        "if self.tp_size > 1:",
        "self.page_size = 7",
        "self.sampling_backend = self._hands_on()",
    ),
    # Dispatch too early: a provider would run before the test of a branch that writes what it reads.
    "swa_full_tokens_ratio": (
        "which writes mem_fraction_static",
        "if self._tests():",
        "self.enable_lora = False",
        "elif arch == 'LlamaForCausalLM':",
        "self.swa_full_tokens_ratio = self.mem_fraction_static",
    ),
    # A fallthrough gained: the branch before it excluded the provider's.
    "dsa_decode_backend": (
        "which is not declared",
        "if self.tp_size > 1:",
        "self.enable_lora = False",
        "elif arch == 'LlamaForCausalLM':",
        "self.dsa_decode_backend = 'planted'",
    ),
    # The same with an else, which would be left behind alone.
    "attn_cp_size": (
        "which is not declared",
        "if arch == 'LlamaForCausalLM':",
        "self.attn_cp_size = 5",
        "else:",
        "self.enable_lora = False",
        "self.attn_cp_size = 7",
    ),
    # A predicate that matches a longer name as well.
    "dsa_prefill_backend": (
        "which is not declared",
        "if arch == 'Gemma3ForConditionalGeneration':",
        "self.enable_lora = False",
        "elif 'Gemma3' in arch:",
        "self.dsa_prefill_backend = 'planted'",
    ),
}
METHODS = """\
    def _writes(self) -> None:
        self.kv_cache_dtype = "written"

    def _reads(self) -> str:
        return f"read {self.dtype}"

    def _hands_on(self) -> str:
        return f"read {vars(self)['page_size']}"

    def _tests(self) -> bool:
        self.mem_fraction_static = 0.125
        return False

"""


def planted(folder: Path) -> Path:
    """Return a copy of the port whose last slot holds every hazard."""
    root = copy_of_port(folder)
    lines = ["arch = self.get_model_config().hf_config.architectures[0]"]
    for _, *body in PLANTED.values():
        lines += [line if line.endswith(":") else f"    {line}" for line in body]
    path = root / "legacy/handlers/inference.py"
    text = path.read_text()
    assert HANDLER in text
    body_text = "".join(f"        {line}\n" for line in lines)
    path.write_text(text.replace(HANDLER, METHODS + HANDLER + body_text))
    return root


@pytest.fixture(scope="module")
def hazardous(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the port with the hazards, and a copy of it with its writes recorded."""
    root = planted(tmp_path_factory.mktemp("hazards"))
    other = tmp_path_factory.mktemp("recorded")
    return root, recorded(copied(root, other / "tree"))


def test_a_hazard_is_refused_with_its_reason(hazardous: tuple[Path, Path], tmp_path: Path) -> None:
    original, before = hazardous
    root = copied(before, tmp_path / "tree")
    left = [item for item in lifted(root, PLANTED).left if item.file == "legacy/handlers/inference.py"]
    for field, (reason, *_) in PLANTED.items():
        assert any(field in item.what and reason in item.reason for item in left), (
            field,
            [(item.what, item.reason) for item in left if field in item.what],
        )
    counts = gated(f"dir:{original}#legacy", f"dir:{root}#legacy", cases=800).counts
    assert (counts.different, counts.failed) == (0, 0)


@pytest.fixture(scope="module")
def forced(hazardous: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copied(hazardous[1], tmp_path_factory.mktemp("forced") / "tree")
    lifted(root, tuple(PLANTED), force=True)
    return root


@pytest.mark.parametrize("field", PLANTED)
def test_a_forced_hazard_turns_the_gate_red(hazardous: tuple[Path, Path], forced: Path, field: str) -> None:
    result = gated(f"dir:{hazardous[0]}#legacy", f"dir:{forced}#legacy", [field], cases=400)
    assert result.verdict == "different"
    assert {bucket.difference.name for bucket in result.buckets} == {field}
