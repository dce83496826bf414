"""A witness in words can be pasted: the launch parses back to the case it was made from."""

from __future__ import annotations

import shlex
import shutil
import string
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import Difference
from harness.formats.launch import LaunchFlags, split_launch
from harness.report.wording.causes import difference_words, slug
from harness.report.wording.launches import launch_command, machine_words, model_words, quoted
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import hardware_profile, model_profile

FLAGS = LaunchFlags(
    names={"tp_size": "--tp", "page_size": "--page-size", "label": "--label", "fast": "--fast", "config": "--config"}
)


def test_a_launch_with_everything() -> None:
    case = Case(
        id="c",
        args={"tp_size": 2, "fast": True, "config": {"decode": {"backend": "full"}}},
        env={"SGLANG_X": "a b"},
    )
    assert launch_command(case, FLAGS) == (
        "SGLANG_X='a b' python3 -m sglang.launch_server --model-path org/model "
        """--config '{"decode": {"backend": "full"}}' --fast --tp 2"""
    )


def test_what_no_flag_can_say_is_said_behind() -> None:
    case = Case(id="c", args={"fast": False, "hidden": 3, "tp_size": 1})
    assert launch_command(case, FLAGS).endswith("--tp 1 # fast=false hidden=3")


TEXTS = st.text(st.sampled_from([char for char in string.printable if char.isprintable()]), min_size=1)


@given(label=TEXTS, value=TEXTS)
def test_any_text_survives_the_shell(label: str, value: str) -> None:
    command = launch_command(Case(id="c", args={"label": label}, env={"SGLANG_X": value}), FLAGS)
    assert shlex.split(command) == [
        f"SGLANG_X={value}",
        *["python3", "-m", "sglang.launch_server", "--model-path", "org/model", "--label"],
        label,
    ]


@given(st.text(st.characters(max_codepoint=0x2FFF, exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_bash_reads_any_text_back(text: str) -> None:
    word = quoted(text)
    assert word.isprintable()
    if bash := shutil.which("bash"):
        run = subprocess.run(
            [bash, "-c", f"printf %s {word}"], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
        )
        assert run.stdout.decode() == text


def test_a_launch_is_read_back_as_one() -> None:
    command = launch_command(Case(id="c", args={"label": "it's $HOME"}, env={"SGLANG_X": "a b"}), FLAGS)
    line = split_launch(command, "here")
    assert line.env == {"SGLANG_X": "a b"}
    assert line.argv[-2:] == ["--label", "it's $HOME"]


@pytest.mark.parametrize(
    ("hardware", "words"),
    [
        (Hardware(), "default machine (cpu)"),
        (hardware_profile("b200"), "b200"),
        (
            Hardware(platform="cuda", capability=(10, 3), cuda_version="13.0"),
            "cuda, capability 10.3, cuda version 13.0",
        ),
        (Hardware(capability=(9, 0)), "cpu, capability 9.0"),
        (Hardware(platform="xpu", xmx=True), "xpu, xmx true"),
    ],
)
def test_machines(hardware: Hardware, words: str) -> None:
    assert machine_words(hardware) == words


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Model(), "default model (LlamaForCausalLM)"),
        (model_profile("glm-4.6"), "glm-4.6"),
        (Model(architectures=["A"], index_topk=3), "A, index topk 3"),
        (Model(gguf=True), "LlamaForCausalLM, gguf true"),
    ],
)
def test_models(model: Model, words: str) -> None:
    assert model_words(model) == words


@pytest.mark.parametrize(
    ("kind", "first", "second", "words"),
    [
        ("field", 1, "1", ("page_size", "1", '"1"')),
        ("refusals", "A: x\n y", "B: z", ("both refuse", "A: x y", "B: z")),
        ("refusal", None, "B: z", ("one refuses", "resolves", "B: z")),
        ("failure", "it ended", None, ("no outcome", "it ended", "has an outcome")),
    ],
)
def test_differences(kind: Any, first: Any, second: Any, words: tuple[str, str, str]) -> None:
    assert difference_words(Difference(kind=kind, name="page_size", first=first, second=second)) == words


@given(name=st.text(max_size=200), first=st.text(), second=st.text())
def test_a_slug_is_a_file_name(name: str, first: str, second: str) -> None:
    difference = Difference(kind="field", name=name, first=first, second=second)
    made = slug(Bucket(difference=difference, count=1, witness=Case(id="c")))
    assert set(made) <= set(string.ascii_letters + string.digits + "_.-")
    assert 0 < len(made) < 100
    assert not made.startswith((".", "-"))


def test_slugs_tell_buckets_of_one_field_apart() -> None:
    made = {
        slug(
            Bucket(
                difference=Difference(kind="field", name="page_size", first=1, second=value),
                count=1,
                witness=Case(id="c"),
            )
        )
        for value in (1, True, "1", 2)
    }
    assert len(made) == 4
