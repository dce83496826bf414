"""The folder that child processes import our packages from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness.common.defaults import IMPORT_FOLDER


def test_the_import_folder_holds_our_packages_and_offers_none_of_their_parts() -> None:
    # One level too deep, a process would import ``common`` and ``world`` by these names, and no ``harness``.
    assert (Path(IMPORT_FOLDER) / "harness" / "__init__.py").is_file()
    assert not (Path(IMPORT_FOLDER) / "common").exists()
    isolated = [sys.executable, "-S", "-s", "-c", "import harness; print(harness.__file__)"]
    done = subprocess.run(isolated, env={"PYTHONPATH": IMPORT_FOLDER}, cwd="/", capture_output=True, text=True)
    assert done.stdout.startswith(IMPORT_FOLDER), done.stderr
