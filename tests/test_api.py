"""The public interface: its examples, functions given as themselves, and the judgement of each part."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import pytest

import harness.api
from harness.api import compared_fields, gate
from harness.common.errors import UsageError
from harness.report.result.document import document

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

MODULE = """
import os
from dataclasses import dataclass, replace

@dataclass
class Settings:
    port: int = 80
    mode: str = "plain"

def resolve(settings: Settings) -> Settings:
    if settings.port < 0:
        raise ValueError("no port")
    return replace(settings, mode="tls" if settings.port == 443 else "plain")

def strict(settings: Settings) -> Settings:
    if settings.port < 0 or settings.port == 443:
        raise ValueError("no such port")
    return replace(settings, mode="plain")

def loud(settings: Settings) -> Settings:
    settings = resolve(settings)
    os.environ["SEEN"] = "1"
    return settings

def dying(settings: Settings) -> Settings:
    if settings.port == 443:
        os._exit(1)
    return resolve(settings)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


def test_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = doctest.testmod(harness.api)
    assert (done.failed, done.attempted > 5) == (0, True)


def test_functions_as_themselves(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = folder / "pack" / "inner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    import app  # type: ignore[import-not-found]
    import pack.inner  # type: ignore[import-not-found]

    try:
        report = gate(app.resolve, pack.inner.resolve, cases=50, jobs=1)
        assert report.subjects == ("python:app:resolve", "python:pack.inner:resolve")
        assert (report.verdict, report.cases, report.fields) == ("equivalent", 50, ("port", "mode"))
    finally:
        for name in ("app", "pack", "pack.inner"):
            sys.modules.pop(name)
    with pytest.raises(UsageError, match="cannot be imported by another process"):
        gate(lambda settings: settings, "legacy")


@pytest.mark.parametrize(
    ("other", "verdicts"),
    [
        ("resolve", {}),
        ("strict", {"refusals": "different"}),
        ("loud", {"environment": "different"}),
        ("dying", {"outcomes": "different"}),
    ],
)
def test_each_part_has_its_own_verdict(other: str, verdicts: dict[str, str], folder: Path) -> None:
    report = gate("python:app:resolve", f"python:app:{other}", cases=200, jobs=1, folder=folder)
    found = {part: report.of_part(part).verdict for part in ("refusals", "environment", "outcomes")}
    if other != "dying":
        # What a process that died had reached is lost.
        found |= {field: report.of_field(field).verdict for field in report.fields}
    assert found == {part: verdicts.get(part, "equivalent") for part in found}
    assert report.verdict == ("different" if verdicts else "equivalent")
    for difference in report.differences:
        assert difference.launch in str(difference) and difference.replay in str(difference)


def test_fields_that_differ_together_are_all_told(folder: Path) -> None:
    (folder / "other.py").write_text(
        MODULE.replace(
            'mode="tls" if settings.port == 443', 'port=settings.port % 1000, mode="TLS" if settings.port == 443'
        ),
        encoding="utf-8",
    )
    report = gate("python:app:resolve", "python:other:resolve", cases=200, jobs=1, folder=folder)
    assert {field: report.of_field(field).verdict for field in report.fields} == {
        "port": "different",
        "mode": "different",
    }


def test_the_report_in_other_forms(folder: Path) -> None:
    report = gate("python:app:resolve", "python:app:strict", cases=200, jobs=1, folder=folder)
    assert report.json() == document(report.result)
    assert report.text().splitlines()[0] == f"verdict  different: {report.reason}"
    assert "\x1b" not in report.text()


def test_fields_without_a_run(folder: Path) -> None:
    names = "python:app:resolve", "python:app:strict"
    assert compared_fields(*names, folder=folder) == ("port", "mode")
    assert compared_fields(*names, fields=["mode"], folder=folder) == ("mode",)
    with pytest.raises(UsageError, match="did you mean 'mode'"):
        compared_fields(*names, fields=["mod"], folder=folder)
    report = gate(*names, cases=10, jobs=1, fields=["mode"], folder=folder)
    with pytest.raises(UsageError, match="'port' was not compared"):
        report.of_field("port")
