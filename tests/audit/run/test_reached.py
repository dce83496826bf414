"""The blocks of a package, and which cases come to them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from by_hand import mutant_of
from subject_runner import SubjectRunner

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.forks import ForkRunner
from harness.audit.run.judge import judge
from harness.audit.run.reached import Blocks, reached_by
from harness.audit.run.runner import NotLoaded
from harness.audit.run.trial import Trial, frame_of
from harness.audit.run.trials import TrialMaker
from harness.engine.campaign import Budget, Request
from harness.subjects.open import open_spec
from harness.world.case import Case, Outcome

pytestmark = pytest.mark.slow

Fault = Callable[[str, str], Mutant]

SOURCE = '''"""What it is."""
from __future__ import annotations


def f(x):
    """Text."""
    if x:
        one(x)
    elif two(x):
        three(x)
    else:
        if four:
            five(x)
    for y in x:
        six()
    else:
        seven()
    try:
        eight()
    except ValueError:
        nine()
    finally:
        ten()
    match x:
        case 1:
            eleven()
    return lambda: twelve(x)
'''


def at(word: str, text: str = SOURCE) -> Mutant:
    return mutant_of("a.py", text, word)


def test_a_fault_lies_in_the_innermost_block_around_all_of_it() -> None:
    blocks = Blocks({"a.py": SOURCE})
    number = {word: blocks.around(at(word)) for word in re.findall("[a-z]+", SOURCE)}
    function = number["two"]
    # Conditions of a chain, and what a lambda holds, belong to the block that they stand in.
    assert function is not None
    assert number["elif"] == number["lambda"] == number["twelve"] == number["four"] == function
    own = [number[word] for word in ("one", "three", "five", "six", "seven", "eight", "nine", "ten", "eleven")]
    assert len({*own, function}) == 10 and None not in own
    assert number["def"] is None and number["import"] is None
    assert blocks.around(at("one(x)\n    elif two(x):\n        three")) == function
    assert blocks.around(at("def f(x):")) is None


def test_columns_count_characters() -> None:
    text = "def f(x):\n    if 'äöü' in x: one(x)\n    two(x)\n"
    blocks = Blocks({"a.py": text})
    assert blocks.around(at("one", text)) not in (None, blocks.around(at("two", text)))


def test_instrumented_sources_keep_what_must_come_first() -> None:
    tree = ast.parse(Blocks({"a.py": SOURCE}).instrumented["a.py"])
    assert ast.get_docstring(tree) == "What it is."
    assert isinstance(tree.body[1], ast.ImportFrom) and tree.body[1].module == "__future__"
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert ast.get_docstring(functions["f"]) == "Text."


def test_the_cases_that_come_to_a_fault(toy: MutablePackage, trial: Trial, fault: Fault) -> None:
    with ForkRunner("toy", trial) as runner:
        reached = reached_by(toy, runner)
        assert reached is not None
        # Sizes run from -2 to 19.
        assert reached.cases(fault("size = LIMIT", "size = 1")) == sum(1 << size + 2 for size in range(8, 20))
        assert reached.cases(fault('"a size is not negative"', '""')) == 0b11
        assert reached.cases(fault("size > LIMIT", "True")) == (1 << 22) - 1
        assert reached.cases(fault("LIMIT = 7", "LIMIT = 8")) is None
        result = judge(toy, fault("size = LIMIT", "size = min(size, 12) and LIMIT"), trial, runner, reached)
        assert (result.catch, result.cases, result.reached) == (None, 22, 12)
        caught = judge(toy, fault("size = LIMIT", "size = size and min(size, 9)"), trial, runner, reached)
        assert caught.catch is not None and (caught.catch.case, caught.catch.cases) == ("case-8", 10)


MEMORY = '''"""Keeps what it worked out."""
from functools import cache
from harness.world.case import Outcome

@cache
def limit(kind):
    if kind:
        return 7
    return 7

KNOWN = {}

def bonus(kind):
    return kind * 0

def at_import():
    return 3

START = at_import()

def resolve(case):
    from remembers import late
    size = case.args["size"]
    if size % 3 not in KNOWN:
        KNOWN[size % 3] = bonus(size)
    size = min(size, limit(size > 3)) + KNOWN[size % 3] + late.ZERO
    return Outcome(id=case.id, fields={"size": size}, error=None, env={})
'''

LATE = """
def zero():
    return 0

ZERO = zero()
"""


def test_what_is_kept_or_runs_at_import_is_every_cases(tmp_path: Path) -> None:
    folder = tmp_path / "remembers"
    folder.mkdir()
    (folder / "__init__.py").write_text(MEMORY)
    (folder / "late.py").write_text(LATE)
    package = MutablePackage(folder)
    cases = [Case(id=str(size), args={"size": size}) for size in range(9)]
    made = [Outcome(id=case.id, fields={"size": min(case.args["size"], 7)}, error=None, env={}) for case in cases]
    trial = Trial(cases, [frame_of(outcome, ("size",)) for outcome in made], ("size",))

    with ForkRunner("remembers", trial) as runner:
        reached = reached_by(package, runner)
        assert reached is not None
        for word in ("return 7\n    return", "if kind", "return 3", "KNOWN[size % 3] = bonus", "return kind"):
            assert reached.cases(mutant_of("remembers/__init__.py", MEMORY, word)) is None
        assert reached.cases(mutant_of("remembers/late.py", LATE, "return 0")) is None
        assert reached.cases(mutant_of("remembers/__init__.py", MEMORY, "size = case")) == 0b111111111


def test_nothing_is_said_of_a_package_that_disagrees_or_runs_elsewhere(toy: MutablePackage, trial: Trial) -> None:
    wrong = Trial(trial.cases, trial.expected[::-1], trial.names, messages=False)
    with ForkRunner("toy", wrong) as runner:
        assert reached_by(toy, runner) is None
    spec = open_spec("legacy", answers=None, python="python", case_seconds=10, memory_mib=2048)
    assert reached_by(toy, SubjectRunner(spec, trial)) is None


@pytest.fixture(scope="module")
def gate() -> Iterator[tuple[TrialMaker, Trial]]:
    legacy, declarative = (
        open_spec(name, answers=None, python="python", case_seconds=10, memory_mib=2048)
        for name in ("legacy", "declarative")
    )
    with TrialMaker(Request(legacy, declarative, budget=Budget(cases=1_000), seed=3)) as gate:
        yield gate, next(gate.rounds(3, 1_000))


def test_no_fault_of_the_successor_shows_where_it_is_not_reached(
    gate: tuple[TrialMaker, Trial], tmp_path: Path
) -> None:
    package, trial = gate[0].package, gate[1]
    every = package.mutants()
    shown = 0
    with ForkRunner(package.name, trial) as runner:
        reached = reached_by(package, runner)
        assert reached is not None
        for position, mutant in enumerate(package.sample(every, 60, 5, even=True)):
            folder = tmp_path / str(position)
            package.write(folder, {mutant.file: package.mutated(mutant)})
            try:
                differing = [number for number, _ in runner.answers(folder)]
            except NotLoaded:
                continue
            cases = reached.cases(mutant)
            shown += len(differing)
            assert cases is None or all(cases >> number & 1 for number in differing), mutant.identity()
    assert shown > 1_000
