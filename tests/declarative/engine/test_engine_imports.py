"""The engine can be copied anywhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import declarative

_PROGRAM = """
import sys
before = set(sys.modules)
import declarative.engine
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - set(sys.stdlib_module_names)))
"""


def test_the_engine_pulls_in_nothing_outside_the_standard_library() -> None:
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["declarative"]


def test_the_engine_works_as_a_part_of_another_tree(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(Path(declarative.__file__).parent / "engine", other / "srt" / "declared")
    for folder in (other, other / "srt"):
        (folder / "__init__.py").touch()
    program = _PROGRAM.replace("import declarative.engine", "from other.srt.declared import Pipeline, RuntimeContext")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}"
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["other"]


def test_the_package_has_what_it_says_and_no_more() -> None:
    for name in declarative.__all__:
        assert getattr(declarative, name) is not None
        # A module of that name would take its place once it is imported.
        assert not (Path(declarative.__file__).parent / f"{name}.py").exists()
    with pytest.raises(AttributeError, match="no attribute 'resolv'"):
        _ = declarative.resolv  # type: ignore[attr-defined]
