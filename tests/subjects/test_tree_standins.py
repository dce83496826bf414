"""The pieces of the child package, loaded under its private name as boot.py does, in this process."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import importlib.util
import operator
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

HARNESS = Path(__file__).parents[2] / "harness"
NAME = "_stackproof_under_test"


@pytest.fixture(scope="module")
def child() -> Iterator[SimpleNamespace]:
    spec = importlib.util.spec_from_file_location(
        NAME, HARNESS / "__init__.py", submodule_search_locations=[str(HARNESS)]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    names = [f"world.{name}" for name in ("current", "standins", "questions", "answers", "caches", "held")]
    names += ["tree.finder", "tree.slicing", "serve.values", "tree.describe"]
    loaded = {name: importlib.import_module(f"{NAME}.subjects.child.{name}") for name in names}
    yield SimpleNamespace(**{name.rpartition(".")[2]: module for name, module in loaded.items()})
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def no_case(child: SimpleNamespace) -> Iterator[None]:
    answered = dict(child.standins.ANSWERED)
    yield
    child.current.WORLD.leave()
    child.current.WORLD.unanswered = None
    child.standins.ANSWERED.clear()
    child.standins.ANSWERED.update(answered)


def enter(child: SimpleNamespace, **facts: Any) -> None:
    child.current.WORLD.enter({"hardware": {}, "probe": {}, "model": {}, "checkpoint": {}, **facts})


OBSERVATIONS = {
    "bool": bool,
    "not": operator.not_,
    "call": lambda x: x(),
    "eq": lambda x: x == 1,
    "eq-none": lambda x: x == None,  # noqa: E711
    "ne": lambda x: x != 1,
    "reflected eq": lambda x: 1 == x,  # noqa: SIM300
    "lt": lambda x: x < 1,
    "reflected lt": lambda x: 1 < x,  # noqa: SIM300
    "in list": lambda x: x in ["a"],
    "in set": lambda x: x in {"a"},
    "in dict": lambda x: x in {"a": 1},
    "key": lambda x: {x: 1},
    "contains": lambda x: "a" in x,
    "len": len,
    "iter": iter,
    "list": list,
    "unpack": lambda x: [*x],
    "next": next,
    "index": lambda x: x[0],
    "set item": lambda x: operator.setitem(x, 0, 0),
    "del item": lambda x: operator.delitem(x, 0),
    "int": int,
    "float": float,
    "complex": complex,
    "range": range,
    "round": round,
    "neg": operator.neg,
    "abs": abs,
    "invert": operator.invert,
    "add": lambda x: x + 1,
    "radd": lambda x: "a" + x,
    "or": lambda x: x | 1,
    "ror": lambda x: 1 | x,
    "pow": lambda x: x**2,
    "shift": lambda x: 1 << x,
    "matmul": lambda x: x @ x,
    "divmod": lambda x: divmod(7, x),
    "format": lambda x: f"{x}",
    "format spec": lambda x: f"{x:>4}",
    "str": str,
    "repr": repr,
    "percent": lambda x: "%s" % x,  # noqa: UP031
    "join": lambda x: "".join(map(str, [x])),
    "bytes": bytes,
    "path": lambda x: Path("a") / x,
    "isinstance of": lambda x: isinstance(x, str),
    "isinstance in": lambda x: isinstance("a", x),
    "issubclass": lambda x: issubclass(str, x),
    "class": lambda x: x.__class__,
    "name": lambda x: x.__name__,
    "dir": dir,
    "with": lambda x: x.__enter__(),
    "max": lambda x: max(x, 1),
    "sorted": sorted,
    "getattr": lambda x: bool(getattr(x, "absent", False)),
    "deep copy": lambda x: bool(copy.deepcopy(x)),
    "pickle": lambda x: x.__reduce_ex__(4),
    "lru_cache": lambda x: functools.lru_cache(lambda y: 1)(x),
    "match": lambda x: _match(x),
}


def _match(value: object) -> bool:
    match value:
        case "a":
            return True
        case _:
            return False


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_every_observation_of_a_stand_in_is_refused(name: str, child: SimpleNamespace) -> None:
    stand_in = child.standins.StandInModule("far").away
    enter(child)
    with pytest.raises(child.current.UnansweredProbe) as caught:
        OBSERVATIONS[name](stand_in)
    assert caught.value.path.startswith("far.away")
    assert child.current.WORLD.unanswered is caught.value


def test_what_is_no_observation(child: SimpleNamespace) -> None:
    module = child.standins.StandInModule("far")
    stand_in = module.away
    decorated = stand_in(lambda: 1)
    assert stand_in.er is module.away.er
    assert stand_in | None is stand_in
    assert stand_in["a"] is stand_in

    class Derived(stand_in):  # type: ignore[misc, valid-type]
        pass

    enter(child)
    assert module.away is stand_in
    assert copy.copy(stand_in) is stand_in
    assert stand_in == stand_in
    with pytest.raises(child.current.UnansweredProbe):
        decorated()
    with pytest.raises(child.current.UnansweredProbe):
        Derived()


def test_exception_classes_can_stand_in_except(child: SimpleNamespace) -> None:
    module = child.standins.StandInModule("far")
    enter(child)
    with contextlib.suppress(ZeroDivisionError):
        try:
            raise ZeroDivisionError
        except module.exceptions.RequestException:
            raise AssertionError from None
    with pytest.raises(child.current.UnansweredProbe):
        module.exceptions.RequestException("x")


@pytest.mark.parametrize("owner", ["module", "stand-in"])
def test_hasattr(owner: str, child: SimpleNamespace) -> None:
    module = child.standins.StandInModule("far")
    asked = module if owner == "module" else module.away
    path = "far" if owner == "module" else "far.away"
    child.standins.ANSWERED[f"{path}.known"] = 3
    has = child.questions.observing_hasattr
    assert has(asked, "known")
    enter(child)
    asked.written = 1
    assert has(asked, "written")
    assert has("text", "upper") and not has("text", "uper")
    with pytest.raises(child.current.UnansweredProbe) as caught:
        has(asked, "unknown")
    assert caught.value.path == f"{path}.unknown"
    _ = asked.unknown
    with pytest.raises(child.current.UnansweredProbe):
        has(asked, "unknown")


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(-3, 3), st.text(max_size=3), st.tuples(st.integers(0, 3))
)
BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.mod, operator.and_, operator.or_, operator.xor),
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.contains),
    *(operator.getitem, operator.truediv, operator.floordiv, divmod),
]
UNARY = [bool, str, repr, len, hash, int, float, abs, operator.neg, list, "{:}".format, "{}".format, format]
UNARY += [lambda x: isinstance(x, str), lambda x: isinstance(x, tuple), lambda x: x in {1, "a", None}]


def result(function: Any, *args: Any) -> Any:
    try:
        found = function(*args)
    except Exception as error:
        return type(error)
    return type(found), found


@given(first=VALUES, second=VALUES, function=st.sampled_from(BINARY))
def test_an_answered_name_behaves_as_its_value(
    child: SimpleNamespace, first: Any, second: Any, function: Any
) -> None:
    one = child.standins.Deferred("a", lambda: first)
    two = child.standins.Deferred("b", lambda: second)
    enter(child)
    expected = result(function, first, second)
    assert result(function, one, second) == expected
    # Text asks for the type of what it is searched for or formatted with.
    if function not in (operator.contains, operator.getitem, operator.mod) or not isinstance(first, str):
        assert result(function, first, two) == expected
    assert result(function, one, two) == expected


@given(value=VALUES, function=st.sampled_from(UNARY))
def test_an_answered_name_observed_alone(child: SimpleNamespace, value: Any, function: Any) -> None:
    deferred = child.standins.Deferred("a", lambda: value)
    enter(child)
    assert result(function, deferred) == result(function, value)
    child.current.WORLD.leave()
    for observe in (bool, len, lambda x: x < 1, lambda x: x | x, lambda x: x[0], iter):
        with pytest.raises(child.current.UnansweredProbe):
            observe(deferred)


def test_attributes_and_calls_of_an_answered_name(child: SimpleNamespace) -> None:
    answered = child.standins.Deferred("a", lambda: child.current.WORLD.facts["hardware"]["x"])
    upper, called = answered.upper, answered.upper()
    enter(child, hardware={"x": "text"})
    assert upper() == "TEXT" and called == "TEXT"
    with pytest.raises(AttributeError, match="no attribute 'none'"):
        _ = answered.none
    enter(child, hardware={"x": "other"})
    assert called == "OTHER"


def test_functions_with_an_answer(child: SimpleNamespace) -> None:
    call = child.standins.AnsweredCall("far.probe", lambda: 3)
    constant = child.standins.AnsweredCall("far.constant", lambda: 4, constant=True)
    assert constant() == 4
    assert type(call()) is child.standins.Deferred
    enter(child)
    assert call("anything", at="all") == 3
    call.cache_clear()
    for observe in (bool, len, lambda x: x == 3, lambda x: x + 1, lambda x: x.cache_info(), lambda x: x < 3):
        with pytest.raises(child.current.UnansweredProbe):
            observe(call)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"value": 3}, 3),
        ({"value": [1, [2]]}, [1, [2]]),
        ({"value": [1], "tuple": True}, (1,)),
        ({"none": True}, None),
        ({"from": "hardware.name"}, "h"),
        ({"from": "hardware.pair", "tuple": True}, (9, 0)),
        ({"from": "hardware.nothing", "tuple": True}, None),
        ({"case": "hardware.name", "of": {"h": {"value": 1}, "g": {"value": 2}}}, 1),
        ({"case": "hardware.yes", "of": {"true": {"value": 1}}}, 1),
        ({"case": "hardware.nothing", "of": {"none": {"value": 1}}}, 1),
        ({"all": [{"value": True}, {"from": "hardware.yes"}]}, True),
        ({"all": [{"value": False}, {"from": "hardware.absent"}]}, False),
        ({"tree": "collections:OrderedDict.fromkeys.__name__"}, "fromkeys"),
        ({"function": "math:sqrt", "arguments": ["hardware.four"]}, 2.0),
    ],
)
def test_answers(spec: dict[str, Any], expected: object, child: SimpleNamespace) -> None:
    get = child.answers.value_getter(spec)
    enter(child, hardware={"name": "h", "pair": [9, 0], "nothing": None, "yes": True, "four": 4})
    assert get() == expected and type(get()) is type(expected)


def test_answers_that_are_functions(child: SimpleNamespace) -> None:
    enter(child, hardware={"total": 8})
    assert child.answers.value_getter({"call": {"value": 3}})()(1, x=2) == 3
    ranks = child.answers.value_getter({"per_rank": "hardware.total"})()
    assert [ranks(1), ranks(4), ranks(16), ranks(tensor_parallel_size=2)] == [8, 2, 1, 4]


def test_answers_are_new_each_time(child: SimpleNamespace) -> None:
    facts = {"list": ["a"], "object": {"a": {"b": [1]}}, "lists": [["a"]]}
    enter(child, hardware=facts)
    before = copy.deepcopy(facts)
    for name in facts:
        found = child.answers.value_getter({"from": f"hardware.{name}"})()
        if isinstance(found, dict):
            found["a"]["b"].append(2)
        else:
            found[0] = "b"
            found.append("c")
    assert facts == before
    constant = child.answers.value_getter({"value": [1]})
    constant().append(2)
    assert constant() == [1]


def test_unknown_answers(child: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="none of the known keys"):
        child.answers.value_getter({"vlaue": 3})
    for path in ("collections:Nothing", "no_such_module:x"):
        with pytest.raises(child.answers.NotInTree):
            child.answers.value_getter({"tree": path})()


def test_described_objects(child: SimpleNamespace) -> None:
    spec = {
        "there": {"value": 1},
        "none": {"none": True},
        "left_out": {"from": "model.nothing", "absent_if_none": True},
        "elsewhere": {"tree": "collections:Nothing"},
        "inner": {"object": {"x": {"value": 2}}},
    }
    enter(child, model={"nothing": None})
    config = child.answers.value_getter({"object": spec}, "far.config")()
    assert (config.there, config.none, config.inner.x) == (1, None, 2)
    assert getattr(config, "left_out", 7) == 7 and getattr(config, "elsewhere", 7) == 7
    assert config != None and config == config and bool(config)  # noqa: E711
    for observe in (len, list, str, repr, lambda x: x["a"], lambda x: x(), lambda x: "a" in x, lambda x: x == 1):
        with pytest.raises(child.current.UnansweredProbe) as caught:
            observe(config.inner)
        assert caught.value.path == "far.config.inner"


def test_caches(child: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functools, "lru_cache", functools.lru_cache)
    monkeypatch.setattr(functools, "cache", functools.cache)
    caches = child.caches.Caches("made_up")
    world = child.current.WORLD
    ran: list[str] = []

    def look() -> int:
        world.observed += 1
        return int(world.facts["hardware"]["x"])

    code = """
import functools
@functools.lru_cache(maxsize=None)
def seen(y=0):
    ran.append("seen")
    return look() + y
@functools.cache
def constant(y):
    ran.append("constant")
    return y
@functools.lru_cache
def through(y):
    ran.append("through")
    return seen(y)
"""
    tree: dict[str, Any] = {"__name__": "made_up.module", "ran": ran, "look": look}
    exec(code, tree)
    other: dict[str, Any] = {"__name__": "json.decoder", "ran": ran, "look": look}
    exec(code, other)
    assert hasattr(other["seen"], "cache_parameters") and not hasattr(tree["seen"], "cache_parameters")
    for value in (1, 2):
        enter(child, hardware={"x": value})
        assert [tree["through"](5), tree["seen"](5), tree["seen"](y=5), tree["constant"](5)] == [value + 5] * 3 + [5]
        caches.forget_case()
    assert ran == ["through", "seen", "seen", "constant", "through", "seen", "seen"]
    with pytest.raises(TypeError):
        tree["constant"]([])
    caches.switch("other values")
    tree["constant"](5)
    assert ran[-1] == "constant"
    caches.switch(None)
    tree["constant"](5)
    assert ran.count("constant") == 2
    tree["constant"].cache_clear()
    tree["constant"](5)
    assert ran.count("constant") == 3


PARTIAL = """
from __future__ import annotations
import os, nowhere
from sglang.made import far
try:
    import fast
except ImportError:
    fast = None
if os.sep:
    SEPARATOR = os.sep
SIZES: list[int] = [1, 2]
WANTED, UNWANTED = 1, far()
def wanted(x: Missing) -> int:
    return helper(x) + len(SIZES) + probe()
def helper(x):
    return x + WANTED
def probe():
    raise RuntimeError
def unwanted():
    return boom
unwanted_constant = undefined_name
class Also(Base):
    pass
class Base:
    pass
"""


def test_partial_loading(child: SimpleNamespace, tmp_path: Path) -> None:
    file = tmp_path / "partial.py"
    file.write_text(PARTIAL)
    child.standins.ANSWERED["sglang.part.probe"] = child.standins.AnsweredCall("sglang.part.probe", lambda: 100)
    module = child.standins.StandInModule("sglang.part")
    loader = child.finder.PartialLoader(str(file), ["wanted", "SEPARATOR"])
    finder = child.finder.TreeFinder(
        str(tmp_path),
        {"package": "sglang", "real": [], "partial": [], "reexports": [], "installed": ["nowhere"], "imports": []},
    )
    sys.meta_path.insert(0, finder)
    try:
        loader.exec_module(module)
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] in ("sglang", "nowhere")]:
            del sys.modules[name]
    enter(child)
    assert module.wanted(1) == 1 + 1 + 2 + 100
    assert module.SEPARATOR == "/"
    assert type(module.unwanted) is child.standins.StandIn
    assert "unwanted_constant" not in vars(module)


def test_held(child: SimpleNamespace) -> None:
    held = child.held.Held()
    deferred = child.standins.Deferred("far.x()", lambda: child.current.WORLD.facts["hardware"]["x"])
    module = ModuleType("made_up")
    vars(module).update(D=deferred)
    exec(
        "table = {'a': D}\nitems = [0, D]\ndef f(x, y=D, *, z=D): return x, y, z\nclass C:\n    d = D\n"
        "    def m(self, k=D): return k\n",
        vars(module),
    )
    held.add(module)
    for value in (None, True, None):
        enter(child, hardware={"x": value})
        assert held.renew() is not None
        assert held.renew() is None
        assert module.D is value and module.table == {"a": value} and module.items == [0, value]
        assert module.f(0) == (0, value, value)
        assert module.C.d is value and module.C().m() is value
    for value in (1, True, 1.0):
        enter(child, hardware={"x": value})
        assert held.renew() is not None
        assert type(module.D) is type(value)


class Record:
    def __post_init__(self) -> None:
        self.other = 1
        self._handle_early()
        flag = self.size > 1
        if flag:
            self.page_size = 1
        self._handle_unlisted()
        if self.size:
            self._handle_unlisted()
            self._handle_late()
        with contextlib.nullcontext():
            self._handle_partial()

    def _handle_early(self) -> None:
        self.ran.append("early")

    def _handle_unlisted(self) -> None:
        self.ran.append("unlisted")

    def _handle_late(self) -> None:
        self.ran.append("late")

    def _handle_partial(self) -> None:
        import os

        self.ran.append("whole")
        kind = os.sep
        self.page_size = [self.page_size, kind]

    def __init__(self, size: int) -> None:
        self.size, self.ran, self.page_size = size, [], 0


SPEC: dict[str, Any] = {
    "entry": "__post_init__",
    "handlers": ["_handle_early", "_handle_late"],
    "fields": ["page_size"],
    "flags": [],
    "calls": [],
    "partial": [{"function": "_handle_partial", "mentions": []}],
}


def test_slicing(child: SimpleNamespace) -> None:
    run, slots, _ = child.slicing.build(Record, SPEC)
    assert [slot.partition(":")[0] for slot in slots] == [
        "_handle_early",
        "__post_init__",
        "_handle_late",
        "_handle_partial",
    ]
    record = Record(2)
    run(record)
    assert record.ran == ["early", "late"]
    assert record.page_size == [1, "/"]
    assert not hasattr(record, "other")
    record = Record(0)
    run(record)
    assert record.ran == ["early"]
    assert record.page_size == [0, "/"]


def test_no_slice(child: SimpleNamespace) -> None:
    with pytest.raises(child.slicing.SliceError, match="calls none of the 1 handlers"):
        child.slicing.build(Record, {**SPEC, "handlers": ["_handle_gone"], "fields": []})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_marked_values(child: SimpleNamespace, value: Any) -> None:
    encoded = child.values.encode(child.values.marked(value))
    assert child.values.encode(child.values.marked(copy.deepcopy(value))) == encoded
    encoded.decode()
