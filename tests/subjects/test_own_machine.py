"""What Python knows of this machine and this moment is no part of a case."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from made_up_trees import BAD, case, make_tree, subject_of

from harness.subjects.profile import load_profile
from harness.world.hardware import Hardware

MACHINE = {
    "os.cpu_count": "os.cpu_count()",
    "os.uname": "os.uname().release",
    "platform.node": "__import__('platform').node()",
    "socket.getfqdn": "__import__('socket').getfqdn()",
}
if hasattr(os, "sched_getaffinity"):
    MACHINE["os.sched_getaffinity"] = "len(os.sched_getaffinity(0))"


def test_a_question_about_this_machine_has_no_answer(tmp_path: Path) -> None:
    body = "\n".join(
        f"{'el' if number else ''}if self.tp_size == {number + 1}: self.page_size = {code}"
        for number, code in enumerate(MACHINE.values())
    )
    cases = [case(name, tp_size=number + 1, **BAD) for number, name in enumerate(MACHINE)]
    with subject_of(make_tree(tmp_path, body=body)) as subject:
        for outcome in subject.outcomes(cases):
            assert outcome.failure is not None and outcome.failure.kind == "unanswered"
            assert outcome.failure.detail == f"{outcome.id} was called (in _bad)"


def test_an_answers_file_can_give_one(tmp_path: Path) -> None:
    answers = tmp_path / "answers.toml"
    answers.write_text("[[answers]]\nname = 'os.cpu_count'\nvalue = 96\n")
    tree = make_tree(tmp_path / "tree", body="self.page_size = os.cpu_count()")
    with subject_of(tree, load_profile(answers)) as subject:
        (outcome,) = subject.outcomes([case("a", **BAD)])
        assert outcome.fields is not None and outcome.fields["page_size"] == 96


@pytest.mark.parametrize("host", ["x86_64", "aarch64"])
def test_the_machine_of_a_case_says_what_its_host_is(host: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, top="import platform", body="self.page_size = platform.machine()")
    with subject_of(tree) as subject:
        (outcome,) = subject.outcomes([case("a", Hardware(host=host), **BAD)])  # type: ignore[arg-type]
        assert outcome.fields is not None and outcome.fields["page_size"] == host


@pytest.mark.parametrize(
    "code", ["time.time()", "time.time_ns()", "os.getpid()", "list(os.urandom(4))", "uuid.uuid4().hex"]
)
def test_a_case_is_the_same_at_any_moment(code: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, top="import time\nimport uuid", body=f"self.page_size = {code}")
    found = []
    for _ in range(2):
        with subject_of(tree) as subject:
            outcomes = subject.outcomes([case("a", **BAD), case("b"), case("c", **BAD)])
            found += [outcome.fields and outcome.fields["page_size"] for outcome in outcomes[::2]]
    assert found[0] is not None and found == [found[0]] * 4


def test_before_the_cases_all_is_as_it_is(tmp_path: Path) -> None:
    top = "import time\nCOUNT = (os.cpu_count(), os.getpid(), time.time() > 1.7e9)"
    with subject_of(make_tree(tmp_path, top=top, body="self.page_size = COUNT[0]")) as subject:
        (outcome,) = subject.outcomes([case("a", **BAD)])
        assert outcome.fields is not None and outcome.fields["page_size"] == os.cpu_count()
