"""Downloads one wheel with pip, the same wheel on every machine.

pip runs as a child process, so that the user's index, proxy, certificates and credentials are used as always, and so
that pip checks the hash that the index announces.

After a download that succeeds there is a file, and the output of pip is not read. If a download fails, pip's English
output is the only source for the reason. Up to pip 26.3 the exit status is 1 for an index that does not answer, a
release that does not exist, and a release without a fitting wheel. ``--report`` writes JSON only after a success, and
``pip index versions --json`` leaves out releases whose wheels are for other systems.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from harness.common.errors import UsageError, nearest

# Only Python sources are read from a wheel, so a wheel for any system would do. pip gets a fixed list and not this
# machine's, so that the same wheel is taken everywhere: its hash is the identity of the subject.
_PLATFORMS: Final = (
    *(f"manylinux_2_{minor}_x86_64" for minor in range(45, 16, -1)),
    "manylinux2014_x86_64",
    "linux_x86_64",
)
_PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
"""The Pythons to try, in order. Today's releases have wheels for 3.11 or any Python; a later one may drop 3.11."""

_ANSWER_SECONDS: Final = 20.0
_DOWNLOAD_SECONDS: Final = 600.0
# pip waits this long for each of two tries, in all less than _ANSWER_SECONDS.
_TRY_SECONDS: Final = 8

# Settings of the user that would change which wheel is taken, where it goes, or what pip prints.
_DROPPED: Final = frozenset(
    f"PIP_{name}"
    for name in (
        *("ABI", "DEST", "DESTINATION_DIR", "DESTINATION_DIRECTORY", "DRY_RUN", "IGNORE_REQUIRES_PYTHON"),
        *("IMPLEMENTATION", "LOG", "NO_BINARY", "ONLY_BINARY", "PLATFORM", "PRE", "PYTHON", "PYTHON_VERSION"),
        *("QUIET", "REQUIREMENT", "REQUIRE_VIRTUALENV", "VERBOSE"),
    )
)

_NOT_FOUND: Final = re.compile(r"No matching distribution found|Could not find a version that satisfies")
_VERSIONS: Final = re.compile(r"\(from versions: ([^)]*)\)")
_FILE: Final = re.compile(r"/([^/\s]+?\.whl)(?=[\s#]|$)")
_FETCH_FAILED: Final = re.compile(r"Could not fetch URL (\S+): (.*?)(?: - skipping)?$", re.MULTILINE)
_NOT_TRUSTED: Final = re.compile(r"The repository located at (\S+) is not a trusted or secure host")
_ABSENT: Final = re.compile(r"\b404\b")


class IndexUnreachable(UsageError):
    """The package index did not answer, or answered with something other than a list of releases."""


@dataclass(frozen=True)
class _Attempt:
    """One run of pip: its exit status (None if it took too long and was ended) and all that it printed."""

    status: int | None
    output: str

    @property
    def unreachable(self) -> str | None:
        """The address that could not be reached, with the reason; None if every index answered."""
        for url, reason in _FETCH_FAILED.findall(self.output):
            if not _ABSENT.search(reason):
                return f"{_without_secrets(url)}: {_without_secrets(reason)}"
        if match := _NOT_TRUSTED.search(self.output):
            return f"{match[1]} is no https address, nor a trusted host of pip's"
        if self.status is None:
            return "no answer in time"
        return None

    def versions(self, package: str) -> set[Version]:
        """Return the releases of ``package`` that the index lists, including those for another Python or system."""
        listed = {version for match in _VERSIONS.findall(self.output) for version in match.split(", ")}
        found = set(_parsed(listed))
        for name in set(_FILE.findall(self.output)):
            try:
                project, version, _, _ = parse_wheel_filename(urllib.parse.unquote(name))
            except InvalidWheelFilename:
                continue
            if project == package:
                found.add(version)
        return found


def download_wheel(package: str, version: Version, into: Path) -> Path:
    """Return the wheel of ``package`` at ``version``, downloaded into the empty folder ``into``.

    It is the wheel for CPython 3.11 on Linux x86-64, or one for any Python. If there is none, later Pythons are
    tried; if there is none for these either, it is the wheel that pip chooses for this machine.

    Raises IndexUnreachable if the index does not answer, UsageError for an unknown release or another failure of pip.
    """
    known: set[Version] = set()
    for choice in _choices():
        attempt = _run_pip(f"{package}=={version}", into, choice)
        if attempt.status == 0:
            return _only_wheel(into, package, version)
        if attempt.unreachable is not None:
            raise IndexUnreachable(
                f"the package index could not be reached ({attempt.unreachable}) and {package}=={version} is"
                " not in the cache: check the network and pip's settings (PIP_INDEX_URL, PIP_PROXY), or name"
                " a folder with 'dir:PATH'"
            )
        if not _NOT_FOUND.search(attempt.output):
            raise UsageError(f"pip could not download {package}=={version}: {_complaint(attempt.output)}")
        known |= attempt.versions(package)
        if version not in known:
            break
    raise UsageError(_unknown(package, version, known))


def _choices() -> Iterator[list[str]]:
    platforms = [option for platform in _PLATFORMS for option in ("--platform", platform)]
    for python in _PYTHONS:
        abis = ["--abi", f"cp{python.replace('.', '')}", "--abi", "abi3", "--abi", "none"]
        yield ["--implementation", "cp", "--python-version", python, *abis, *platforms]
    yield []


def _run_pip(requirement: str, into: Path, choice: list[str]) -> _Attempt:
    command = [
        *(sys.executable, "-P", "-m", "pip", "download", requirement),
        *("--dest", str(into), "--no-deps", "--only-binary=:all:", *choice),
        *("--timeout", str(_TRY_SECONDS), "--retries", "1", "--no-input"),
        # With ``-vv`` pip names each file that it skips and each index that does not answer.
        *("-vv", "--progress-bar", "off", "--no-color", "--disable-pip-version-check"),
    ]
    environment = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    environment["PYTHONIOENCODING"] = "utf-8:replace"
    with tempfile.TemporaryDirectory(prefix="stackproof-") as folder:
        # pip downloads into a folder inside this one. A wheel there shows that the index has answered, and then the
        # download gets more time.
        environment["TMPDIR"] = folder
        output = Path(folder, "output")
        with output.open("wb") as stream:
            started = time.monotonic()
            with subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT
            ) as process:
                try:
                    status = _wait(process, _ANSWER_SECONDS)
                    if status is None and any(Path(folder).rglob("*.whl")):
                        status = _wait(process, _DOWNLOAD_SECONDS - (time.monotonic() - started))
                finally:
                    process.kill()
        return _Attempt(status, output.read_text(encoding="utf-8", errors="replace"))


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _only_wheel(into: Path, package: str, version: Version) -> Path:
    wheels = sorted(into.glob("*.whl"))
    if len(wheels) != 1:
        raise UsageError(f"pip said it downloaded {package}=={version}, but left {len(wheels)} wheels: run it again")
    return wheels[0]


def _complaint(output: str) -> str:
    """Return the last error that pip printed, in one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return f"{sys.executable} has no pip: install it with '{Path(sys.executable).name} -m ensurepip'"
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return _without_secrets((errors or lines or ["it gave no reason"])[-1])


def _unknown(package: str, version: Version, known: set[Version]) -> str:
    if not known:
        return (
            f"no package index in use lists any release of {package}: check pip's settings (PIP_INDEX_URL,"
            " PIP_EXTRA_INDEX_URL, PIP_NO_INDEX)"
        )
    if version in known:
        return (
            f"the package index lists {package}=={version}, but no wheel of it that pip takes (it may be"
            " withdrawn, or for another system): name another release, or a folder with 'dir:PATH'"
        )
    names = " or ".join(repr(f"{package}=={close}") for close in _near(version, known))
    return f"the package index has no release {package}=={version} (did you mean {names}?)"


def _near(version: Version, known: set[Version]) -> list[Version]:
    """Return up to three releases: the one before ``version``, the one after it, and the most similar by name."""
    ordered = sorted(known)
    at = bisect_left(ordered, version)
    alike = _parsed(nearest(str(version), map(str, ordered), limit=2))
    return list(dict.fromkeys([*ordered[max(at - 1, 0) : at + 1], *alike]))[:3]


def _parsed(names: set[str] | list[str]) -> list[Version]:
    found = []
    for name in names:
        try:
            found.append(Version(name))
        except InvalidVersion:
            continue  # "none", or a file name from before versions had a grammar
    return found


def _without_secrets(text: str) -> str:
    return re.sub(r"(?<=://)[^/@\s]+@", "", text)
