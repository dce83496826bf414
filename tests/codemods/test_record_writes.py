"""Declared writes do what the writes did, on every input; the forms of issue 6 are handled or left with a reason."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import FIELDS, programs

from codemods.frame.driver import StepResult, run
from codemods.mods.record_writes import RecordWrites
from codemods.reading.files import MemoryTree
from codemods.reading.record import read_facts
from codemods.runtime import overrides_runtime
from harness.common.errors import UsageError

pytestmark = pytest.mark.slow

_VALUES = st.sampled_from([0, 1, 2, None, "text", [3], True])


def migrated(text: str, fields: tuple[str, ...] = FIELDS) -> StepResult:
    tree = MemoryTree({"app/args.py": text.encode()})
    return run(tree, [RecordWrites(read_facts(tree, "app.args:Args"), fields)])


def text_of(result: StepResult, before: str) -> str:
    data = result.changed.get("app/args.py")
    return before if data is None else data.decode()


@pytest.fixture(autouse=True)
def app_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "app", types.ModuleType("app"))
    monkeypatch.setitem(sys.modules, "app.overrides_runtime", overrides_runtime)


def outcome(text: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Run a program: what it evaluated and set in which order, the fields at the end, and how it failed."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "program", "exec"), namespace)
    record = namespace["Args"](*values)
    try:
        record._run()
        failed = None
    except Exception as error:
        failed = (type(error), str(error))
    fields = {name: repr(value) for name, value in vars(record).items() if name != "_declared"}
    return namespace["log"], fields, failed, overrides_runtime.declarations(record)


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@given(programs(), st.lists(st.tuples(_VALUES, _VALUES, _VALUES), min_size=1, max_size=3))
def test_original_and_migrated_agree(text: str, inputs: list[tuple[Any, Any, Any]]) -> None:
    result = migrated(text)
    after = text_of(result, text)
    assert not result.left, "every form of a generated program can be declared"
    for values in inputs:
        log, fields, failed, _ = outcome(text, tuple(map(_copied, values)))
        new_log, new_fields, new_failed, declared = outcome(after, tuple(map(_copied, values)))
        assert (new_log, new_fields, new_failed) == (log, fields, failed), after
        sets = [(name, value) for name, value in log if name in FIELDS]
        recorded = [(entry.field, repr(entry.value)) for entry in declared if entry.field in FIELDS]
        assert len(recorded) <= len(sets)


NOT_REACHED = """log = []


def note(value):
    log.append(("note", repr(value)))
    return value


class Args:
    alpha: int = 1

    def __setattr__(self, name, value):
        if value == 13:
            raise ValueError(name)
        super().__setattr__(name, value)

    def _run(self):
        local = rest = 0
        try:
            local, self.alpha, rest = 1, note(13), 2
        except ValueError:
            self.alpha = note((local, rest))
"""


def test_a_local_behind_a_field_that_refuses_its_value_keeps_its_own() -> None:
    after = text_of(migrated(NOT_REACHED, ("alpha",)), NOT_REACHED)
    assert "declare(" in after
    assert outcome(after, ())[0] == outcome(NOT_REACHED, ())[0] == [("note", "13"), ("note", "(1, 0)")]


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_second_application_changes_nothing(text: str) -> None:
    once = text_of(migrated(text), text)
    assert text_of(migrated(once), once) == once


RECORD = "class Args:\n    alpha: int = 1\n\n    def _handle(self):\n        pass\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"def broken(server_args):\n    server_args.alpha = (\n", "does not parse"),
        (b"def f(server_args):\n    server_args.alpha = 1\n\x0c\nx = 1\n\x00", "does not parse"),
        (b"# coding: no-such\ndef f(server_args):\n    server_args.alpha = 1\n", "does not parse"),
        (b"x = '\xe9'\ndef f(server_args):\n    server_args.alpha = 1\n", "does not parse"),
        (b"\xef\xbb\xbf\xef\xbb\xbfdef f(server_args):\n    server_args.alpha = 1\n", "does not parse"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_and_listed(data: bytes, why: str) -> None:
    tree = MemoryTree({"app/args.py": RECORD.encode(), "app/hook.py": data})
    result = run(tree, [RecordWrites(read_facts(tree, "app.args:Args"), ("alpha",))])
    assert not result.changed
    assert why in result.unreadable["app/hook.py"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbf%s", b"\xef\xbb\xbf%s"),
        (b"# coding: latin-1\n# \xe9\n%s", b"# coding: latin-1\n# \xe9\n%s"),
    ],
)
def test_encodings_and_marks_are_kept(before: bytes, after: bytes) -> None:
    hook = b"import os\n\n\ndef f(server_args):\n    server_args.alpha = 1"
    done = (
        b"import os\n\nfrom app.overrides_runtime import declare\n\n\ndef f(server_args):\n"
        b'    declare(server_args, "f", alpha=1)'
    )
    tree = MemoryTree({"app/args.py": RECORD.encode(), "app/hook.py": before % hook})
    result = run(tree, [RecordWrites(read_facts(tree, "app.args:Args"), ("alpha",))])
    assert result.changed["app/hook.py"] == after % done


def test_windows_line_ends_are_kept() -> None:
    hook = b"import os\r\n\r\n\r\ndef f(server_args):\r\n    server_args.alpha = (\r\n        1\r\n    )\r\n"
    tree = MemoryTree({"app/args.py": RECORD.encode(), "app/hook.py": hook})
    result = run(tree, [RecordWrites(read_facts(tree, "app.args:Args"), ("alpha",))])
    done = result.changed["app/hook.py"]
    assert b'    declare(server_args, "f", alpha=1)\r\n' in done
    assert done.count(b"\n") == done.count(b"\r\n")


def test_files_without_a_write_are_not_touched() -> None:
    files = {
        "app/args.py": RECORD.encode(),
        "app/odd.py": b"\xef\xbb\xbfdef f(server_args):\r\n\treturn server_args.alpha\n  # end",
        "app/other.py": b"class Other:\n  def f(self): self.alpha=1",
        "app/form.py": b"x = 1\n\x0c\ny = 2\n",
    }
    tree = MemoryTree(files)
    assert not run(tree, [RecordWrites(read_facts(tree, "app.args:Args"), ("alpha",))]).changed


def test_a_handler_in_a_mixin_and_a_hook_behind_an_import() -> None:
    files = {
        "app/__init__.py": b"",
        "app/args.py": b"from app.mixin import Handlers\n\n\nclass Args(Handlers):\n    alpha: int = 1\n",
        "app/mixin.py": (
            b"class Handlers:\n    def _handle(self):\n        from .hooks import fill as filled\n\n"
            b"        filled(1, given=self)\n        self.alpha = 2\n"
        ),
        "app/hooks.py": (
            b"def fill(number, given):\n    given.alpha = number\n\n\ndef unused(given):\n    given.alpha = 3\n"
        ),
        "app/child.py": (
            b"from app.args import Args\n\n\nclass Child(Args):\n    def run(self):\n        self.alpha = 4\n"
        ),
    }
    tree = MemoryTree(files)
    result = run(tree, [RecordWrites(read_facts(tree, "app.args:Args"), ("alpha",))])
    assert b'declare(self, "_handle", alpha=2)' in result.changed["app/mixin.py"]
    assert b'declare(given, "fill", alpha=number)' in result.changed["app/hooks.py"]
    assert b"    given.alpha = 3" in result.changed["app/hooks.py"]
    assert b'declare(self, "run", alpha=4)' in result.changed["app/child.py"]


def test_decorators_match_and_names_that_are_taken() -> None:
    text = (
        "def declare():\n    pass\n\n\nclass Args:\n    alpha: int = 1\n\n"
        "    @(lambda function: function)\n    def _handle(self, key=lambda self: self.alpha):\n"
        '        match self.alpha:\n            case {"alpha": value}:\n                self.alpha = value\n'
        "            case [self, *_]:\n                pass\n"
        '\n    @staticmethod\n    def make(args: "Args"):\n        args.alpha = yield\n'
    )
    result = migrated(text, ("alpha",))
    after = text_of(result, text)
    # A case that binds self makes it another object.
    assert "                self.alpha = value\n" in after
    assert '_declare(args, "make", alpha=(yield))' in after
    assert "from app.overrides_runtime import declare as _declare\n" in after


def test_an_unknown_field_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'alpha'"):
        migrated(RECORD, ("alpa",))


def test_a_function_that_looks_at_its_locals_gets_no_new_ones() -> None:
    text = RECORD.replace("pass", "self.alpha += 1\n        return locals()")
    result = migrated(text, ("alpha",))
    assert not result.changed
    assert "locals" in result.left[0].reason
