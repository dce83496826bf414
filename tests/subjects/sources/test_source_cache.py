from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.common.errors import UsageError
from harness.subjects.sources import cache

REPOSITORY = Path(__file__).parents[3]


def fill(making: Path) -> None:
    (making / "tree" / "deep").mkdir(parents=True)
    (making / "tree" / "deep" / "a.py").write_text("a = 1\n")
    (making / "b.py").write_text("b = 1\n")


def never(making: Path) -> None:
    raise AssertionError("the entry was there already")


def test_root_from_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKPROOF_CACHE", str(tmp_path / "mine"))
    assert cache.cache_root() == tmp_path / "mine"
    monkeypatch.setenv("STACKPROOF_CACHE", "mine")
    monkeypatch.chdir(tmp_path)
    assert cache.cache_root() == tmp_path / "mine"
    monkeypatch.setenv("STACKPROOF_CACHE", "")
    assert cache.cache_root().name == "stackproof"


def test_a_user_without_a_home_is_asked_for_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may run as a number that its system does not know, without HOME."""
    for name in ("STACKPROOF_CACHE", "HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(UsageError, match="set STACKPROOF_CACHE"):
        cache.cache_root()


def test_made_once(tmp_path: Path) -> None:
    folder = tmp_path / "kind" / "entry"
    assert not cache.complete(folder)
    assert cache.make_entry(folder, fill) == folder
    assert cache.complete(folder) and cache.intact(folder)
    assert cache.make_entry(folder, never) == folder
    assert [entry.name for entry in folder.parent.iterdir()] == ["entry"]


def test_what_python_caches_does_not_count(tmp_path: Path) -> None:
    folder = cache.make_entry(tmp_path / "entry", fill)
    (folder / "tree" / "__pycache__").mkdir()
    (folder / "tree" / "__pycache__" / "a.pyc").write_bytes(b"")
    assert cache.make_entry(folder, never) == folder


@pytest.mark.parametrize("damage", ["edit", "same size", "remove", "add", "marker", "no marker", "file", "empty"])
def test_damaged_entry_is_made_again(tmp_path: Path, damage: str) -> None:
    folder = cache.make_entry(tmp_path / "entry", fill)
    file = folder / "tree" / "deep" / "a.py"
    if damage == "edit":
        file.write_text("a = 1\nb = 2\n")
    elif damage == "same size":
        file.write_text("a = 2\n")
    elif damage == "remove":
        file.unlink()
    elif damage == "add":
        (folder / "tree" / "c.py").write_text("")
    elif damage == "marker":
        (folder / cache.MARKER).write_text("{")
    elif damage == "no marker":
        (folder / cache.MARKER).unlink()
    else:
        cache.discard(folder)
        (folder.write_text if damage == "file" else lambda _: folder.mkdir())("")
    assert not cache.intact(folder)
    assert cache.make_entry(folder, fill) == folder
    assert file.read_text() == "a = 1\n"
    assert cache.intact(folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["entry"]


@pytest.mark.parametrize("error", [ValueError("broken"), KeyboardInterrupt()])
def test_interrupted_fill_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    def interrupted(making: Path) -> None:
        fill(making)
        raise error

    with pytest.raises(type(error)):
        cache.make_entry(tmp_path / "entry", interrupted)
    assert list(tmp_path.iterdir()) == []
    cache.make_entry(tmp_path / "entry", fill)


def test_killed_process_leaves_no_entry_and_is_swept_up(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from harness.subjects.sources import cache\n"
        "def fill(making): (making / 'half.py').write_text(''); os._exit(9)\n"
        "cache.make_entry(Path(sys.argv[1]), fill)\n"
    )
    folder = tmp_path / "entry"
    killed = subprocess.run([sys.executable, "-c", script, str(folder)], cwd=REPOSITORY, check=False)
    assert killed.returncode == 9
    [left] = tmp_path.iterdir()
    assert left != folder
    cache.make_entry(folder, fill)
    assert left.exists()  # it might be another process at work
    long_ago = time.time() - 2 * 24 * 60 * 60
    os.utime(left, (long_ago, long_ago))
    cache.make_entry(tmp_path / "other", fill)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["entry", "other"]


def test_two_processes_make_one_entry(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from harness.subjects.sources import cache\n"
        "folder, name, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]\n"
        "def fill(making):\n"
        "    (making / 'who.py').write_text(name)\n"
        "    folder.with_name(name).touch()\n"
        "    deadline = time.monotonic() + 20\n"
        "    while not folder.with_name(other).exists() and time.monotonic() < deadline: time.sleep(0.005)\n"
        "print((cache.make_entry(folder, fill) / 'who.py').read_text())\n"
    )
    folder = tmp_path / "entry"
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(folder), *names],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        for names in (("one", "two"), ("two", "one"))
    ]
    answers = [racer.communicate(timeout=30)[0].strip() for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0]
    assert answers[0] == answers[1] == (folder / "who.py").read_text()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["entry", "one", "two"]
    assert cache.intact(folder)


def test_entry_that_appears_meanwhile_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "entry"

    def beaten(making: Path) -> None:
        (making / "mine.py").write_text("")
        cache.make_entry(folder, fill)

    cache.make_entry(folder, beaten)
    assert (folder / "b.py").exists()
    assert not (folder / "mine.py").exists()


def test_unusable_cache_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"can't be used \(Not a directory\): set STACKPROOF_CACHE"):
        cache.make_entry(tmp_path / "file" / "kind" / "entry", fill)


def test_entry_of_a_read_only_cache_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache.make_entry(tmp_path / "entry", fill)

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    for name in ("mkdir", "rename", "unlink", "write_text"):
        monkeypatch.setattr(Path, name, forbidden)
    assert cache.make_entry(folder, never) == folder


def test_discard_of_nothing(tmp_path: Path) -> None:
    cache.discard(tmp_path / "entry")
    cache.discard(tmp_path / "none" / "entry")
