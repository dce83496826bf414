"""What a team's CI takes from this repository: the action, the hooks, the snippets and commands of the documents."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from made_up_trees import make_tree

from harness.cli import app, guarded

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
PAGES = ("pull-requests.md", "ledger.md")


def parses(words: list[str]) -> bool:
    """Whether the command line takes these words as a command and its options; it is not run."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    return guarded(lambda: bool(command.make_context("stackproof", list(words))) and None) == 0


def fenced(page: str) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of each block of code of a page."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.M | re.S):
        yield match[1], match[2]


# -- the action --------------------------------------------------------------------------------------------------


class Job:
    """Runs the action's own step as a runner does: the inputs are in the environment, the rest is in files."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self._folder = folder
        self._repository = repository
        self.work = folder / "stackproof"
        program = self.work / "venv/bin/stackproof"
        program.parent.mkdir(parents=True)
        path, python = shlex.quote(str(ROOT)), shlex.quote(sys.executable)
        program.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {python} -P -m harness.cli "$@"\n')
        program.chmod(0o755)

    def run(self, **inputs: str) -> tuple[int, dict[str, str]]:
        """Return the step's status and its outputs."""
        given = {name: str(entry["default"]) for name, entry in ACTION["inputs"].items()} | inputs
        (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "gate")
        environment = dict(os.environ)
        for name, text in step["env"].items():
            (expression,) = re.findall(r"\$\{\{ (.*?) \}\}", text)
            known = {
                "github.action_path": str(ROOT),
                "steps.python.outputs.python-path": sys.executable,
                "runner.temp": str(self._folder),
            }
            value = known[expression] if expression in known else given[expression.removeprefix("inputs.")]
            environment[name] = text.replace(f"${{{{ {expression} }}}}", value)
        for name in ("GITHUB_BASE_REF", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
            environment.pop(name, None)
        output = self._folder / "output"
        output.write_text("")
        environment |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self._folder / "summary")}
        script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            script, cwd=self._repository, env=environment, capture_output=True, text=True, check=False
        )
        self.said = done.stdout + done.stderr
        return done.returncode, dict(line.split("=", 1) for line in output.read_text().splitlines())

    def reports(self, name: str = "gate") -> list[str]:
        """Return the names of the reports that a gate left."""
        return sorted(path.name for path in (self.work / name / "reports").iterdir())


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job in a repository whose last commit changes the page size."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    repository = tmp_path / "repository"
    make_tree(repository)
    git = ["git", "-C", str(repository), "-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    subprocess.run([*git, "init", "-q"], check=True)
    for page_size in (64, 128):
        record = repository / "sglang/srt/server_args.py"
        record.write_text(record.read_text().replace("64 if is_cuda()", f"{page_size} if is_cuda()"))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "a change"], check=True)
    (tmp_path / "temp").mkdir()
    return Job(tmp_path / "temp", repository)


def test_the_action_gates_a_change_and_leaves_all_reports(job: Job) -> None:
    status, outputs = job.run(cases="200", select="slice", arguments="--jobs 1  --case-seconds 5")
    assert (status, outputs) == (1, {"status": "1"}), job.said
    assert job.reports() == ["stackproof.html", "stackproof.json", "stackproof.sarif", "stackproof.xml"]
    assert "page_size" in (job.work.parent / "summary").read_text()
    assert "::error" in job.said


def test_the_action_in_shards_and_merged(job: Job) -> None:
    shards = job.work / "gate/shards"
    shards.mkdir(parents=True)
    for part in ("1/2", "2/2"):
        status, outputs = job.run(cases="400", shard=part, arguments="--jobs 1")
        assert (status, outputs) == (0, {"status": "0", "shard": f"shard-{part[0]}-of-2"}), job.said
        # What upload-artifact and download-artifact do between two jobs.
        (job.work / f"gate/reports/{outputs['shard']}.json").rename(shards / f"{outputs['shard']}.json")
    status, outputs = job.run(merge="true")
    assert (status, outputs) == (1, {"status": "1"}), job.said
    assert "stackproof.json" in job.reports()


def test_what_a_workflow_gives_is_words_and_no_script(job: Job) -> None:
    status, outputs = job.run(
        cases="200", arguments='$(touch made) `touch made` ; touch made "', select="$(touch made)"
    )
    assert (status, outputs) == (2, {"status": "2"})
    assert not list(job.work.parent.rglob("made"))
    assert not (job._repository / "made").exists()


def test_every_input_is_used() -> None:
    text = (ROOT / "action.yml").read_text()
    for name in ACTION["inputs"]:
        assert f"inputs.{name}" in text, name


# -- the hooks and the documents ---------------------------------------------------------------------------------


def test_the_hooks_are_commands_of_ours() -> None:
    assert not parses(["gate", "--bsae", "main"])
    assert not parses(["gate", "--cases", "few"])
    for hook in HOOKS:
        program, *words = hook["entry"].split()
        files = [] if hook.get("pass_filenames") is False else ["a.toml"]
        assert program == "stackproof"
        assert parses([*words, *hook.get("args", []), *files]), hook["id"]
    assert re.search(HOOKS[1]["files"], "legacy/ledger.toml")


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_are_ones_that_we_take(page: str) -> None:
    lines = [line.strip().removeprefix("- ") for _, text in fenced(page) for line in text.splitlines()]
    commands = [line.partition(" > ")[0] for line in lines if line.strip().startswith("stackproof ")]
    assert commands
    for command in commands:
        assert parses(shlex.split(command)[1:]), command


def test_the_snippets_use_inputs_and_hooks_that_there_are() -> None:
    snippets = [yaml.safe_load(text) for language, text in fenced("pull-requests.md") if language == "yaml"]
    workflows = [snippet for snippet in snippets if "jobs" in snippet]
    assert len(workflows) == 2
    for workflow in workflows:
        for steps in (job["steps"] for job in workflow["jobs"].values()):
            (ours,) = (step for step in steps if "/stackproof@" in step["uses"])
            assert set(ours["with"]) <= set(ACTION["inputs"])
    (configured,) = (snippet for snippet in snippets if "repos" in snippet)
    named = {hook["id"]: hook for hook in HOOKS}
    for hook in configured["repos"][0]["hooks"]:
        words = named[hook["id"]]["entry"].split()[1:]
        assert parses([*words, *hook.get("args", []), *(["a.toml"] if words[0] == "ledger" else [])])
