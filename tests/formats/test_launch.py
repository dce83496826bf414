from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_strategies import refused

from harness.formats.launch import split_launch
from harness.world.profiles import real_launches


@pytest.mark.parametrize("launch", real_launches(), ids=lambda launch: launch.id)
def test_the_real_launches_split(launch: object) -> None:
    command = launch.command  # type: ignore[attr-defined]
    line = split_launch(command, "launches.jsonl:1")
    assert line.env == {}
    assert line.argv[0] == "--model-path"
    assert line.argv == command.split()[3:]


@pytest.mark.parametrize(
    ("command", "env", "argv"),
    [
        ("python3 -m sglang.launch_server --tp 8", {}, ["--tp", "8"]),
        ("python -m sglang.launch_server", {}, []),
        ("/opt/venv/bin/python3.12 -u -m sglang.launch_server --tp=8", {}, ["--tp=8"]),
        ("sglang serve --tp 8", {}, ["--tp", "8"]),
        ("sglang launch_server --tp 8", {}, ["--tp", "8"]),
        ("/usr/bin/sglang serve org/model", {}, ["org/model"]),
        ("A=1 B='x y' sglang serve --tp 8", {"A": "1", "B": "x y"}, ["--tp", "8"]),
        ("A=1 env B= C=a=b sglang serve", {"A": "1", "B": "", "C": "a=b"}, []),
        ("A=1 A=2 sglang serve", {"A": "2"}, []),
        ("sglang serve \\\n  --tp 8 \\\r\n  --dp 8\n", {}, ["--tp", "8", "--dp", "8"]),
        ("A=1 \\\nsglang serve --t\\\np 8", {"A": "1"}, ["--tp", "8"]),
        ("sglang serve --x '{\"a\": [1, 2]}'", {}, ["--x", '{"a": [1, 2]}']),
        ("sglang serve 'a\\\nb' \"c\\\nd\"", {}, ["a\\\nb", "cd"]),
        ("sglang serve \"it's\" \\\n --x 'y'", {}, ["it's", "--x", "y"]),
        ("sglang serve --x A=1", {}, ["--x", "A=1"]),
    ],
)
def test_a_launch_splits(command: str, env: dict[str, str], argv: list[str]) -> None:
    line = split_launch(command, "x:1")
    assert line.env == env
    assert line.argv == argv


@given(st.lists(st.from_regex(r"[-a-z {}\"'\\\n:,\[\]]{0,8}", fullmatch=True), max_size=4))
def test_quoted_flags_come_back(argv: list[str]) -> None:
    command = shlex.join(["python3", "-m", "sglang.launch_server", *argv])
    assert split_launch(command, "x:1").argv == argv


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("", ["it is empty"]),
        ("A=1", ["it is empty"]),
        ("docker run --gpus all lmsysorg/sglang python3 -m sglang.launch_server", ["runs 'docker'"]),
        ("python3 launch_server.py --tp 8", ["runs 'python3'"]),
        ("python3 -m vllm.entrypoints --tp 8", ["runs 'python3'"]),
        ("python3 -m", ["runs 'python3'"]),
        ("sglang", ["runs 'sglang'"]),
        ("sglang router", ["runs 'sglang'"]),
        ("env -i sglang serve", ["runs '-i'"]),
        ("--tp 8", ["runs '--tp'"]),
        ("sglang serve --tp 8 && curl localhost", ["shell operator '&&'"]),
        ("sglang serve --tp 8 2>&1 | tee log", ["shell operator '2>&1'"]),
        ("sglang serve --tp 8 &", ["shell operator '&'"]),
        ("x" * 10**5, ["not a launch"]),
        ("x" * 10**7, ["the command has 10000000 characters"]),
    ],
)
def test_what_is_no_launch_is_refused(command: str, parts: list[str]) -> None:
    sentence = refused(split_launch, command, "launches.txt:2")
    assert sentence.startswith("launches.txt:2: ")
    assert "'python3 -m sglang.launch_server'" in sentence
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize("command", ["sglang serve --x 'a", 'sglang serve "a', "sglang serve \\"])
def test_open_quotes_are_refused(command: str) -> None:
    sentence = refused(split_launch, command, "launches.txt:2")
    assert sentence.startswith("launches.txt:2: the command's quoting is broken (no ")
