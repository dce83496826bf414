from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from harness.common.errors import UsageError
from harness.formats.subjectname import parse_subject
from harness.subjects.sources import index, locate, release_tree
from harness.subjects.sources.index import IndexUnreachable

pytestmark = pytest.mark.slow

MakeWheel = Callable[..., Path]
MakeIndex = Callable[..., Path]
V14 = Version("0.5.14")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def cached_wheel(cache: Path) -> Path:
    [wheel] = (cache / "wheels").glob("*/*.whl")
    return wheel


def test_downloaded_once(make_wheel: MakeWheel, make_index: MakeIndex, cache: Path) -> None:
    wheel = make_wheel()
    page = make_index(wheel)
    tree = release_tree("sglang", V14, cache)
    assert (tree.root / "sglang" / "srt" / "server_args.py").is_file()
    assert tree.label == "sglang==0.5.14"
    assert tree.identity == f"sha256:{sha256(wheel)}"
    recorded = json.loads((cached_wheel(cache).parent / "wheel.json").read_text())
    assert recorded == {"file": "sglang-0.5.14-py3-none-any.whl", "sha256": sha256(wheel)}
    page.unlink()
    assert release_tree("sglang", V14, cache) == tree


def test_locate_with_links(
    make_wheel: MakeWheel, tmp_path: Path, cache: Path, quiet_pip: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel("0.5.14.post1", folder=tmp_path / "links")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    monkeypatch.setenv("STACKPROOF_CACHE", str(cache))
    tree = locate(parse_subject("sglang==0.5.14-1#slice"), cwd=tmp_path)
    assert tree.label == "sglang==0.5.14-1#slice"
    assert tree.root.is_relative_to(cache)


def test_the_choice_is_the_same_everywhere(
    make_wheel: MakeWheel, make_index: MakeIndex, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = ["cp310-cp310", "cp311-cp311", "cp312-cp312", "cp313-cp313"]
    wheels = [make_wheel(tag=f"{tag}-manylinux_2_34_{machine}") for tag in tags for machine in ("aarch64", "x86_64")]
    make_index(*reversed(wheels))
    # What a user has set up for another purpose has no say in it.
    monkeypatch.setenv("PIP_PLATFORM", "manylinux_2_34_aarch64")
    monkeypatch.setenv("PIP_PYTHON_VERSION", "3.12")
    monkeypatch.setenv("PIP_NO_BINARY", ":all:")
    monkeypatch.setenv("PIP_QUIET", "3")
    release_tree("sglang", V14, cache)
    assert cached_wheel(cache).name == "sglang-0.5.14-cp311-cp311-manylinux_2_34_x86_64.whl"


def test_later_python_when_there_is_no_other(make_wheel: MakeWheel, make_index: MakeIndex, cache: Path) -> None:
    make_index(
        make_wheel(tag="cp313-cp313-manylinux_2_39_x86_64"),
        make_wheel(tag="cp312-cp312-manylinux2014_x86_64"),
    )
    release_tree("sglang", V14, cache)
    assert cached_wheel(cache).name == "sglang-0.5.14-cp312-cp312-manylinux2014_x86_64.whl"


def test_pip_chooses_when_no_fixed_tag_matches(
    make_wheel: MakeWheel, make_index: MakeIndex, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel(tag=f"py{sys.version_info.major}{sys.version_info.minor}-none-any")
    make_index(wheel)
    monkeypatch.setattr(index, "_PYTHONS", ("3.7",))
    assert release_tree("sglang", V14, cache).identity == f"sha256:{sha256(wheel)}"


def test_wheel_for_another_system_only(make_wheel: MakeWheel, make_index: MakeIndex, cache: Path) -> None:
    make_index(make_wheel(tag="cp311-cp311-win_arm64"))
    with pytest.raises(UsageError, match=r"lists sglang==0\.5\.14, but no wheel of it that pip takes"):
        release_tree("sglang", V14, cache)


def test_unknown_release(make_wheel: MakeWheel, make_index: MakeIndex, cache: Path) -> None:
    versions = ["0.5.12", "0.5.13", "0.5.15.post1+cu1", "0.4.1"]
    # One of them is not for the Python that is asked for first: it is known all the same.
    make_index(*map(make_wheel, versions), make_wheel("0.5.16", tag="cp313-cp313-manylinux_2_34_x86_64"))
    with pytest.raises(UsageError) as caught:
        release_tree("sglang", V14, cache)
    assert "no release sglang==0.5.14 (did you mean 'sglang==0.5.13' or" in str(caught.value)
    assert "'sglang==0.5.15.post1+cu1'" in str(caught.value)
    with pytest.raises(UsageError, match=r"did you mean 'sglang==0\.5\.16'"):
        release_tree("sglang", Version("0.9"), cache)
    assert not list((cache / "wheels").iterdir())


def test_index_without_the_package(make_index: MakeIndex, cache: Path, tmp_path: Path) -> None:
    make_index()
    with pytest.raises(UsageError, match="lists any release of sglang: check pip's settings"):
        release_tree("sglang", V14, cache)
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(UsageError, match="lists any release of sglang: check pip's settings"):
        release_tree("sglang", V14, cache)


def test_unreachable_index(no_index: None, cache: Path) -> None:
    started = time.monotonic()
    with pytest.raises(IndexUnreachable) as caught:
        release_tree("sglang", V14, cache)
    assert time.monotonic() - started < 20
    message = str(caught.value)
    assert "could not be reached (http://127.0.0.1:9/simple/sglang/: " in message
    assert "sglang==0.5.14 is not in the cache" in message
    assert "hush" not in message
    assert not list((cache / "wheels").iterdir())


def test_pip_that_hangs(cache: Path, quiet_pip: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_ANSWER_SECONDS", 0.01)
    with pytest.raises(IndexUnreachable, match="no answer in time"):
        release_tree("sglang", V14, cache)


def test_a_download_may_take_longer_than_an_answer(
    make_wheel: MakeWheel, cache: Path, quiet_pip: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = make_wheel()
    program = tmp_path / "python"
    # Called as: -P -m pip download REQUIREMENT --dest FOLDER ...
    program.write_text(f'#!/bin/sh\n: > "$TMPDIR/partial.whl"\nsleep 1\ncp {wheel} "$7"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(index, "_ANSWER_SECONDS", 0.5)
    assert release_tree("sglang", V14, cache).identity == f"sha256:{sha256(wheel)}"


def test_unreachable_index_with_the_wheel_cached(
    make_wheel: MakeWheel, make_index: MakeIndex, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_index(make_wheel())
    tree = release_tree("sglang", V14, cache)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    shutil.rmtree(cache / "releases")
    assert release_tree("sglang", V14, cache) == tree


@pytest.mark.parametrize("damage", ["wheel", "cut off", "record", "no wheel"])
def test_damaged_wheel_is_downloaded_again(
    make_wheel: MakeWheel,
    make_index: MakeIndex,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: str,
) -> None:
    make_index(make_wheel())
    tree = release_tree("sglang", V14, cache)
    wheel = cached_wheel(cache)
    good = wheel.read_bytes()
    if damage == "wheel":
        wheel.write_bytes(good[:100] + b"X" + good[101:])
    elif damage == "cut off":
        wheel.write_bytes(good[:100])
    elif damage == "record":
        (wheel.parent / "wheel.json").write_text("[]")
    else:
        wheel.unlink()
    with monkeypatch.context() as patched:
        patched.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        with pytest.raises(IndexUnreachable, match=r"is damaged, and can't be downloaded again: .*be reached"):
            release_tree("sglang", V14, cache)
    assert release_tree("sglang", V14, cache) == tree
    assert cached_wheel(cache).read_bytes() == good


def test_refused_wheel_is_not_kept(make_wheel: MakeWheel, make_index: MakeIndex, cache: Path, tmp_path: Path) -> None:
    make_index(make_wheel(extra=[(zipfile.ZipInfo("../evil.py"), b"evil = 1\n")]))
    with pytest.raises(UsageError, match=r"sglang-0\.5\.14-py3-none-any\.whl .* is refused: .*unsafe path"):
        release_tree("sglang", V14, cache)
    assert not list((cache / "wheels").iterdir())
    assert not list((cache / "releases").iterdir())
    assert not list(tmp_path.rglob("evil.py"))
    make_index(make_wheel())
    release_tree("sglang", V14, cache)


def test_wheel_without_the_package(make_wheel: MakeWheel, make_index: MakeIndex, cache: Path) -> None:
    make_index(make_wheel(files={"sglang/__init__.py": b""}))
    with pytest.raises(UsageError, match=r"it holds no sglang/srt/server_args\.py"):
        release_tree("sglang", V14, cache)


def test_hash_that_the_index_does_not_announce(make_wheel: MakeWheel, make_index: MakeIndex, cache: Path) -> None:
    wheel = make_wheel()
    make_index(wheel)
    wheel.write_bytes(make_wheel("0.5.13").read_bytes())
    with pytest.raises(UsageError, match=r"pip could not download sglang==0\.5\.14: .*(?i:hash)"):
        release_tree("sglang", V14, cache)


def test_no_pip(cache: Path, quiet_pip: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(UsageError, match="has no pip: install it with 'python -m ensurepip'"):
        release_tree("sglang", V14, cache)


def test_unusable_cache(tmp_path: Path, no_index: None) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="STACKPROOF_CACHE"):
        release_tree("sglang", V14, tmp_path / "file")


@pytest.mark.index
def test_real_release(session_cache: Path) -> None:
    try:
        tree = release_tree("sglang", V14, session_cache)
    except IndexUnreachable as error:
        pytest.skip(f"needs the package index: {error}")
    assert cached_wheel_name(session_cache) == "sglang-0.5.14-cp311-cp311-manylinux_2_34_x86_64.whl"
    source = (tree.root / "sglang" / "srt" / "server_args.py").read_text(encoding="utf-8")
    assert "class ServerArgs" in source
    assert release_tree("sglang", V14, session_cache) == tree


def cached_wheel_name(cache: Path) -> str:
    [wheel] = (cache / "wheels" / "sglang-0.5.14").glob("*.whl")
    return wheel.name
