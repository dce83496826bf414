"""A package of ours as a subject: in its own process, here and as a copy that somebody changed."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import legacy
from harness.common.errors import UsageError
from harness.subjects.open import open_spec, open_subject
from harness.subjects.spec import SubjectSpec
from harness.subjects.subject import Subject
from harness.world.case import Case
from harness.world.profiles import hardware_profile, model_profile, real_launches

pytestmark = pytest.mark.slow

HERE = Path(legacy.__file__).parent


def opened(text: str, **limits: float) -> SubjectSpec:

    seconds = limits.get("case_seconds", 10.0)
    return open_spec(
        text,
        answers=None,
        python=sys.executable,
        case_seconds=seconds,
        memory_mib=int(limits.get("memory_mib", 1024)),
    )


@pytest.fixture(scope="module")
def subject() -> Iterator[Subject]:
    with open_subject(opened("legacy")) as subject:
        subject.choose([*legacy.FIELDS, *legacy.STATE])
        yield subject


Change = Callable[[str], str]


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str, Change], str]:
    """Return a function that copies the port with one file changed, and the name of that copy as a subject."""

    def changed(file: str, change: Change) -> str:
        shutil.copytree(HERE, tmp_path / "legacy", ignore=shutil.ignore_patterns("__pycache__"))
        path = tmp_path / "legacy" / file
        before = path.read_text(encoding="utf-8")
        after = change(before)
        assert after != before
        path.write_text(after, encoding="utf-8")
        return f"dir:{tmp_path}#legacy"

    return changed


CASES = [
    Case(id="a"),
    Case(id="b", args={"tp_size": 8}, hardware=hardware_profile("b200"), model=model_profile("deepseek-v3.2")),
    Case(id="c", args={"attention_backend": "trtllm_mla"}, hardware=hardware_profile("h100")),
    Case(id="d", hardware=hardware_profile("h100"), env={"SGLANG_EMBEDDINGS_SPARSE_HEAD": "x"}),
]


def test_outcomes_are_those_of_the_package(subject: Subject) -> None:
    assert subject.outcomes(CASES) == [legacy.resolve(case) for case in CASES]


def test_the_description_is_of_the_package(subject: Subject) -> None:
    described = subject.describe()
    assert {name: spec.type for name, spec in described.fields.items()} == {
        name: spec.type for name, spec in legacy.arguments().items()
    }
    assert described.fields["page_size"].compared
    assert "DeepseekV32ForCausalLM" in described.architectures
    assert described.environment["SGLANG_USE_AITER"].type == "bool"
    assert described.resolved == (*legacy.FIELDS, *legacy.STATE)
    assert described.slots[0] == "0 _handle_deprecated_args"
    assert len(described.slots) == 21


def test_every_write_site_has_a_slot(subject: Subject) -> None:
    writers = subject.describe().writers
    assert all(writer.slot for writer in writers)
    assert [int(writer.slot.split()[0]) for writer in writers] == sorted(int(w.slot.split()[0]) for w in writers)
    # Those of the 28 fields are counted, field by field, in tests/legacy/test_writes.py.
    assert sum(writer.field in legacy.FIELDS for writer in writers) == 173 + 1 + 4


def test_reach_counts_each_write_once(subject: Subject) -> None:
    writers = subject.describe().writers
    subject.choose([*legacy.FIELDS, *legacy.STATE])
    subject.resolve([CASES[0]] * 3)
    reached = {
        (writer.field, writer.source): count
        for writer, count in zip(writers, subject.reach().counts, strict=True)
        if count
    }
    assert reached[("attention_backend", "_handle_cpu_backends")] == 3
    assert ("attention_backend", "_handle_hpu_backends") not in reached
    assert not any(subject.reach().counts)


def test_a_process_that_ends_after_its_answers_takes_only_its_counts_along(subject: Subject) -> None:
    """A case may leave a thread behind that ends it."""
    subject.choose([*legacy.FIELDS, *legacy.STATE])
    before = subject.resolve([CASES[0]])
    subject.kill()
    reach = subject.reach()
    assert len(reach.counts) == len(subject.describe().writers) and not any(reach.counts)
    assert subject.resolve([CASES[0]]) == before


def test_the_chain_holds_every_write_in_order(subject: Subject) -> None:
    case = Case(id="c", args={"attention_backend": "fa4"}, hardware=hardware_profile("b200"))
    (chain,) = subject.chains([case])
    pages = [(write.value, write.source) for write in chain if write.field == "page_size"]
    assert pages == [(128, "_handle_attention_backend_compatibility")]
    place = next(write for write in chain if write.field == "page_size")
    text = (HERE.parent / place.file).read_text(encoding="utf-8").splitlines()[place.line - 1]
    assert text.strip() == "self.page_size = 128"


def test_a_refused_case_has_the_chain_until_then(subject: Subject) -> None:
    _, chain = subject.chains([CASES[0], CASES[2]])
    assert [write.field for write in chain] == ["uses_mamba_radix_cache", "sampling_backend"]


def test_launch_flags_are_read(subject: Subject) -> None:
    words = ["--tp", "8", "--enable-dp-attention", "--page-size", "64", "--swa-full-tokens-ratio", "0.5"]
    args = subject.parse([*words, "--cuda-graph-config", '{"decode": {"backend": "full"}}'], "here")
    assert args == {
        "tp_size": 8,
        "enable_dp_attention": True,
        "page_size": 64,
        "swa_full_tokens_ratio": 0.5,
        "cuda_graph_config": {"decode": {"backend": "full"}},
    }


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--page-sise", "1"], ["'--page-sise'", "'--page-size'", "legacy"]),
        (["--page-size", "x"], ["--page-size", "invalid int value", "'x'"]),
        (["--attention-backend", "fa5"], ["invalid choice", "fa5"]),
        (["--cuda-graph-config", "{"], ["--cuda-graph-config", "invalid"]),
    ],
)
def test_flags_that_do_not_parse(subject: Subject, words: list[str], parts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        subject.parse(words, "here")
    for part in parts:
        assert part in str(caught.value)


def test_the_real_launches_resolve_or_refuse(subject: Subject) -> None:
    cases = [subject.launch_case(launch) for launch in real_launches()]
    assert len(cases) == 14
    assert all(outcome.failure is None for outcome in subject.outcomes(cases))


def test_a_copy_is_run_from_its_folder(copy: Callable[[str, Change], str]) -> None:
    text = copy(
        "handlers/attention.py", lambda source: source.replace('"flashinfer" if is_flash', '"other" if is_flash')
    )
    case = Case(id="c", hardware=hardware_profile("h100"))
    with open_subject(opened(text)) as changed:
        changed.choose(["sampling_backend"])
        assert changed.outcomes([case])[0].fields == {"sampling_backend": "other"}
    assert (legacy.resolve(case).fields or {})["sampling_backend"] == "flashinfer"


def test_a_copy_in_a_commit(
    copy: Callable[[str, Change], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy("handlers/attention.py", lambda source: source.replace('"flashinfer" if is_flash', '"other" if is_flash'))
    monkeypatch.setenv("STACKPROOF_CACHE", str(tmp_path / "cache"))
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "legacy"], check=True)
    subprocess.run([*git, "commit", "-qm", "port"], check=True)
    monkeypatch.chdir(tmp_path)
    with open_subject(opened("git:HEAD#legacy")) as changed:
        changed.choose(["sampling_backend"])
        (outcome,) = changed.outcomes([Case(id="c", hardware=hardware_profile("h100"))])
    assert outcome.fields == {"sampling_backend": "other"}


HANDLER = "    def _handle_page_size(self) -> None:\n"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(3)", "killed"),
        ("import os; os.abort()", "killed"),
        ("bytearray(8 << 30)", "memory"),
        ("open('/etc/passwd').read()", "unanswered"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "unanswered"),
        ("import subprocess; subprocess.run(['true'])", "unanswered"),
        ("raise KeyboardInterrupt", "broken"),
        ("import os; os.environ['NCCL_ALGO'] = 'x'", "broken"),
        ("import os; os.environ.pop('HOME')", "broken"),
    ],
)
def test_a_copy_that_runs_wild_costs_its_own_case(copy: Callable[[str, Change], str], line: str, kind: str) -> None:
    body = f"{HANDLER}        if self.tp_size == 7:\n            {line}\n"
    text = copy("handlers/attention.py", lambda source: source.replace(HANDLER, body))
    cases = [Case(id=str(size), args={"tp_size": size}) for size in (1, 7, 2)]
    with open_subject(opened(text, case_seconds=1.0, memory_mib=512)) as changed:
        changed.choose(["page_size"])
        first, wild, last = changed.outcomes(cases)
    assert (first.fields, last.fields) == ({"page_size": 1}, {"page_size": 1})
    assert wild.failure is not None
    assert wild.failure.kind == kind


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (
            "import no_such_module",
            ["importing the package failed", "attention.py:", "no_such_module"],
        ),
        ("def (:", ["SyntaxError"]),
        ("while True: pass", ["its process ended while the tree was being imported"]),
    ],
)
def test_a_copy_that_does_not_load(copy: Callable[[str, Change], str], line: str, parts: list[str]) -> None:
    text = copy("handlers/attention.py", lambda source: f"{source}\n{line}\n")
    spec = opened(text)
    spec = dataclasses.replace(spec, limits=dataclasses.replace(spec.limits, load_seconds=3.0))
    with pytest.raises(UsageError) as caught, open_subject(spec) as changed:
        changed.load()
    for part in parts:
        assert part in str(caught.value)


RESOLVE = "    return resolve_slice("


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return None", "returned NoneType"),
        ("raise ValueError('from resolve')", "from resolve"),
        ("return Outcome(id=case.id, fields={}, error=None, env={})", "lacks the field page_size"),
    ],
)
def test_a_copy_whose_resolve_keeps_no_promise(copy: Callable[[str, Change], str], line: str, said: str) -> None:
    text = copy("resolution.py", lambda source: source.replace(RESOLVE, f"    {line}\n{RESOLVE}"))
    with open_subject(opened(text)) as changed:
        changed.choose(["page_size"])
        (outcome,) = changed.outcomes([Case(id="a")])
    assert outcome.failure is not None
    assert outcome.failure.kind == "broken"
    assert said in outcome.failure.detail


def test_a_syntax_error_is_placed_where_it_is(copy: Callable[[str, Change], str]) -> None:
    text = copy("handlers/attention.py", lambda source: f"{source}\ndef (:\n")
    with pytest.raises(UsageError, match=r"attention\.py:\d+: SyntaxError"), open_subject(opened(text)) as changed:
        changed.load()


def test_a_folder_without_the_package(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"looked for legacy/__init__\.py"):
        opened(f"dir:{tmp_path}#legacy")
