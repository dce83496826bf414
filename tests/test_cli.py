"""The command line: exit statuses, output, and one sentence for whatever a user can get wrong."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from made_up_trees import make_tree

from harness.cli import app, guarded
from harness.formats.contract import parse_outcome

pytestmark = pytest.mark.slow


@pytest.fixture
def trees(tmp_path: Path) -> tuple[str, str]:
    """Two subjects that differ for two ranks."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    make_tree(tmp_path / "a")
    make_tree(
        tmp_path / "b",
        sampling="self.sampling_backend = 'x' if self.tp_size > 1 else 'flashinfer' if is_cuda() else 'pytorch'",
    )
    return f"dir:{tmp_path}/a#slice", f"dir:{tmp_path}/b#slice"


SMALL = ("--cases", "300", "--jobs", "1")


def test_equivalent_is_0(run, trees) -> None:  # type: ignore[no-untyped-def]
    done = run("gate", trees[0], trees[0], *SMALL)
    assert done.status == 0
    assert "verdict  equivalent: 300 cases agree" in done.out
    assert done.err == ""


def test_different_is_1_and_shows_the_launch(run, trees) -> None:  # type: ignore[no-untyped-def]
    done = run("gate", *trees, *SMALL)
    assert done.status == 1
    assert "python3 -m sglang.launch_server --model-path org/model --tp-size 2" in done.out
    assert done.out.startswith("verdict  different: ")


def test_inconclusive_is_3_and_shows_what_to_add(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    make_tree(tmp_path, sampling="from sglang.srt.utils.common import is_moon; is_moon()")
    done = run("gate", f"dir:{tmp_path}#slice", f"dir:{tmp_path}#slice", *SMALL)
    assert done.status == 3
    assert 'name = "sglang.srt.utils.common.is_moon"' in done.out
    answers = tmp_path / "answers.toml"
    answers.write_text('[[answers]]\nname = "sglang.srt.utils.common.is_moon"\nvalue = false\n')
    assert (
        run("gate", f"dir:{tmp_path}#slice", f"dir:{tmp_path}#slice", *SMALL, "--answers", str(answers)).status == 0
    )


def test_json_is_one_document(run, trees) -> None:  # type: ignore[no-untyped-def]
    done = run("gate", *trees, *SMALL, "--format", "json")
    body = json.loads(done.out)
    assert (done.status, body["format"], body["verdict"]) == (1, "stackproof.gate/1", "different")
    assert body["counts"]["cases"] == 300
    (bucket, *_) = body["buckets"]
    assert bucket["field"] == "sampling_backend"
    assert bucket["witness"]["args"] == {"tp_size": 2}


def test_reports_are_written_beside_the_terminal(  # type: ignore[no-untyped-def]
    run, trees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    names = ("json", "junit", "sarif", "html")
    asked = [word for name in names for word in ("--report", f"{name}={tmp_path / name}")]
    done = run("gate", *trees, *SMALL, *asked, "--report", "github")
    assert done.status == 1
    assert "verdict  different" in done.out
    assert "\n::error title=stackproof%3A sampling_backend differs::" in done.out
    assert "❌ different" in (tmp_path / "summary.md").read_text()
    body = (tmp_path / "json").read_text()
    assert run("gate", *trees, *SMALL, "--report", "json=-").out == body
    line = "self.sampling_backend = 'x' if self.tp_size &gt; 1"
    assert line in (tmp_path / "html").read_text()


def test_reports_that_cannot_be_are_told_before_the_run(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run("gate", *trees, "--report", "sariff=x").is_refused("sariff", "'sarif'")
    run("gate", *trees, "--report", f"html={tmp_path}/no/x").is_refused("does not exist")
    run("gate", *trees, "--format", "json", "--report", "sarif=-").is_refused("standard output")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full here")
def test_a_full_disk_loses_no_earlier_result(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder, sarif = tmp_path / "saved", tmp_path / "sarif"
    asked = ("--report", "html=/dev/full", "--report", f"sarif={sarif}")
    done = run("gate", *trees, *SMALL, "--save", str(folder), *asked)
    assert done.status == 2
    assert done.err.strip() == "stackproof: --report html: cannot write '/dev/full': No space left on device"
    assert json.loads((folder / "result.json").read_bytes())["verdict"] == "different"
    assert sarif.exists()


def test_saved_witnesses_can_be_replayed(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "witnesses"
    assert run("gate", *trees, *SMALL, "--save", str(folder)).status == 1
    files = sorted(folder.glob("*.jsonl"))
    assert files
    for file in files:
        done = run("replay", str(file), *trees)
        assert done.status == 1
        assert "sampling_backend" in done.out
        assert run("replay", str(file), trees[0], trees[0]).status == 0
    page = tmp_path / "page.html"
    done = run("replay", str(files[0]), *trees, "--report", "json=-", "--report", f"html={page}")
    body = json.loads(done.out)
    assert (done.status, body["verdict"]) == (1, "different")
    saved = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert body["counts"]["cases"] == len(saved) and body["buckets"][0]["witness"] in saved
    assert page.read_bytes().startswith(b"<!doctype html>")
    run("replay", str(files[0]), *trees, "--report", "jsn=-").is_refused("'jsn'")


def test_resolve_shows_a_launch(run, trees) -> None:  # type: ignore[no-untyped-def]
    done = run("resolve", "--subject", trees[0], "--hardware", "h100", "--", "--tp", "2")
    assert done.status == 0
    assert "page_size" in done.out and "64" in done.out
    whole = run(
        "resolve", "--subject", trees[0], "--", "SGLANG_X=1", "python3", "-m", "sglang.launch_server", "--tp", "2"
    )
    assert whole.out == done.out


def test_resolve_shows_a_refusal(run, trees) -> None:  # type: ignore[no-untyped-def]
    done = run("resolve", "--subject", trees[0], "--", "--tp", "0")
    assert done.status == 0
    assert "refuses: ValueError in _handle_sampling_backend: too few ranks" in done.out


def test_resolve_writes_outcomes_in_order(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cases, out = tmp_path / "cases.jsonl", tmp_path / "outcomes.jsonl"
    cases.write_text(
        "".join(f'{{"id": "c{n}", "args": {{"tp_size": {n}}}, "hardware": "b200"}}\n' for n in range(300))
    )
    assert run("resolve", "--subject", trees[0], "--cases", str(cases), "--out", str(out)).status == 0
    outcomes = [parse_outcome(line, "x") for line in out.read_bytes().splitlines()]
    assert [outcome.id for outcome in outcomes] == [f"c{n}" for n in range(300)]
    assert outcomes[0].error is not None and outcomes[1].fields is not None
    shown = run("resolve", "--subject", trees[0], "--cases", str(cases))
    assert shown.out == out.read_text()


def test_a_bad_line_leaves_the_former_outcomes(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cases, out = tmp_path / "cases.jsonl", tmp_path / "outcomes.jsonl"
    out.write_text("earlier\n")
    cases.write_text('{"id": "a"}\n{"id": "b", "args": {"page_siz": 1}}\n')
    words = ("resolve", "--subject", trees[0], "--cases", str(cases), "--out", str(out))
    run(*words).is_refused("cases.jsonl:2", "page_siz", "page_size")
    cases.write_text('{"id": "a"}\n{"id": "b", "args": {"tp_size": "two"}}\n')
    run(*words).is_refused("cases.jsonl:2", "tp_size")
    cases.write_text('{"id": "a"}\n{"id": "b", "hardware": "h1000"}\n')
    run(*words).is_refused("cases.jsonl:2", "h1000", "h100")
    assert out.read_text() == "earlier\n"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["gate", "sglang==1.2.3.4.5#slise", "dir:."], ["slise", "slice"]),
        (["gate", "legacyy", "dir:."], ["legacyy", "sglang==VERSION"]),
        (["gate", "svn:trunk", "dir:."], ["svn:trunk"]),
        (["gate", "dir:/nowhere/at/all", "dir:."], ["/nowhere/at/all"]),
        (["gate", "dir:.", "dir:.", "--case", "3"], ["--case", "--cases"]),
        (["gate", "dir:."], ["B"]),
        (["gate", "dir:.", "dir:.", "--cases", "0"], ["--cases"]),
        (["gate", "dir:.", "dir:.", "--cases", "many"], ["--cases", "integer"]),
        (["gate", "dir:.", "dir:.", "--format", "xml"], ["xml", "json"]),
        (["gate", "dir:.", "dir:.", "--python", "/no/python"], ["/no/python"]),
        (["gate", "dir:.", "dir:.", "--answers", "/no/answers.toml"], ["/no/answers.toml"]),
        (["gat", "dir:.", "dir:."], ["gat"]),
        (["resolve", "--", "--tp", "1"], ["--subject"]),
        (["resolve", "--subject", "dir:.", "--out", "x"], ["--out", "--cases"]),
        (["resolve", "--subject", "dir:.", "--cases", "x", "--", "--tp", "1"], ["not both"]),
    ],
)
def test_wrong_words(run, words: list[str], parts: list[str]) -> None:  # type: ignore[no-untyped-def]
    run(*words).is_refused(*parts)


def test_wrong_input_of_a_real_subject(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run("gate", *trees, "--field", "page_sise").is_refused("page_sise", "page_size")
    run("resolve", "--subject", trees[0], "--hardware", "h1000").is_refused("h1000", "h100")
    run("resolve", "--subject", trees[0], "--model", "deepseek").is_refused("deepseek", "deepseek-v3")
    run("resolve", "--subject", trees[0], "--", "--page-sizes", "1").is_refused("--page-sizes", "--page-size")
    run("resolve", "--subject", trees[0], "--", "--tp", "many").is_refused("many")
    run("resolve", "--subject", trees[0], "--", "docker", "run").is_refused("launch")
    run("replay", str(tmp_path / "none.jsonl"), *trees).is_refused("none.jsonl")
    run("resolve", "--subject", trees[0], "--cases", str(tmp_path)).is_refused(str(tmp_path))


def test_an_unwritable_save_folder_is_told_before_the_run(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "file"
    file.write_text("mine")
    run("gate", *trees, "--save", str(file)).is_refused("--save", str(file))
    run("gate", *trees, "--save", str(tmp_path / "no" / "folder")).is_refused("does not exist")
    assert file.read_text() == "mine"


def test_a_run_that_fails_leaves_no_folder(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "new"
    run("gate", *trees, *SMALL, "--field", "none", "--save", str(folder)).is_refused("none")
    run("gate", trees[0], "dir:/nowhere", *SMALL, "--save", str(folder)).is_refused("/nowhere")
    assert not folder.exists()
    folder.mkdir()
    (folder / "mine").write_text("1")
    run("gate", *trees, *SMALL, "--save", str(folder)).is_refused("not empty")


@pytest.mark.parametrize(("closed", "jobs"), [((0,), 1), ((1,), 2), ((2,), 1), ((0, 1, 2), 2)])
def test_a_closed_stream_changes_no_verdict(trees: tuple[str, str], closed: tuple[int, ...], jobs: int) -> None:
    # A pipe of ours would get its number, and be taken from the child for what it prints.
    words = [sys.executable, "-m", "harness.cli", "gate", *trees, *SMALL, "--jobs", str(jobs)]
    done = subprocess.run(words, capture_output=True, preexec_fn=lambda: [os.close(number) for number in closed])
    assert done.returncode == 1, done.stderr
    assert done.stderr == b""


def test_less_memory_than_a_tree_may_take_is_no_fault_of_the_tree(trees: tuple[str, str]) -> None:
    words = [sys.executable, "-m", "harness.cli", "gate", *trees, *SMALL]
    limit = (1 << 30, 1 << 30)
    done = subprocess.run(
        words, capture_output=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit)
    )
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_error_that_cannot_be_printed_is_still_a_2() -> None:
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "harness.cli", "ledger", "check", "nowhere.toml"]
        # Where Python buffers, what was not written is tried once more when it ends.
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        assert subprocess.run(words, stderr=full, env=plain).returncode == 2


@pytest.mark.parametrize(
    "words", [["profiles"], ["gate", "legacy", "declarative", "--cases", "20", "--jobs", "1"], ["--help"]]
)
def test_output_that_cannot_be_written_is_a_2_in_a_sentence(words: list[str]) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "harness.cli", *words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=plain)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "does not let it write" in done.stderr


def test_a_terminal_without_the_character(trees: tuple[str, str]) -> None:
    words = [sys.executable, "-m", "harness.cli", "gate", *trees, *SMALL]
    done = subprocess.run(words, capture_output=True, env={"PYTHONIOENCODING": "ascii", "PATH": os.defpath})
    assert done.returncode == 1, done.stderr


def test_git_subjects(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STACKPROOF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "alone").mkdir()
    monkeypatch.chdir(tmp_path / "alone")
    run("gate", "git:HEAD", "git:HEAD").is_refused("git repository")
    repository = tmp_path / "repository"
    repository.mkdir()
    monkeypatch.chdir(repository)

    def git(*words: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *identity, *words], check=True, capture_output=True)

    git("init", "-b", "main")
    for number, sampling in enumerate(("self.sampling_backend = 'one'", "self.sampling_backend = 'two'")):
        make_tree(repository / "python", sampling=sampling)
        git("add", "-A")
        git("commit", "-m", f"step {number}")
    assert run("gate", "git:HEAD~1#slice", "git:HEAD#slice", *SMALL).status == 1
    assert run("gate", "git:main#slice", "git:HEAD#slice", *SMALL).status == 0
    run("gate", "git:mian", "git:HEAD").is_refused("mian", "main")


def test_our_own_crash_is_never_a_1(capfd: pytest.CaptureFixture[str]) -> None:
    def crash() -> None:
        raise ZeroDivisionError("ours")

    assert guarded(crash) == 70
    assert "bug in stackproof" in capfd.readouterr().err


def test_cases_from_a_pipe(trees: tuple[str, str], tmp_path: Path) -> None:
    line = b'{"id": "a", "args": {"tp_size": 2}}\n'
    program = [sys.executable, "-m", "harness.cli"]
    words = ["replay", "/dev/stdin", *trees, "--report", f"json={tmp_path / 'r.json'}"]
    replayed = subprocess.run([*program, *words], input=line, capture_output=True)
    assert (replayed.returncode, replayed.stderr) == (1, b"")
    words = ["resolve", "--subject", trees[1], "--cases", "/dev/stdin"]
    resolved = subprocess.run([*program, *words], input=line, capture_output=True)
    assert json.loads(resolved.stdout)["fields"]["sampling_backend"] == "x"


def test_a_wrong_word_is_shown_in_brief_and_not_acted_on(run) -> None:  # type: ignore[no-untyped-def]
    done = run("gate", "--format", f"\x1b[31m{'x' * 100_000}")
    done.is_refused("--format", "\\x1b[31m")
    assert len(done.err) < 5000


@pytest.mark.parametrize(
    "words",
    [("resolve", "--subject", "dir:{}"), ("gate", "legacy", "legacy", "--corpus", "{}"), ("stack", "status", "{}")],
)
def test_a_name_that_is_too_long(run, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    run(*(word.replace("{}", "a" * 300) for word in words)).is_refused("name too long")


def test_an_end_of_file_of_ours_is_no_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def torn(*_: object) -> None:
        raise EOFError("marshal data too short")

    monkeypatch.setattr("harness.config.load_config", torn)
    assert guarded(lambda: app(["config", "show"], standalone_mode=False)) == 70
    assert "marshal data too short" in capfd.readouterr().err


def test_help_names_the_commands() -> None:
    done = subprocess.run([sys.executable, "-m", "harness.cli", "--help"], capture_output=True, text=True, check=True)
    assert {"gate", "replay", "resolve"} <= set(done.stdout.split())


def test_a_reader_that_leaves_is_no_error(trees: tuple[str, str]) -> None:
    words = [sys.executable, "-m", "harness.cli", "gate", *trees, *SMALL, "--format", "json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_what_a_reader_left_unread_is_in_the_files(trees: tuple[str, str], tmp_path: Path) -> None:
    """``gate --save DIR | head``: whoever prints less still has all."""
    files = ["--save", str(tmp_path / "saved"), "--report", f"json={tmp_path / 'report.json'}"]
    words = [sys.executable, "-m", "harness.cli", "gate", *trees, *SMALL, *files]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert json.loads((tmp_path / "report.json").read_bytes())["verdict"] == "different"
    assert (tmp_path / "saved" / "result.json").read_bytes() == (tmp_path / "report.json").read_bytes()


def test_a_ledger_passes_what_it_explains(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    ledger = tmp_path / "ledger.toml"
    ledger.write_text(
        'format = "stackproof.ledger/1"\n[[difference]]\nid = "ranks"\nfields = ["sampling_backend"]\n'
        f'subjects = {json.dumps(trees)}\nreason = "meant"\nreference = "here"\n'
    )
    done = run("gate", *trees, *SMALL, "--ledger", str(ledger))
    assert done.status == 0
    assert "explained ranks: " in done.out
    assert "differ as the ledger explains, 0 differ" in done.out
    body = json.loads(run("gate", *trees, *SMALL, "--ledger", str(ledger), "--format", "json").out)
    assert (body["buckets"], body["stale"]) == ([], [])
    (entry,) = body["explained"]
    assert (entry["entry"], entry["reason"], entry["witness"]["args"]) == ("ranks", "meant", {"tp_size": 2})
    assert body["counts"]["explained"] == entry["count"]
    # The other way round it is the same ledger.
    assert run("gate", *reversed(trees), *SMALL, "--ledger", str(ledger)).status == 0


def test_a_ledger_that_is_none(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run("gate", *trees, *SMALL, "--ledger", str(tmp_path / "none.toml")).is_refused("none.toml", "No such file")


def test_explain_lists_writers_in_slot_order(run) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "page_size", "--subject", "legacy")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == "legacy: page_size is written in 19 places"
    slots = [int(line.split()[0]) for line in lines[1:] if line[2] != " "]
    assert slots == sorted(slots) == [4, 8, 11, 13, 20]
    assert "legacy/handlers/attention.py:" in done.out


def test_explain_of_a_source_tree(run, trees) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "page_size", "--subject", trees[0])
    assert done.status == 0
    first, slot, place = done.out.splitlines()
    assert first == f"{trees[0]}: page_size is written in 1 place"
    assert slot.strip() == "_handle_page_size"
    assert place.split()[0] == "_handle_page_size"
    assert place.split()[1].startswith("sglang/srt/server_args.py:")


def test_explain_of_nothing(run) -> None:  # type: ignore[no-untyped-def]
    run("explain", "page_sise").is_refused("legacy", "'page_sise'", "did you mean 'page_size'")


def test_the_port_resolves_launches_with_their_writers(run) -> None:  # type: ignore[no-untyped-def]
    done = run("resolve", "--subject", "legacy", "--hardware", "b200", "--model", "deepseek-v3.2", "--", "--tp", "8")
    assert done.status == 0
    lines = done.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("* page_size"))
    assert lines[at + 1].split()[:3] == ["page_size", "=", "64"]
    assert "8 _handle_model_specific_adjustments: _adjust_deepseek_dsa (legacy/handlers/deepseek.py:" in lines[at + 1]


def test_an_unknown_architecture_is_a_plain_model(run) -> None:  # type: ignore[no-untyped-def]
    shown = [
        run("resolve", "--subject", "legacy", "--hardware", "h100", "--model", json.dumps({"architectures": [name]}))
        for name in ("NeverHeardOfForCausalLM", "AlsoUnknownModel")
    ]
    assert [done.status for done in shown] == [0, 0]
    assert shown[0].out.splitlines()[1:] == shown[1].out.splitlines()[1:]


def test_a_value_of_a_wrong_type_is_refused_by_name(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"id": "a"}\n{"id": "b", "args": {"page_size": "64"}}\n')
    run("resolve", "--subject", "legacy", "--cases", str(cases)).is_refused(
        "cases.jsonl:2", "args.page_size", "integer"
    )


def test_the_cases_are_not_overwritten_by_their_outcomes(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"id": "a"}\n')
    words = ("resolve", "--subject", "legacy", "--cases", str(cases), "--out", str(cases))
    run(*words).is_refused("--out", "file of the cases")
    assert cases.read_text() == '{"id": "a"}\n'


def test_explain_lays_both_sides_beside_one_another(run) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "page_size")
    assert done.status == 0
    lines = done.out.splitlines()
    assert "legacy: page_size is written" in lines[0] and "declarative: page_size is written" in lines[0]
    (pages,) = (line for line in lines if "13 _handle_page_size" in line)
    assert "13 page_size" in pages
    assert any("_handle_dllm_inference" in line and "_dllm_page_size" in line for line in lines)
    # Below a pass is its reason, once for all its lines.
    assert sum("A page has one token unless" in line for line in lines) == 1


def test_resolve_lays_two_subjects_beside_one_another(run) -> None:  # type: ignore[no-untyped-def]
    subjects = ("--subject", "legacy", "--subject", "declarative")
    done = run("resolve", *subjects, "--hardware", "b200", "--", "--attention-backend", "fa4")
    assert done.status == 0
    lines = done.out.splitlines()
    at = lines.index("page_size")
    assert [line.split()[:2] for line in (lines[at + 1], lines[at + 3])] == [
        ["legacy", "128"],
        ["declarative", "128"],
    ]
    assert "_handle_attention_backend_compatibility (legacy/" in lines[at + 2]
    assert "_fa4_page_constraint (declarative/" in lines[at + 4]
    assert lines[at + 5].strip().startswith("fa4 reads pages of 128 tokens")
    refused = run("resolve", *subjects, "--hardware", "h100", "--", "--attention-backend", "trtllm_mla")
    assert refused.out.count("refuses: ValueError") == 2
    run("resolve", *subjects, "--cases", "x.jsonl").is_refused("one --subject")


def test_a_ledger_from_a_run_to_its_check(run, trees, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    result, ledger = tmp_path / "result.json", tmp_path / "ledger.toml"
    first = run("gate", *trees, *SMALL, "--format", "json")
    result.write_text(first.out)
    shown = run("ledger", "propose", str(result))
    assert (shown.status, shown.out.count("[[difference]]")) == (0, 1)
    assert run("ledger", "propose", str(result), "--into", str(ledger)).status == 0
    run("gate", *trees, *SMALL, "--ledger", str(ledger)).is_refused("its reason is empty, write one")
    text = ledger.read_text().replace('""', '"meant"').replace("# expires", "expires")
    ledger.write_text(text)
    again = run("gate", *trees, *SMALL, "--ledger", str(ledger), "--format", "json")
    assert again.status == 0, again.out + again.err
    result.write_text(again.out)
    words = ("ledger", "check", str(ledger), "--result", str(result))
    sound = run(*words, "--today", "2030-12-31")
    assert (sound.status, sound.out) == (0, "checked  1 entry by 2030-12-31 and 1 run: all are sound\n")
    late = run(*words, "--today", "2031-01-01")
    assert late.status == 1
    assert late.out.startswith("expired")
    run(*words, "--today", "soon").is_refused("--today soon", "2030-12-31")
    assert json.loads(run("ledger", "schema").out)["title"] == "stackproof.ledger/1"
