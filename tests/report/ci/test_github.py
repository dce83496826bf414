"""What GitHub shows: annotations that nothing can break out of, and a summary in which nothing is markup."""

from __future__ import annotations

import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from made_results import HOSTILE, bucket, result
from markdown_it import MarkdownIt
from small_results import finished

from harness.report.ci.github import cell, code, fenced, summary, workflow_commands
from harness.world.case import Case


def test_an_annotation_stands_at_the_line_at_fault() -> None:
    first, second, last = workflow_commands(result()).decode().splitlines()
    assert first.startswith(
        "::error file=src/server/passes.py,line=2,title=stackproof%3A page_size differs::old: 1%0A"
    )
    assert "python3 -m sglang.launch_server --model-path org/model --tp 2" in first
    assert second.startswith("::error file=src/server/passes.py,line=5,title=stackproof%3A one refuses::")
    assert last == "::error title=stackproof%3A different::4 of 12 cases differ"


def test_no_more_annotations_than_are_shown() -> None:
    lines = workflow_commands(finished(*[bucket(number) for number in range(30)])).decode().splitlines()
    assert len(lines) == 10
    assert "21 more causes" in lines[-1]


def test_a_summary_stays_below_what_is_shown() -> None:
    text = summary(finished(*[bucket(f"{number}" + "x" * 100_000) for number in range(100)])).decode()
    assert "And 70 more causes" in text and len(text) < 1_000_000
    huge = msgspec.structs.replace(bucket(), witness=Case(id="1-1", args={"nodes": ["x" * 600_000]}))
    text = summary(finished(bucket(), huge, bucket())).decode()
    assert "And 2 more causes" in text and len(text) < 1_000_000


@given(st.text())
def test_a_value_cannot_give_a_command(text: str) -> None:
    lines = workflow_commands(result(text, text or "E")).decode().split("\n")
    assert len(lines) == 4
    assert all(re.fullmatch(r"::error [^:]*::[^\r]*|", line) for line in lines)


def test_the_summary_has_the_launch_to_paste() -> None:
    text = summary(result()).decode()
    assert "## ❌ different: `old` → `new`" in text
    assert "\n```sh\npython3 -m sglang.launch_server --model-path org/model --tp 2\n```\n" in text
    assert "| `old` | `1` | as given |" in text
    assert "| `new` | `128` | `page_pass (server/passes.py:2)` |" in text
    assert "| `stuck` | ⚠️ never reached |  | 0 of 1 |  |" in text
    assert "- `stuck` in `page_pass (server/args.py:11)`" in text


def test_a_variable_that_nobody_is_known_to_write_is_not_as_given() -> None:
    made = finished(bucket(name="SGLANG_X", kind="environment", writers=None))
    assert "as given" not in summary(made).decode()


@given(st.text())
def test_whatever_is_said_is_one_code_span(text: str) -> None:
    for shown in (code(text), f"| a |\n|---|\n| {cell(text)} |"):
        tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(shown)
        kinds = {child.type for token in tokens for child in token.children or ()}
        assert kinds <= {"code_inline", "text"} and "code_inline" in kinds


@given(st.text())
def test_whatever_is_launched_stays_in_its_block(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse("\n".join(fenced(text)))
    assert [token.type for token in tokens] == ["fence"]


def test_markup_in_a_value_is_text() -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(summary(result(HOSTILE, HOSTILE)).decode())
    assert "<script" not in html and "<img" not in html and "href" not in html


def test_one_case_is_no_cases() -> None:
    single = msgspec.structs.replace(bucket(), count=1)
    assert "in 1 case\n" in summary(finished(single)).decode()
    assert "1 case, the smallest" in workflow_commands(finished(single)).decode()
