"""Reads a git repository without changing it, and without running the programs that its configuration names."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from harness.common.errors import UsageError

# The user decides which configuration git reads (it contains safe.directory), so these variables are passed on. All
# other variables of git are dropped, because we decide which repository git opens: if a hook runs us, GIT_DIR and
# GIT_INDEX_FILE are set for its own repository.
_KEPT: Final = ("GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_DROPPED: Final = ("GIT_CONFIG_PARAMETERS",)
_OPTIONS: Final = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
)


class GitFailed(Exception):
    """A git command failed; ``str(error)`` is the last line that it printed."""


class Git:
    """The repository around a folder. No method writes into it."""

    def __init__(
        self, cwd: Path, *, options: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> None:
        """Open the repository around ``cwd``; every git command also gets ``options`` and ``environment``.

        Raises UsageError if git is missing, or if ``cwd`` is in no repository that git will read.
        """
        program = shutil.which("git")
        if program is None:
            raise UsageError("a 'git:' subject needs git, and there is no program 'git' on the PATH: install it")
        if not cwd.is_dir():
            raise UsageError(f"{cwd} is not a folder, so it has no git repository to take a revision from")
        self._command = [program, *_OPTIONS, *options]
        self._cwd = cwd
        self._environment = _environment() | dict(environment or {})
        try:
            self.text("rev-parse", "--git-dir")
        except GitFailed as error:
            if "not a git repository" in str(error):
                raise UsageError(
                    f"{cwd} is in no git repository, which a 'git:' subject is taken from: change to the"
                    " repository, or name a folder with 'dir:PATH'"
                ) from None
            raise UsageError(f"git won't read the repository of {cwd}: {error}") from None

    def text(self, *arguments: str, given: bytes = b"") -> str:
        """Return what a git command prints for the input ``given``; raises GitFailed if it fails."""
        finished = subprocess.run(
            [*self._command, *arguments],
            cwd=self._cwd,
            env=self._environment,
            input=given,
            capture_output=True,
            check=False,
        )
        if finished.returncode != 0:
            raise GitFailed(_last_line(finished.stderr))
        return os.fsdecode(finished.stdout)

    def blobs(self, objects: list[str]) -> Generator[bytes, None, None]:
        """Yield the content of each blob of ``objects``, in order; raises GitFailed if one can't be read."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as complaint:
            # Files, not pipes: with two pipes, git could wait for us to read while we wait for it.
            asked.write("".join(f"{name}\n" for name in objects).encode())
            asked.seek(0)
            with subprocess.Popen(
                [*self._command, "cat-file", "--batch"],
                cwd=self._cwd,
                env=self._environment,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=complaint,
            ) as process:
                assert process.stdout is not None
                try:
                    for _ in objects:
                        yield _one_blob(process.stdout, complaint)
                finally:
                    process.kill()


def _one_blob(stream: IO[bytes], complaint: IO[bytes]) -> bytes:
    header = stream.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        complaint.seek(0)
        last = _last_line(complaint.read())
        raise GitFailed(last if not header else b" ".join(header).decode(errors="replace"))
    size = int(header[2])
    content = stream.read(size)
    if len(content) != size or stream.read(1) != b"\n":
        raise GitFailed("git ended before it had given the whole of a file")
    return content


def _environment() -> dict[str, str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or (name.startswith(_KEPT) and name not in _DROPPED)
    }
    environment["LC_ALL"] = "C"  # errors are recognized by their English text
    environment["GIT_TERMINAL_PROMPT"] = "0"
    # A partial clone would fetch a missing object, with the programs that its configuration names.
    environment["GIT_NO_LAZY_FETCH"] = "1"
    environment["GIT_ALLOW_PROTOCOL"] = "none"
    return environment


def _last_line(said: bytes) -> str:
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith("fatal:")]
    chosen = (fatal or lines or ["git gave no reason"])[-1]
    return chosen.removeprefix("fatal: ").strip()
