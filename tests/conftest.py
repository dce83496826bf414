"""What all tests share: one cache of real releases for the whole run, runs of the command line, Hypothesis."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from packaging.version import Version

from harness.cli import app, guarded
from harness.subjects.sources import Tree, release_tree
from harness.subjects.sources.index import IndexUnreachable

# Build machines are busy, and no test is about Hypothesis's own speed. CI draws the same examples each time.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache that tests of real releases share; the user's own when one is named."""
    named = os.environ.get("STACKPROOF_CACHE")
    return Path(named) if named else tmp_path_factory.mktemp("releases")


@pytest.fixture(scope="session")
def release(session_cache: Path) -> Callable[[str], Tree]:
    """Return a function that gives the tree of a real release; without the index, its caller is skipped."""
    unreachable: list[str] = []

    def tree(version: str) -> Tree:
        # Asked once: each try waits for the index.
        if not unreachable:
            try:
                return release_tree("sglang", Version(version), session_cache)
            except IndexUnreachable as error:
                unreachable.append(str(error))
        pytest.skip(f"needs the package index: {unreachable[0]}")

    return tree


class Run:
    """One run of the command line in this process."""

    def __init__(self, capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> None:
        capfdbinary.readouterr()
        self.status = guarded(lambda: app(list(words), standalone_mode=False))
        out, err = capfdbinary.readouterr()
        self.out, self.err = out.decode(), err.decode()

    def is_refused(self, *parts: str) -> None:
        """Check the promise: status 2, nothing on standard output, one sentence that holds ``parts``."""
        assert self.status == 2, self.err
        assert self.out == ""
        sentence = self.err.split("\n\n")[0].strip()
        assert "\n" not in sentence
        assert "Traceback" not in self.err
        for part in parts:
            assert part in sentence, sentence


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]):  # type: ignore[no-untyped-def]
    return lambda *words: Run(capfdbinary, *words)
