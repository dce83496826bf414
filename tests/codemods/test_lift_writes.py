"""Passes do what the regions did, on every input; a move that would change something is refused."""

from __future__ import annotations

import sys
import textwrap
import types
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import FIELDS, PLAIN_HEAD, family_programs, guarded_programs, local_programs, programs

from codemods.frame.codemod import Codemod
from codemods.frame.driver import run
from codemods.mods.lift_writes import LiftWrites
from codemods.mods.record_writes import RecordWrites
from codemods.reading.files import MemoryTree
from codemods.reading.record import read_facts
from codemods.runtime import overrides_runtime

pytestmark = pytest.mark.slow


def indent(text: str) -> str:
    return textwrap.indent(text, "    ")


_VALUES = st.sampled_from([0, 1, 12, None, "text", [3], True])


@pytest.fixture(autouse=True)
def app_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "app", types.ModuleType("app"))
    monkeypatch.setitem(sys.modules, "app.overrides_runtime", overrides_runtime)


def after(text: str, codemod: type[Codemod]) -> str:
    tree = MemoryTree({"app/args.py": text.encode()})
    made: Any = codemod
    result = run(tree, [made(read_facts(tree, "app.args:Args"), FIELDS)])
    assert not result.unreadable
    return result.changed.get("app/args.py", text.encode()).decode()


def outcome(text: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    namespace: dict[str, Any] = {}
    exec(compile(text, "program", "exec"), namespace)
    record = namespace["Args"](*(list(value) if isinstance(value, list) else value for value in values))
    try:
        record._run()
        failed = None
    except Exception as error:
        failed = (type(error), str(error))
    fields = {name: repr(value) for name, value in vars(record).items() if name != "_declared"}
    return namespace["log"], fields, failed


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@given(
    st.one_of(guarded_programs(), family_programs(), local_programs(), programs(PLAIN_HEAD)),
    st.lists(st.tuples(_VALUES, _VALUES, _VALUES), min_size=1, max_size=3),
)
def test_original_and_lifted_agree(text: str, inputs: list[tuple[Any, Any, Any]]) -> None:
    lifted = after(after(text, RecordWrites), LiftWrites)
    assert after(lifted, LiftWrites) == lifted
    for values in inputs:
        assert outcome(lifted, values) == outcome(text, values), lifted


_RAISES = "if self.alpha:\n    x = 1\n    self.alpha = 1 + 'text'\n"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"try:\n{indent(_RAISES)}    x = 2\nexcept TypeError:\n    self.beta = x", id="a handler"),
        pytest.param(f"try:\n{indent(_RAISES)}    x = 2\nexcept TypeError:\n    pass\nself.beta = x", id="behind it"),
        pytest.param(f"try:\n{indent(_RAISES)}    return\nfinally:\n    self.other = x", id="finally"),
        pytest.param(
            f"try:\n    1 + 'text'\nexcept TypeError:\n{indent(_RAISES)}    x = 2\nfinally:\n    self.other = x",
            id="finally, out of a handler",
        ),
        pytest.param(f"with suppress(TypeError):\n{indent(_RAISES)}    x = 2\nself.beta = x", id="suppressed"),
        pytest.param(
            "for y in (1, 2):\n    self.beta = self.other = x\n    if self.alpha:\n        x = 5\n"
            "        self.alpha = 3\n    if y:\n        continue\n    x = 7",
            id="another round",
        ),
        pytest.param("del x\nself.other = 2\nif not self.gamma:\n    self.alpha = x", id="deleted"),
        pytest.param(
            "try:\n    1 + 'text'\nexcept TypeError as x:\n    pass\n"
            "self.other = 2\nif not self.gamma:\n    self.alpha = x",
            id="deleted by a handler",
        ),
    ],
)
def test_a_local_that_is_read_after_a_jump_stays(body: str) -> None:
    agree_on(PLAIN_HEAD + "\n    def _run(self):\n        x = 0\n" + textwrap.indent(body, " " * 8) + "\n")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("if self.alpha:\n    x = x\n    self.alpha = x", id="a parameter"),
        pytest.param("import sys as y\nif self.alpha:\n    y = bool(y)\n    self.alpha = y", id="an import"),
        pytest.param(
            "for item in (1, 2):\n    self.other += 1\n    if self.gamma:\n        if self.other == 1:\n"
            "            y = 5\n        self.alpha = y",
            id="the round before",
        ),
    ],
)
def test_a_value_from_before_the_region_is_handed_over_or_the_region_stays(body: str) -> None:
    text = PLAIN_HEAD + "\n    def _handle(self, x):\n" + textwrap.indent(body, " " * 8) + "\n"
    agree_on(f"{text}\n    def _run(self):\n        self._handle(3)\n")


def agree_on(text: str) -> None:
    lifted = after(after(text, RecordWrites), LiftWrites)
    for values in ((1, 2, 3), (0, None, "text"), ("text", [3], 0)):
        assert outcome(lifted, values) == outcome(text, values), lifted


@pytest.mark.parametrize(
    ("region", "reason"),
    [
        ("declare(self, 'h', alpha=2)\n            return", "returns"),
        ("declare(self, 'h', **{name: 2}, beta=1)", "computed names"),
        ("declare(self, 'h', alpha=2)\n            other(lambda: self.alpha)", "would hold the view"),
        ("declare(self, 'h', alpha=super().beta)", "surroundings"),
        ("declare(self, 'h', alpha=getattr(self, name))", "no field"),
        ("declare(self, 'h', alpha=other(self))", "not followed"),
        ("declare(self, 'h', alpha=self._reads(), beta=2)\n            self._reads()", "before it is applied"),
        ("declare(self, 'h', alpha=self._writes())", "which writes beta"),
        ("declare(self, 'h', alpha=2)\n            self.limit = 2", "writes 'limit'"),
        ("declare(self, 'h', alpha=2)\n            self.config.size = 2", "writes self.config.size"),
        ("declare(self, 'h', alpha=inner())", "function inside"),
        ("declare(self, 'h', alpha=self.__class__.beta)", "of the record itself"),
        ("declare(self, 'h', alpha=len(self.__dict__))", "of the record itself"),
        (
            "try:\n                declare(self, 'h', alpha=2)\n            except* OSError:\n                pass",
            "catches",
        ),
    ],
)
def test_what_cannot_be_lifted_says_why(region: str, reason: str) -> None:
    text = (
        "from app.overrides_runtime import declare\n\n\n"
        "class Args:\n    alpha: int = 1\n    beta: int = 1\n    limit: int = 1\n\n"
        "    def _reads(self):\n        return self.alpha\n\n"
        "    def _writes(self):\n        self.beta = 2\n\n"
        "    def _handle(self, name):\n        def inner():\n            pass\n\n"
        f"        if name:\n            {region}\n"
    )
    tree = MemoryTree({"app/args.py": text.encode()})
    result = run(tree, [LiftWrites(read_facts(tree, "app.args:Args"), ("alpha", "beta"))])
    assert not result.changed
    assert {reason in left.reason for left in result.left} == {True}
