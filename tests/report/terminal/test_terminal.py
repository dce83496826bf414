"""What a person sees: every part of a result, and nothing that the terminal would act on."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.console import Console
from small_results import STARTED, bucket, finished

from harness.engine.result.events import BucketFound, Counts, Finished, Minimising, Progressed
from harness.report.terminal.gate import TerminalView, print_result


def shown(result: Finished, width: int = 100) -> str:
    output = io.StringIO()
    print_result(result, Console(file=output, width=width, highlight=False))
    return output.getvalue()


def test_a_result_has_all_its_parts() -> None:
    said = shown(finished(bucket(others=5)))
    for part in (
        "page_size   in 3 cases",
        "old  1",
        "new  128",
        "smallest python3 -m sglang.launch_server --model-path org/model --tp 2",
        "on default machine (cpu); default model (LlamaForCausalLM)",
        "and 2 other forms",
        "absent   enable_tf32_matmul: not a field of old",
        "note     left out: one launch",
        "10 of seed 7: 5 resolve alike, 2 are refused alike, 3 differ, 0 without outcome",
        "verdict  different: 3 of 10 cases differ",
    ):
        assert part in said


def test_an_equivalent_result_is_short() -> None:
    assert len(shown(finished()).splitlines()) == 5


def test_a_failure_names_its_case_and_what_to_add() -> None:
    failed = bucket("failure", "unanswered / outcome", "a.b.is_moon was called", None)
    failed.difference = replace(failed.difference, failures=("unanswered", None))
    said = shown(finished(failed))
    assert "in case  7-3" in said
    assert '[[answers]]\nname = "a.b.is_moon"' in said


def test_an_interrupted_run_says_so() -> None:
    assert "stopped  by Ctrl-C" in shown(finished(bucket(), interrupted=True))


@pytest.mark.parametrize("width", [20, 80, 200])
def test_a_launch_is_never_broken_into_lines(width: int) -> None:
    assert "smallest python3 -m sglang.launch_server --model-path org/model --tp 2\n" in shown(
        finished(bucket()), width
    )


def test_markup_and_control_characters_are_shown_not_obeyed() -> None:
    said = shown(finished(bucket("refusals", "", "E: [bold]x[/bold] \x1b[31mred\x07", "E: \x9b2J :smile:")))
    assert "[bold]x[/bold]" in said and ":smile:" in said
    assert r"\x1b[31mred\x07" in said
    assert not set(said) & {"\x1b", "\x07", "\x9b"}


@given(st.text(), st.text())
def test_whatever_a_subject_says_stays_on_its_lines(first: str, second: str) -> None:
    said = shown(finished(bucket("refusals", "", f"E: {first}", f"E: {second}")))
    assert all(char.isprintable() or char == "\n" for char in said)


def test_the_view_listens_in_any_terminal() -> None:
    for terminal in (False, True):
        output, progress = io.StringIO(), io.StringIO()
        with TerminalView(Console(file=output), Console(file=progress, force_terminal=terminal, width=80)) as view:
            view(STARTED)
            view(BucketFound(bucket=bucket()))
            view(Progressed(counts=Counts(resolved=10)))
            view(Minimising(buckets=1))
            view(finished(bucket()))
        assert "verdict  different" in output.getvalue()
        assert bool(progress.getvalue()) == terminal
        assert ("found" in progress.getvalue()) == terminal


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_table_never_cuts_the_number_of_cases(width: int) -> None:
    found = bucket(name="a_name_as_long_as_names_are_in_a_record", first="x" * 60)
    found.count = 20000
    result = finished(found, bucket())
    result = replace(result, started=replace(result.started, first="git:origin/main#python:server.settings:resolve"))
    lines = [line.rstrip() for line in shown(result, width).splitlines()]
    start = next(number for number, line in enumerate(lines) if line.startswith(" cases "))
    assert [line.split()[0] for line in lines[start + 2 : start + 4]] == ["20000", "3"]
    assert max(map(len, lines[start : start + 4])) <= width
