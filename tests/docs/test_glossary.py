"""The glossary names things that exist, and each of its words once."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
_ROW = re.compile(r"^\| (?P<words>[^|]+) \| (?P<meaning>[^|]+) \| (?:`(?P<name>[^`]+)`)? ?\|$", re.M)
ROWS = [row for row in _ROW.finditer(PAGE.read_text(encoding="utf-8")) if not row["words"].startswith("word")]


@pytest.mark.parametrize("name", [row["name"] for row in ROWS if row["name"]])
def test_a_name_in_the_code_exists(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_every_row_is_read() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    headers = [line for line in rows if line.startswith("| word ")]
    assert len(ROWS) == len(rows) - len(headers)


def test_every_word_has_one_meaning() -> None:
    words = [word.strip() for row in ROWS for word in row["words"].split(",")]
    assert sorted(words) == sorted(set(words))
