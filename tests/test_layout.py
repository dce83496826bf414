"""The layout: small modules, small folders, one thing for each class name. Import-linter looks for circles."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("harness", "codemods", "declarative", "legacy")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MOST_LINES = 400
MOST_MODULES = 15

# The original and its successor are written in the same terms, and the public ``Difference`` of `harness.api` is how
# a user sees the engine's.
SHARED_NAMES = {
    "Arg": {"declarative", "legacy"},
    "ServerArgs": {"declarative", "legacy"},
    "Difference": {"harness"},
}


def test_no_module_is_too_long() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_folder_has_too_many_modules() -> None:
    counts: defaultdict[str, int] = defaultdict(int)
    for path in MODULES:
        counts[path.parent.relative_to(ROOT).as_posix()] += path.name != "__init__.py"
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_a_folder_says_what_it_is_for() -> None:
    silent = [
        path
        for path in MODULES
        if path.name == "__init__.py" and ast.get_docstring(ast.parse(path.read_text("utf-8"))) is None
    ]
    assert silent == []


def test_no_two_public_classes_have_one_name() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    repeated = {name: found for name, found in places.items() if len(found) > 1}
    for name, packages in SHARED_NAMES.items():
        if {found.split("/")[0] for found in repeated.get(name, ())} == packages:
            del repeated[name]
    assert repeated == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_private_name_is_imported(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {alias.name}"
        for path in MODULES
        if path.is_relative_to(ROOT / package)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]
    assert found == []
