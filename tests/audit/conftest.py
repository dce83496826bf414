"""A package of a few lines with a fault or without, its cases and what it should make of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from by_hand import mutant_of

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.trial import Trial, frame_of
from harness.world.case import Case, Outcome, Refusal

TOY = '''"""Caps a size."""

from harness.world.case import Outcome, Refusal

LIMIT = 7


def resolve(case):
    size = case.args["size"]
    if size < 0:
        refusal = Refusal("ValueError", "a size is not negative", "resolve")
        return Outcome(id=case.id, fields=None, error=refusal, env={})
    if size > LIMIT:
        size = LIMIT
    return Outcome(id=case.id, fields={"size": size}, error=None, env={})
'''


def outcome(case: Case) -> Outcome:
    """Return what the toy should make of a case."""
    size = case.args["size"]
    if size < 0:
        return Outcome(id=case.id, fields=None, error=Refusal("ValueError", "negative", "original"), env={})
    return Outcome(id=case.id, fields={"size": min(size, 7)}, error=None, env={})


@pytest.fixture
def toy(tmp_path: Path) -> MutablePackage:
    folder = tmp_path / "made" / "toy"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(TOY, encoding="utf-8")
    return MutablePackage(folder)


@pytest.fixture
def trial() -> Trial:
    cases = [Case(id=f"case-{size}", args={"size": size}) for size in range(-2, 20)]
    return Trial(cases, [frame_of(outcome(case), ("size",)) for case in cases], ("size",), messages=False)


@pytest.fixture
def fault(toy: MutablePackage) -> Callable[[str, str], Mutant]:
    """Return a function that makes a mutant of the toy from what becomes what."""

    def make(before: str, after: str) -> Mutant:
        return mutant_of("toy/__init__.py", toy.texts["toy/__init__.py"], before, after)

    return make
