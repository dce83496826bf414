"""Which reports are asked for, and what becomes of their files when something is in the way."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from made_results import result

from harness.common.errors import UsageError
from harness.report.reports import FORMATS, Wanted, parse_report, parse_reports, write_reports

FILES = [name for name in FORMATS if name != "github"]


def refused(*texts: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_reports(texts)
    return str(caught.value)


def test_a_format_and_a_file() -> None:
    assert parse_report("sarif=out/gate=1.sarif") == [Wanted("sarif", Path("out/gate=1.sarif"))]
    assert parse_report("json=-") == [Wanted("json", None)]
    assert [one.shown for one in parse_report("json=-") + parse_report("annotations=-")] == [True, False]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sariff=x", ["'sariff'", "did you mean 'sarif'", "annotations and github"]),
        ("", ["the reports are"]),
        ("json", ["says not where to", "json=FILE"]),
        ("json=", ["names no file"]),
        ("json=no/such/folder/x", ["'no/such/folder' does not exist"]),
        ("json=.", ["this is a folder"]),
        ("json=a\0b", ["cannot write there"]),
        ("json=" + "x" * 300, ["cannot write there"]),
    ],
)
def test_words_that_ask_for_no_report(text: str, parts: list[str]) -> None:
    said = refused(text)
    assert all(part in said for part in parts), said


def test_two_reports_in_one_place(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert "json and sarif would both be written" in refused(f"json={tmp_path}/a", f"sarif={tmp_path}/link")
    assert "standard output" in refused("json=-", "sarif=-")


def test_github_adds_to_the_job_s_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert "GITHUB_STEP_SUMMARY is not set" in refused("github")
    file = tmp_path / "summary.md"
    file.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    wanted = parse_reports(["github"])
    assert wanted == [Wanted("annotations", None), Wanted("markdown", file, append=True)]
    write_reports(result(), wanted[1:])
    assert file.read_text().startswith("before\n## ❌ different")


def test_all_formats_are_written(tmp_path: Path) -> None:
    wanted = parse_reports([f"{name}={tmp_path / name}" for name in FILES])
    assert not list(tmp_path.iterdir()), "asking leaves nothing behind"
    write_reports(result(), wanted)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    first = {name: (tmp_path / name).read_bytes() for name in FILES}
    write_reports(result(), wanted)
    assert first == {name: (tmp_path / name).read_bytes() for name in FILES}


def test_one_that_fails_keeps_no_other_from_its_file(tmp_path: Path) -> None:
    wanted = [
        Wanted("json", tmp_path / "gone" / "a"),
        Wanted("sarif", tmp_path / "b"),
        Wanted("junit", tmp_path / "gone" / "c"),
    ]
    with pytest.raises(UsageError) as caught:
        write_reports(result(), wanted)
    assert "--report json: cannot write" in str(caught.value) and "--report junit" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full here")  # noqa: PTH110
@pytest.mark.parametrize("name", FILES)
def test_a_full_disk_is_one_sentence(name: str) -> None:
    with pytest.raises(UsageError, match=r"/dev/full.*No space left"):
        write_reports(result(), [Wanted(name, Path("/dev/full"))])
    with pytest.raises(UsageError, match=r"/dev/full.*No space left"):
        write_reports(result(), [Wanted(name, Path("/dev/full"), append=True)])


@pytest.mark.skipif(os.geteuid() == 0 or sys.platform == "win32", reason="root writes everywhere")
def test_a_read_only_folder_is_told_before_the_run(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert "Permission denied" in refused(f"json={tmp_path}/x")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("name", FILES)
def test_ten_megabytes_in_a_value(name: str, tmp_path: Path) -> None:
    """Whole in the JSON result, which is for programs; cut in what a person or a service reads."""
    huge = "<b>" + "x" * 10_000_000
    path = tmp_path / "report"
    write_reports(result(huge, f"ValueError: {huge[:500_000]}"), [Wanted(name, path)])
    size = path.stat().st_size
    assert size > 10_000_000 if name == "json" else size < 200_000
