"""Made-up releases, package indexes and git repositories."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

SOURCES: dict[str, bytes] = {
    "sglang/__init__.py": b"",
    "sglang/srt/__init__.py": b"",
    "sglang/srt/server_args.py": b"class ServerArgs:\n    page_size = 1\n",
}

Member = tuple[str | zipfile.ZipInfo, bytes]
MakeWheel = Callable[..., Path]
MakeIndex = Callable[..., Path]
RunGit = Callable[..., str]


def record_of(files: Mapping[str, bytes]) -> bytes:
    lines = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join(lines).encode()


@pytest.fixture
def make_wheel(tmp_path: Path) -> MakeWheel:
    """Return a function that writes a wheel; what it holds, and what its RECORD says, can be bent."""

    def make(
        version: str = "0.5.14",
        *,
        tag: str = "py3-none-any",
        files: Mapping[str, bytes] = SOURCES,
        extra: list[Member] | None = None,
        record: Mapping[str, bytes] | None = None,
        folder: Path | None = None,
    ) -> Path:
        info = f"sglang-{version}.dist-info"
        held = {
            **files,
            "sglang/kernel.cu": b"no source of ours",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n".encode(),
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
        }
        wheel = (folder or tmp_path) / f"sglang-{version}-{tag}.whl"
        wheel.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in held.items():
                archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
            for member, content in extra or []:
                archive.writestr(member, content)
            archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), record_of(held if record is None else record))
        return wheel

    return make


@pytest.fixture
def quiet_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away every setting that pip has on this machine."""
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")


@pytest.fixture
def make_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_pip: None) -> MakeIndex:
    """Return a function that makes pip's one index out of files in ``tmp_path/index/files``."""

    def make(*files: Path) -> Path:
        page = tmp_path / "index" / "simple" / "sglang" / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        links = []
        for file in files:
            sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
            links.append(f'<a href="{quote(file.as_uri(), safe=":/%")}#sha256={sha256}">{file.name}</a>')
        page.write_text("<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>")
        monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "index" / "simple").as_uri())
        return page

    return make


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch, quiet_pip: None) -> None:
    """Let pip's one index be a port that nobody listens on."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:hush@127.0.0.1:9/simple")


@pytest.fixture
def run_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunGit:
    """Return a function that runs git in a folder, without the machine's configuration."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))

    def run(folder: Path, *arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
        finished = subprocess.run(
            ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
        )
        return finished.stdout.strip()

    return run


def write_files(root: Path, files: Mapping[str, bytes], place: str = "") -> None:
    for path, content in files.items():
        target = root / place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


@pytest.fixture
def write_sources() -> Callable[..., None]:
    """Return a function that writes the made-up package below a folder."""

    def write(root: Path, place: str = "", page_size: int = 1) -> None:
        changed = {"sglang/srt/server_args.py": f"class ServerArgs:\n    page_size = {page_size}\n".encode()}
        write_files(root, {**SOURCES, **changed}, place)

    return write
