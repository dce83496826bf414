"""The tutorial's words, and pages that do not fit their files; `test_pages` does what the pages say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from runnable import ROOT, run_page

pytestmark = pytest.mark.slow

TUTORIAL = ROOT / "docs" / "tutorial"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the tutorial's folder, as the page asks for."""
    return Path(shutil.copytree(TUTORIAL, tmp_path / "tutorial"))


def test_it_names_no_other_code_base() -> None:
    for path in (TUTORIAL / "README.md", *TUTORIAL.rglob("*.py")):
        assert "sglang" not in path.read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ("```diff\n--- a/server/settings.py\n+++ b/server/settings.py\n@@ -1 +1 @@\n-nothing\n+more\n```\n", "patch"),
        ("```python\nnowhere = 1\n```\n", "no file of the page has"),
    ],
)
def test_a_page_that_does_not_fit_its_files_fails(page: str, what: str, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=what):
        list(run_page(page, folder, tmp_path / "tools"))


def test_what_a_command_prints_is_compared(folder: Path, tmp_path: Path) -> None:
    page = "```console\n$ echo a \\\n    b\nwrong\n$ false\n```\n"
    (ran,) = run_page(page, folder, tmp_path / "tools")
    assert ran.found == "$ echo a \\\n    b\na b\n$ false\n"


def test_a_command_knows_the_status_of_the_one_before(folder: Path, tmp_path: Path) -> None:
    first, second = run_page(
        "```console\n$ false\n$ echo $?\n```\n\n```console\n$ echo $?\n```\n", folder, tmp_path / "tools"
    )
    assert (first.found, second.found) == ("$ false\n$ echo $?\n1\n", "$ echo $?\n0\n")
