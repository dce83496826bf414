"""The plugin as a user has it: pytest in a process of its own, in a folder with two functions and some tests."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
RESOLVE = """
from dataclasses import dataclass, replace

@dataclass
class Settings:
    port: int = 80
    tls: bool = False
    mode: str = "plain"

def resolve(settings: Settings) -> Settings:
    if settings.port < 0:
        raise ValueError("no port")
    if settings.port == 443:
        settings.mode = "tls"
    return settings

def other(settings: Settings) -> Settings:
    if settings.port < 0:
        raise ValueError("no port")
    return replace(settings, mode="tls" if settings.port >= 443 else settings.mode)
"""
CONFIG = """
[tool.stackproof]
subjects = ["python:app:resolve", "python:app:other"]

[tool.stackproof.budget]
cases = 200
jobs = 1
"""
PARTS = ("port", "tls", "mode", "(refusals)", "(environment)", "(outcomes)")


class Place:
    """The folder, and a way to run pytest in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("app.py", RESOLVE)
        self.write("pyproject.toml", CONFIG)
        self.write("test_own.py", "def test_own():\n    pass\n")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, *words: str) -> tuple[int, str]:
        """Return the status and the output of pytest with these words."""
        installed = importlib.metadata.entry_points(group="pytest11", name="stackproof")
        ours = [] if installed else ["-p", "harness.pytest_plugin"]
        program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
        run = subprocess.run(
            [sys.executable, "-c", program, *ours, "-rA", "-q", f"--basetemp={self.folder / 'temp'}", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return run.returncode, run.stdout + run.stderr


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "theirs"
    folder.mkdir()
    return Place(folder)


def outcomes(text: str) -> dict[str, str]:
    """Return the outcome of each test by its id, from the summary that ``-rA`` prints."""
    lines = [line.split(" - ")[0].split(" ", 1) for line in text.splitlines()]
    return {line[1]: line[0] for line in lines if len(line) == 2 and line[0] in ("PASSED", "FAILED", "ERROR")}


def configured(**wanted: str) -> dict[str, str]:
    return {f"pyproject.toml::{part}": wanted.get(part, "PASSED") for part in PARTS}


def test_without_option_and_mark_it_changes_nothing(place: Place) -> None:
    # Not even the configuration is read.
    place.write("pyproject.toml", "[tool.stackproof]\nsubjcts = 1\n")
    status, text = place.run()
    assert (status, outcomes(text)) == (0, {"test_own.py::test_own": "PASSED"})


def test_one_test_a_field_with_witness_and_replay_line(place: Place) -> None:
    status, text = place.run("--stackproof")
    assert status == 1
    assert outcomes(text) == {"test_own.py::test_own": "PASSED", **configured(mode="FAILED")}
    assert "parity of mode" in text
    assert "smallest: python:app:resolve --port 444" in text
    assert (
        "replay:   stackproof resolve --subject python:app:resolve --subject python:app:other"
        " -- python:app:resolve --port 444" in text
    )
    assert "harness/" not in text.replace(str(ROOT), "")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("-k", "mode or refusals"), {"mode": "FAILED", "(refusals)": "PASSED"}),
        (("pyproject.toml::port",), {"port": "PASSED"}),
        (("pyproject.toml",), dict.fromkeys(PARTS, "PASSED") | {"mode": "FAILED"}),
    ],
)
def test_k_and_names_choose(words: tuple[str, ...], parts: dict[str, str], place: Place) -> None:
    text = place.run("--stackproof", *words)[1]
    assert outcomes(text) == {f"pyproject.toml::{part}": outcome for part, outcome in parts.items()}


def test_last_failed(place: Place) -> None:
    place.run("--stackproof")
    assert outcomes(place.run("--stackproof", "--lf")[1]) == {"pyproject.toml::mode": "FAILED"}
    place.write("app.py", RESOLVE.replace(">= 443", "== 443"))
    assert place.run("--stackproof", "--lf")[0] == 0


def test_processes_of_xdist_share_one_gate(place: Place) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist comes with the extra test")
    status, text = place.run("--stackproof", "-n", "2")
    assert status == 1
    assert outcomes(text) == {"test_own.py::test_own": "PASSED", **configured(mode="FAILED")}
    assert len(list((place.folder / "temp").rglob("stackproof-*.json"))) == 1


def test_a_place_that_never_ran_fails_its_field(place: Place) -> None:
    place.write("app.py", RESOLVE.replace(">= 443", "== 443").replace("if settings.port == 443:", "if None == 443:"))
    place.write("pyproject.toml", CONFIG.replace("app:other", "app:resolve"))
    status, text = place.run("--stackproof")
    assert (status, outcomes(text)["pyproject.toml::mode"]) == (1, "FAILED")
    assert "inconclusive: mode is written by resolve (app.py:14) of python:app:resolve, which never ran" in text


def test_a_marked_test(place: Place) -> None:
    place.write(
        "test_own.py",
        """
import app
import pytest

@pytest.mark.stackproof("python:app:resolve", "python:app:other", cases=200, jobs=1)
def test_parity(parity):
    parity.check()

@pytest.mark.stackproof(app.resolve, app.resolve, cases=50, jobs=1, fields=["port"])
def test_function(parity):
    assert parity.judgement().verdict == "equivalent"
    assert parity.report.cases == 50
""",
    )
    status, text = place.run("--strict-markers")
    assert status == 1
    assert outcomes(text) == {
        **{f"test_own.py::test_parity[{part}]": "FAILED" if part == "mode" else "PASSED" for part in PARTS},
        **{f"test_own.py::test_function[{part}]": "PASSED" for part in ("port", "(refusals)", "(outcomes)")},
    }
    assert "smallest: python:app:resolve --port 444" in text


@pytest.mark.parametrize(
    ("config", "words", "part"),
    [
        ("", (), "set subjects under [tool.stackproof]"),
        (CONFIG.replace("app:other", "app:othr"), (), "did you mean 'other'"),
        (CONFIG.replace("cases", "case"), (), "did you mean 'cases'"),
        (CONFIG, ("--stackproof-cases", "0"), "from 1 on"),
    ],
)
def test_a_broken_set_up_is_told_in_a_sentence(config: str, words: tuple[str, ...], part: str, place: Place) -> None:
    place.write("pyproject.toml", config)
    status, text = place.run("--stackproof", *words)
    assert status == 4
    assert part in text and "Traceback" not in text


def test_a_mark_that_lacks_a_subject(place: Place) -> None:
    place.write("test_own.py", "import pytest\n@pytest.mark.stackproof('legacy')\ndef test_own(parity):\n    pass\n")
    assert "takes two subjects, not 1" in place.run()[1]


def test_the_fixture_without_a_mark(place: Place) -> None:
    place.write("test_own.py", "def test_own(parity):\n    pass\n")
    status, text = place.run()
    assert status == 1 and "marked with @pytest.mark.stackproof(FIRST, SECOND)" in text
