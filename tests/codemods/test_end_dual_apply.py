"""A resolution that sets its fields once, at the end, comes to the same, on every input; what is not known stays."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import FIELDS, PLAIN_HEAD, family_programs, guarded_programs, programs

from codemods.frame.codemod import Codemod
from codemods.frame.driver import StepResult, run
from codemods.mods.end_dual_apply import EndDualApply
from codemods.mods.lift_writes import LiftWrites
from codemods.mods.record_writes import RecordWrites
from codemods.reading.files import MemoryTree
from codemods.reading.index import TreeIndex
from codemods.reading.record import facts_of, read_facts
from codemods.reading.timeline import read_timeline
from codemods.runtime import overrides_runtime
from harness.common.errors import UsageError

pytestmark = pytest.mark.slow

_VALUES = st.sampled_from([0, 1, 12, None, "text", [3], True])


@pytest.fixture(autouse=True)
def app_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "app", types.ModuleType("app"))
    monkeypatch.setitem(sys.modules, "app.overrides_runtime", overrides_runtime)


def step(text: str, codemod: type[Codemod], fields: tuple[str, ...] = FIELDS, **options: Any) -> StepResult:
    tree = MemoryTree({"app/args.py": text.encode()})
    made: Any = codemod
    result = run(tree, [made(read_facts(tree, "app.args:Args", entry="_run"), fields, **options)])
    assert not result.unreadable
    return result


def after(text: str, *codemods: type[Codemod]) -> str:
    for codemod in codemods:
        text = step(text, codemod).changed.get("app/args.py", text.encode()).decode()
    return text


def outcome(text: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Run a program: what it evaluated, the fields at the end, how it failed, and which fields were set in order."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "program", "exec"), namespace)
    sets: list[tuple[str, int]] = []

    class Watched(namespace["Args"]):  # type: ignore[misc]
        def __setattr__(self, name: str, value: Any) -> None:
            sets.append((name, len(namespace["log"])))
            super().__setattr__(name, value)

    record = Watched(*(list(value) if isinstance(value, list) else value for value in values))
    try:
        record._run()
        failed = None
    except Exception as error:
        failed = (type(error), str(error))
    fields = {name: repr(value) for name, value in vars(record).items() if name != "_declared"}
    return (namespace["log"], fields, failed), sets


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@given(
    st.one_of(programs(PLAIN_HEAD), guarded_programs(), family_programs()),
    st.sampled_from(["", "before", "after"]),
    st.lists(st.tuples(_VALUES, _VALUES, _VALUES), min_size=1, max_size=3),
)
def test_original_and_migrated_agree_and_each_field_is_set_once(
    text: str, lifts: str, inputs: list[tuple[Any, Any, Any]]
) -> None:
    recorded = after(text, RecordWrites, *([LiftWrites] if lifts == "before" else []))
    result = step(recorded, EndDualApply)
    assert not result.left, "every reader of a generated program is known"
    migrated = result.changed["app/args.py"].decode()
    assert after(migrated, EndDualApply) == migrated
    if lifts == "after":
        migrated = after(migrated, LiftWrites)
    for values in inputs:
        expected, _ = outcome(text, values)
        found, sets = outcome(migrated, values)
        assert found == expected, migrated
        of_fields = [(name, at) for name, at in sets if name in FIELDS]
        assert len({name for name, _ in of_fields}) == len(of_fields), migrated
        assert all(at == len(found[0]) for _, at in of_fields), "what is set is set at the end"


_HEAD = """\
import copy
import dataclasses

from app.overrides_runtime import declare


class Args:
    alpha: int = 1
    beta: int = 1

    def _run(self):
        self._handle(other)

"""


def left_in(body: str, head: str = _HEAD) -> StepResult:
    text = f"{head}    def _handle(self, other, name='alpha'):\n        declare(self, '_handle', alpha=2)\n"
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return step(text + lines, EndDualApply, ("alpha",))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("other(self)", "handed on to other"),
        ("other.look(self)", "handed on to other.look"),
        ("from elsewhere import look\nlook(self)", "handed on to look"),
        ("dataclasses.asdict(self)", "handed on to dataclasses.asdict"),
        ("vars(self)['alpha']", "handed on to vars"),
        ("copy.copy(self)", "handed on to copy.copy"),
        ("repr(self)", "handed on to repr"),
        ("type(self)(self)", "handed on to type(self)"),
        ("other(*self)", "unpacked"),
        ("self.__dict__['alpha']", "looks into the record"),
        ("getattr(self, other)", "by a name that is not known"),
        ("getattr(self, '__dict__')", "by a name that is not known"),
        ("[getattr(self, item) for item in ('alpha',)]", "by a name that is not known"),
        ("setattr(self, other, 3)", "by a name that is not known"),
        ("object.__setattr__(self, 'alpha', 3)", "set by its name"),
        ("self.alpha = 3", "assigned"),
        ("self.alpha += 3", "assigned"),
        ("del self.alpha", "assigned"),
        ("other.args = self", "kept"),
        ("if other:\n    same = self", "kept"),
        ("return self", "returned"),
        ("return [self]", "collection"),
        ("return {1: self}", "collection"),
        ("return f'{self}'", "printed"),
        ("return self == other", "compared"),
        ("return (same := self)", "another name"),
        ("return locals()", "all locals"),
        ("eval(other)", "all locals"),
        ("super().look()", "not in the tree"),
        ("class Inner:\n    args = self\n    value = 1", "kept"),
        ("def inner(given):\n    return given.alpha\ninner(self)", "handed on to inner"),
        ("for self in other:\n    pass", "bound again"),
        ("match self:\n    case Args(alpha=2):\n        pass", "as a whole"),
    ],
)
def test_what_is_in_the_way_is_listed_and_nothing_changes(body: str, reason: str) -> None:
    result = left_in(body)
    assert not result.changed
    assert any(reason in left.reason and left.reason.startswith("alpha: ") and left.line for left in result.left), (
        result.left
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("class Args:", "class Args(Outside):", "Outside is not in the tree"),
        ("class Args:", "@other\nclass Args:", "its decorator other"),
        ("class Args:", "@dataclasses.dataclass(slots=True)\nclass Args:", "in slots"),
        (
            "    beta: int = 1\n",
            "    beta: int = 1\n\n    def __getattr__(self, name):\n        pass\n",
            "__getattr__",
        ),
        ("    beta: int = 1\n", "    beta: int = 1\n\n    def __setattr__(self, *a):\n        pass\n", "__setattr__"),
        ("alpha: int = 1", "alpha: int = Descriptor()", "a descriptor"),
        ("    def _run(self):", "    @other\n    def _run(self):", "the decorator gets"),
        ("    def _run(self):", "    async def _run(self):", "begins and ends"),
        ("        self._handle(other)", "        self._handle(other)\n        yield", "begins and ends"),
        ("def _run", "def run", "begins and ends"),
        ("    def _run", "    look = lambda self: self.alpha\n\n    def _run", "its class holds"),
        ("    def _run", "    look = property(lambda self: self.alpha)\n\n    def _run", "its class holds"),
        ("    def _run", "    look = other_look\n\n    def _run", "its class holds"),
        ("class Args:", "class Kept:\n    def __new__(cls, args):\n        pass\n\n\nclass Args:", "on to Kept"),
        (
            "class Args:",
            "@other\nclass Kept:\n    def __init__(self, args):\n        pass\n\n\nclass Args:",
            "on to Kept",
        ),
        (
            "class Args:",
            "class Kept:\n    def __init__(self, args):\n        self.args = args\n\n\nclass Args:",
            "it is kept",
        ),
        ("    def _run", "    def alpha(self):\n        pass\n\n    def _run", "a method of that name"),
    ],
)
def test_a_record_of_another_kind_is_left(old: str, new: str, reason: str) -> None:
    assert old in _HEAD
    result = left_in("self.look()\nKept(self)" if "look" in new or "Kept" in new else "pass", _HEAD.replace(old, new))
    assert not result.changed
    assert any(reason in left.reason for left in result.left), result.left


@pytest.mark.parametrize(
    "body",
    [
        "getattr(self, 'beta', self.limit)",
        "isinstance(self, Args) and self is other",
        "for item in ('beta', 'limit'):\n    setattr(self, item, getattr(self, item))",
        "same = self\nreturn same.beta",
        "return lambda: self.beta",
    ],
)
def test_what_is_known_is_not_in_the_way(body: str) -> None:
    result = left_in(body)
    assert not result.left
    assert "@applies_at_end('alpha')" in result.changed["app/args.py"].decode()


def test_a_name_is_followed_from_where_it_is_given() -> None:
    head = _HEAD.replace(
        "        self._handle(other)\n", "        self._handle(1, 'alpha')\n        self._handle(2)\n"
    )
    result = left_in("return getattr(self, name)", head)
    assert not result.left
    assert "return getattr(view_of(self), name)" in result.changed["app/args.py"].decode()
    head = _HEAD.replace("self._handle(other)", "[self._handle]")
    assert left_in("return getattr(self, name)", head).left


def test_what_a_setter_reads_is_followed() -> None:
    setter = "    @property\n    def wide(self):\n        pass\n\n    @wide.setter\n    def wide(self, value):\n"
    head = _HEAD.replace("    def _run", f"{setter}        self.limit = self.alpha\n\n    def _run")
    result = left_in("self.wide = True", head)
    assert not result.left
    assert "self.limit = view_of(self).alpha" in result.changed["app/args.py"].decode()


@pytest.mark.parametrize(
    "imports",
    [
        "from app.one import look\n    from app.two import look",
        "from app import one as look\n    from app import two as look",
        "global look\n    from app.one import look",
    ],
)
def test_a_name_with_several_meanings_is_followed_to_each_or_not_at_all(imports: str) -> None:
    reader = "def look(given):\n    return given.alpha\n"
    files = {
        "app/one.py": reader,
        "app/two.py": reader,
        "app/args.py": f"class Args:\n    alpha: int = 1\n\n    def _run(self):\n        hook(self)\n\n\n"
        f"def hook(given):\n    {imports}\n    look{'.look' if ' as ' in imports else ''}(given)\n",
    }
    tree = MemoryTree({name: text.encode() for name, text in files.items()})
    result = run(tree, [EndDualApply(read_facts(tree, "app.args:Args", entry="_run"), ("alpha",))])
    if result.left:
        assert not result.changed
    else:
        assert all(b"view_of(given).alpha" in result.changed[f"app/{name}.py"] for name in ("one", "two"))


@pytest.mark.parametrize("given", [("other.look", "other"), "other.look, other"])
def test_what_somebody_vouches_for_is_named_in_full(given: tuple[str, ...] | str) -> None:
    text = f"{_HEAD}    def _handle(self, other):\n        other(self)\n        other.look(1, args=self)\n"
    after = step(text, EndDualApply, ("alpha",), apply_before=given).changed["app/args.py"].decode()
    assert "other(applied_now(self))" in after
    assert "other.look(1, args=applied_now(self))" in after
    assert step(after, EndDualApply, ("alpha",), apply_before=given).changed == {}
    assert [left.what for left in step(text, EndDualApply, ("alpha",), apply_before="other").left] == [
        "other.look(1, args=self)"
    ]


def test_the_trace_reads_through_a_view() -> None:
    text = f"{_HEAD}    def _handle(self, other):\n        declare(self, '_handle', alpha=self.alpha)\n"
    migrated = step(text, EndDualApply, ("alpha",)).changed["app/args.py"]
    kinds = []
    for data in (text.encode(), migrated):
        index = TreeIndex(MemoryTree({"app/args.py": data}))
        facts = facts_of(index, "app.args:Args", entry="_run")
        kinds.append([(event.kind, event.field) for event in read_timeline(index, facts, "_run").accesses])
    assert kinds[0] == kinds[1] == [("read", "alpha"), ("write", "alpha")]


def test_only_the_fields_concerned_stay() -> None:
    text = (
        f"{_HEAD}    def _handle(self, other):\n        self.alpha = 2\n        declare(self, 'h', beta=self.alpha)\n"
    )
    result = step(text, EndDualApply, ("alpha", "beta"))
    assert [left.reason.partition(":")[0] for left in result.left] == ["alpha"]
    assert "@applies_at_end('beta')" in result.changed["app/args.py"].decode()


def test_an_unknown_field_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'alpha'"):
        step(_HEAD, EndDualApply, ("alpa",))
