"""The pages: their commands print what they say, their links lead somewhere, and the reference is complete."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import inspect
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from runnable import ROOT, folder_of, run_page
from typer.testing import CliRunner

import harness.api
from codemods.commands import register
from harness.cli import app
from harness.subjects.sources import Tree

if not importlib.metadata.entry_points(group="stackproof.commands", name="codemods"):
    # Run from its folder and not installed: nobody else brings the codemods' commands.
    register(app)

COMMANDS: Any = typer.main.get_command(app)
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
RUN = [name for name, text in TEXTS.items() if "```console" in text]

_FENCED = re.compile(r"^ *```(?P<kind>\w*)\n(?P<body>.*?)^ *```$", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?://)(?P<file>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_every_command_prints_what_the_page_says(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folder_of(ROOT / name), tmp_path / "page"))
    ran = list(run_page(TEXTS[name], folder, tmp_path / "tools"))
    assert ran
    for block in ran:
        assert block.found == block.written


@pytest.mark.index
@pytest.mark.slow
def test_the_first_command_prints_the_blocks_of_the_readme(
    release: Callable[[str], Tree], session_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("0.5.14", "0.5.15"):
        release(version)
    monkeypatch.setenv("STACKPROOF_CACHE", str(session_cache))
    (line,) = re.findall(r"^pip install .*\{ stackproof (gate .*?);", TEXTS["README.md"], re.M)
    run = subprocess.run(
        [sys.executable, "-m", "harness.cli", *shlex.split(line, comments=False)], capture_output=True, text=True
    )
    assert run.returncode == 1, run.stderr
    # A line of three dots stands for what is left out.
    shown = [block["body"] for block in _FENCED.finditer(TEXTS["README.md"])][1]
    parts = re.split(r"^(?:  \.\.\.)?\n", shown, flags=re.M)
    assert len(parts) >= 2
    for part in parts:
        assert part in run.stdout


def test_the_pages_that_run_are_found() -> None:
    names = ("tutorial/README", "red-report", "hardware", "ledger", "migrate")
    assert {f"docs/{name}.md" for name in names} <= set(RUN)


# -- commands -----------------------------------------------------------------------------------------------


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that the words name, by its groups, and the words behind its name."""
    command = COMMANDS
    while hasattr(command, "commands"):
        assert words, "a group alone"
        assert words[0] in command.commands, f"there is no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    return command, words


def commands_in(text: str) -> Iterator[str]:
    """Yield the command lines of a page's blocks, without what the page says about them beside."""
    for block in _FENCED.finditer(text):
        if block["kind"] not in ("", "console", "yaml"):
            continue
        body = re.sub(r" *\\\n *", " ", block["body"])
        for line in body.splitlines():
            found = re.match(r"^(?:\s*- |\$ |\s*)(stackproof [a-z].*)$", line)
            if found is not None and not found[1].startswith("stackproof: "):
                yield found[1]
    for inline in re.findall(r"`(stackproof [a-z][^`]*)`", re.sub(_FENCED, "", text)):
        # The name of a command alone is no line to paste.
        if command_of(shlex.split(inline)[1:])[1]:
            yield " ".join(inline.split())


def parsed(line: str) -> None:
    """Parse a command line as the program does, up to where it would run. Raises for one that it would refuse."""
    line = re.split(r"\s{2,}| #\s", line.replace(" ... --", " --"))[0]
    line = re.sub(r" \[--[^]]*\]", "", line)
    line = line.replace("--seed S", "--seed 1")
    words = shlex.split(line)
    ends = [words.index(word) for word in ("|", ">", "&&", ";") if word in words]
    command, rest = command_of(words[1 : min(ends, default=len(words))])
    command.make_context(command.name, rest)


LINES = [(name, line) for name, text in TEXTS.items() for line in commands_in(text)]


def test_every_command_of_the_pages_parses() -> None:
    wrong = []
    for name, line in LINES:
        try:
            parsed(line)
        except (Exception, SystemExit) as error:
            wrong.append(f"{name}: {line}: {error!r}")
    assert wrong == []
    assert len(LINES) >= 60


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stackproof gat A B", "no command gat"),
        ("stackproof ledger", "a group alone"),
        ("stackproof gate A B --feild x", "--feild"),
        ("stackproof gate A B --cases x", "integer"),
        ("stackproof migrate page_size", "tree"),
    ],
)
def test_a_command_that_is_none_does_not_parse(line: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        parsed(line)


# -- links --------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_link_leads_to_a_file_as_on_github() -> None:
    for name, text in TEXTS.items():
        for link in _LINK.finditer(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
            path = (ROOT / name).parent / link["file"] if link["file"] else ROOT / name
            assert path.resolve().is_relative_to(ROOT), f"{name}: {link[0]}"
            assert path.is_file(), f"{name}: {link[0]}"
            if link["anchor"]:
                assert link["anchor"][1:] in anchors(path.read_text(encoding="utf-8")), f"{name}: {link[0]}"


# -- the reference ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stackproof_reference", DOCS / "reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def helps(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each command with what its ``--help`` prints."""
    shown = CliRunner().invoke(app, [*words, "--help"], terminal_width=200)
    assert shown.exit_code == 0
    yield words, shown.output
    for name, one in getattr(command, "commands", {}).items():
        yield from helps(one, (*words, name))


def test_every_command_is_told_in_a_line() -> None:
    groups = [(), *((name,) for name, one in COMMANDS.commands.items() if hasattr(one, "commands"))]
    for words in groups:
        shown = CliRunner().invoke(app, [*words, "--help"], terminal_width=80).output
        listed = shown.partition("Commands:\n")[2].splitlines()
        assert listed
        assert [line for line in listed if line.endswith("...")] == []


def test_the_reference_has_every_command_and_option(reference: ModuleType) -> None:
    page = reference.command_line()
    sections = dict(re.findall(r"^#+ ([^\n]*)\n(.*?)(?=^#|\Z)", page, re.M | re.S))
    told = dict(helps(COMMANDS))
    assert len(told) >= 18
    for words, shown in told.items():
        section = sections[f"`stackproof {' '.join(words)}`" if words else "Command line"]
        options = set(re.findall(r"^  (--[a-z-]+)", shown, re.M))
        assert "--help" in options
        assert options == set(re.findall(r"^\* `(--[a-z-]+)", section, re.M)), words


def test_the_reference_has_every_codemod_with_its_examples(reference: ModuleType) -> None:
    page = reference.codemods()
    modules = {path.stem for path in (ROOT / "codemods" / "mods").glob("*.py")} - {"__init__"}
    assert set(re.findall(r"^## `(\w+)`$", page, re.M)) == modules
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        assert "````diff" in section
    for name in modules:
        assert f"| `{name}` |" in TEXTS["docs/codemods.md"]


def test_an_example_shows_what_goes_and_what_comes(reference: ModuleType) -> None:
    page = reference.codemods()
    assert '-    page_size: A[int, "Tokens of a page."] = 1  # small' in page
    assert '+    page_size: A[int, Arg(help="Tokens of a page.", resolvable=True)] = 1  # small' in page


def test_the_reference_has_every_key_of_a_result_and_of_a_ledger(reference: ModuleType) -> None:
    page = reference.schemas()
    for key in ("verdict", "buckets", "reach", "breakdown", "subjects", "difference", "unreached", "expires"):
        assert re.search(rf"^\| `{key}` \| ", page, re.M), key
    for name in ("BucketPart", "SubjectPart", "conditions"):
        assert f"### {name}\n" in page


def test_the_python_page_has_every_public_name(reference: ModuleType) -> None:
    # What has no docstring is left out of a page.
    assert "::: harness.api\n" in reference.API
    for name in harness.api.__all__:
        item = getattr(harness.api, name)
        assert name == "Subject" or inspect.getdoc(item), name


def test_every_page_is_in_the_navigation(reference: ModuleType) -> None:
    listed = set(re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    own = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert listed == own | {path for path in reference.pages() if path.endswith(".md")}
