"""What leads to a place, read from made-up sources: conditions of all kinds, calls, assignments, what is left out."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import pytest
from made_up_trees import make_tree, subject_of

from harness.subjects.child.aims.harvest import harvest

FIELDS = ("backend", "dtype", "page_size", "quant", "flag", "ranks", "groups", "graphs", "device")
Plain = dict[str, Any]


def found(source: str, *roots: str, **more: Any) -> Plain:
    return harvest({"made_up": textwrap.dedent(source)}, roots or ("run",), FIELDS, **more)


def words(condition: Any) -> str:
    kind, name, operation, values, wanted = condition
    said = operation if operation in ("true", "set") else f"{operation} {list(values)}"
    return f"{'' if wanted else 'not '}{kind} {name} {said}"


def ways(plain: Plain) -> list[list[list[str]]]:
    """Return each place's ways in words: clauses joined by ``;``, alternatives by ``|``, conditions by ``&``."""
    conditions = [words(condition) for condition in plain["conditions"]]
    clauses = [
        " | ".join(" & ".join(conditions[number] for number in one) for one in clause) for clause in plain["clauses"]
    ]
    return [[[clauses[number] for number in aim] for aim in place] for place in plain["places"]]


def way(test: str, before: str = "pass", top: str = "") -> list[str]:
    """Return the clauses on the way to a write under ``if test``."""
    source = f"{textwrap.dedent(top)}\ndef run(self):\n    {before}\n    if {test}:\n        self.dtype = 'x'\n"
    places = ways(found(source))
    # The other outcome of the test is a place, too.
    assert len(places) <= 2 and all(len(place) == 1 for place in places), places
    return places[0][0]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("self.backend == 'a'", ["arg backend is ['a']"]),
        ("'a' == self.backend", ["arg backend is ['a']"]),
        ("self.backend != 'a'", ["not arg backend is ['a']"]),
        ("self.backend is None", ["arg backend is [None]"]),
        ("self.backend is not None", ["not arg backend is [None]"]),
        ("self.backend in ('a', 'b')", ["arg backend is ['a', 'b']"]),
        ("self.backend not in ['a', 'b']", ["not arg backend is ['a', 'b']"]),
        ("self.backend in {'a'}", ["arg backend is ['a']"]),
        ("self.backend in NAMES", ["arg backend is ['a', 'b']"]),
        ("self.backend in (*NAMES, 'c')", ["arg backend is ['a', 'b', 'c']"]),
        ("self.backend == MINE", ["arg backend is ['a']"]),
        ("self.backend.lower() == 'a'", ["arg backend is ['a']"]),
        ("self.flag", ["arg flag true"]),
        ("not self.flag", ["not arg flag true"]),
        ("bool(self.flag)", ["arg flag true"]),
        ("self.ranks > 1", ["arg ranks > [1]"]),
        ("1 < self.ranks", ["arg ranks > [1]"]),
        ("self.ranks == self.groups", ["arg ranks same ['groups']"]),
        ("self.ranks < self.groups", ["arg ranks under ['groups']"]),
        ("self.ranks <= self.groups", ["arg ranks upto ['groups']"]),
        ("self.ranks > self.groups", ["arg groups under ['ranks']"]),
        ("self.ranks >= self.groups", ["arg groups upto ['ranks']"]),
        ("self.ranks % self.groups == 0", ["arg ranks multiple ['groups']"]),
        ("0 != self.ranks % self.groups", ["not arg ranks multiple ['groups']"]),
        ("not self.ranks % self.groups", ["arg ranks multiple ['groups']"]),
        ("self.ranks == hf_config.heads", ["arg ranks same ['heads', 'model']"]),
        ("hf_config.heads == self.ranks", ["arg ranks same ['heads', 'model']"]),
        ("self.ranks <= envs.SOME_NAME.get()", ["arg ranks upto ['SOME_NAME', 'env']"]),
        ("self.ranks > envs.SOME_NAME.get()", ["env SOME_NAME under ['ranks']"]),
        ("self.page_size // self.groups == 8", ["arg groups is [1] & arg page_size is [8] | not arg groups is [1]"]),
        ("self.ranks in (1, self.groups)", ["arg ranks is [1] | arg ranks same ['groups']"]),
        ("self.flag and self.backend == 'a'", ["arg flag true & arg backend is ['a']"]),
        ("self.flag or self.backend == 'a'", ["arg flag true | arg backend is ['a']"]),
        ("not (self.flag and self.backend == 'a')", ["not arg flag true | not arg backend is ['a']"]),
        ("not (self.flag or self.backend == 'a')", ["not arg flag true & not arg backend is ['a']"]),
        (
            "(self.dtype or self.backend) == 'a'",
            ["arg dtype is ['a'] | not arg dtype true & arg backend is ['a']"],
        ),
        ("args.page_size == 64", ["arg page_size is [64]"]),
        ("getattr(args, 'page_size', 1) == 64", ["arg page_size is [64]"]),
        ("self.graphs.decode.mode == Mode.OFF", ["arg graphs.decode.mode is ['off']"]),
        ("is_hip()", ["call is_hip true"]),
        ("not is_hip()", ["not call is_hip true"]),
        ("get_device_sm() >= 80", ["call get_device_sm >= [80]"]),
        ("get_nvidia_driver_version() >= (595,)", ["call get_nvidia_driver_version >= [(595,)]"]),
        ("(8, 0) <= torch.cuda.capability() < (9, 0)", ["call capability >= [(8, 0)] & call capability < [(9, 0)]"]),
        ("envs.SOME_NAME.get()", ["env SOME_NAME true"]),
        ("envs.SOME_NAME.get().lower() == 'on'", ["env SOME_NAME is ['on']"]),
        ("not envs.SOME_NAME.is_set()", ["not env SOME_NAME set"]),
        ("os.environ.get('SOME_NAME') == '1'", ["env SOME_NAME is ['1']"]),
        ("get_bool_env_var('SOME_NAME')", ["env SOME_NAME true"]),
        ("hf_config.architectures[0] in NAMES", ["model architectures.0 is ['a', 'b']"]),
        ("'Step' in hf_config.architectures[0]", ["model architectures.0 contains ['Step']"]),
        ("model.uses_mla", ["model attention_arch is ['AttentionArch.MLA']"]),
        ("model.architecture in NAMES", ["model architectures.0 is ['a', 'b']"]),
        ("model_config.quant == 'fp8'", ["model quant is ['fp8']"]),
        ("self.get_model_config().attention_arch == Arch.MLA", ["model attention_arch is ['Arch.MLA']"]),
        ("hf_config.quantization_config.get('method') == 'fp8'", ["model quantization_config.method is ['fp8']"]),
        ("getattr(hf_config, 'index', None) is not None", ["not model index is [None]"]),
        # What is not understood is left out.
        ("self.flag and self.ranks % 2 == 0", ["arg flag true"]),
        ("self.flag or self.ranks % 2 == 0", ["arg flag true"]),
        ("self.flag and all(x for x in self.page_size)", ["arg flag true & call all true"]),
    ],
)
def test_a_test_becomes_conditions(test: str, expected: list[str]) -> None:
    top = """
    MINE = "a"
    NAMES = (MINE, "b")
    class Mode:
        OFF = "off"
    class Arch(IntEnum):
        MLA = auto()
    """
    assert way(test, top=top) == expected


def test_a_test_that_is_not_understood_makes_no_aim() -> None:
    assert found("def run(self):\n    if self.ranks % 2:\n        self.dtype = 'x'\n")["places"] == []
    assert found("def run(self):\n    if [*map(str, ())] @ 3:\n        raise ValueError\n")["places"] == []


def test_nested_tests_add_up() -> None:
    source = """
    def run(self):
        if self.flag:
            if self.backend == "a":
                self.dtype = "x"
    """
    assert [["arg flag true", "arg backend is ['a']"]] in ways(found(source))


def test_later_branches_were_not_earlier_ones() -> None:
    source = """
    def run(self):
        if self.backend == "a":
            self.dtype = "x"
        elif self.backend == "b":
            self.dtype = "y"
        else:
            self.dtype = "z"
    """
    last = [["not arg backend is ['a']", "not arg backend is ['b']"]]
    assert last in ways(found(source))


def test_what_left_before_did_not_happen() -> None:
    source = """
    def run(self):
        if self.flag:
            return
        if self.backend is None:
            raise ValueError
        assert self.ranks > 1
        self.dtype = "x"
    """
    places = ways(found(source))
    assert [["not arg flag true", "not arg backend is [None]", "arg ranks > [1]"]] in places
    assert [["not arg flag true", "not arg backend is [None]", "not arg ranks > [1]"]] in places


def test_refusals_are_told() -> None:
    source = """
    def run(self):
        if self.flag:
            self.dtype = "x"
        assert self.ranks > 1
        if self.backend is None:
            raise ValueError
    """
    plain = found(source)
    refusals = [ways(plain)[number] for number in plain["refusals"]]
    assert refusals == [
        [["not arg ranks > [1]"]],
        [["not arg ranks > [1] & arg backend is [None]"]],
        [["arg ranks > [1]", "arg backend is [None]"]],
    ]


def test_a_helper_has_the_conditions_of_each_of_its_callers() -> None:
    source = """
    def run(self):
        if self.backend == "a":
            self._help("one")
        elif self.flag:
            help_too(self, kind="two")

    def _help(self, kind):
        help_too(self, kind)

    def help_too(record, kind):
        if kind == "two" and record.page_size is None:
            record.dtype = "x"
        if kind == "one":
            record.dtype = "y"
    """
    places = ways(found(source))
    assert [["not arg backend is ['a']", "arg flag true", "arg page_size is [None]"]] in places
    # Where the parameter is known, the test is none.
    assert [["arg backend is ['a']"]] in places


def test_what_a_helper_refuses_does_not_come_back() -> None:
    source = """
    def run(self):
        self._check("a", "b")
        if self.flag:
            self.dtype = "x"

    def _check(self, *accepted):
        assert self.backend in accepted
    """
    places = ways(found(source))
    assert [["not arg backend is ['a', 'b']"]] in places
    assert [["arg backend is ['a', 'b']", "arg flag true"]] in places


def test_small_predicates_are_looked_into() -> None:
    source = """
    def run(self):
        prefill, decode = self.backends()
        mla = self.uses_mla()
        if self.is_unset() and mla:
            self.dtype = "x"
        if decode == "a":
            self.page_size = 1

    def is_unset(self):
        \"\"\"Say whether.\"\"\"
        return self.backend is None and self.dtype is None

    def uses_mla(self):
        config = self.get_model_config()
        if config.attention_arch == "mla":
            return True
        return False

    def backends(self):
        return self.dtype, self.backend
    """
    places = ways(found(source))
    assert [["arg backend is [None] & arg dtype is [None] & model attention_arch is ['mla']"]] in places
    assert any("arg backend is ['a']" in aim[-1] for place in places for aim in place)


def test_a_predicate_that_may_raise_says_what_it_returns_else() -> None:
    source = """
    def run(self):
        if wanted_ranks(hf_config) is not None and self.ranks // self.groups != wanted_ranks(hf_config):
            self.dtype = "x"

    def wanted_ranks(config):
        layout = getattr(config, "layout", None)
        if layout is None:
            return None
        if layout != "fused":
            raise ValueError(layout)
        heads: int = config.heads
        return heads
    """
    clauses = [clause for place in ways(found(source)) for way in place for clause in way]
    asked = "not model layout is [None] & not model heads is [None] & arg groups is [1]"
    assert any(f"{asked} & not arg ranks same ['heads', 'model']" in clause for clause in clauses), clauses


def test_a_function_understood_in_part_is_asked_by_name() -> None:
    source = """
    def kind_of(url):
        found = re.match("x", url)
        if found is None:
            return ""
        return found.group(1)

    def run(self):
        if kind_of(self.backend) == "instance":
            self.dtype = "x"
    """
    assert [["call kind_of is ['instance']"]] in ways(found(source))


def test_what_was_assigned_before_is_known() -> None:
    source = """
    def run(self):
        self._defaults()
        if self.backend is None:
            self.dtype = "x"

    def _defaults(self):
        if self.device == "cpu" and self.backend is None:
            self.backend = "native"
    """
    assert [["not arg device is ['cpu'] & arg backend is [None]"]] in ways(found(source))


def test_a_place_that_cannot_be_reached_has_no_aim() -> None:
    source = """
    def run(self):
        self.backend = "a"
        if self.backend is None:
            self.dtype = "x"
        if self.backend == "a" and self.flag:
            self.dtype = "y"
    """
    assert ways(found(source)) == [[["arg flag true"]], [["not arg flag true"]]]


def test_roots_see_what_roots_before_them_assigned() -> None:
    source = """
    def first(self):
        self.backend = "a"

    def second(self):
        if self.backend == "b":
            self.dtype = "x"
        if self.flag:
            self.dtype = "y"
    """
    assert ways(found(source, "first", "second")) == [[["arg flag true"]], [["not arg flag true"]]]


def test_branches_of_expressions_are_places() -> None:
    source = "def run(self):\n    self.dtype = 'x' if self.flag else 'y'\n"
    assert ways(found(source)) == [[["arg flag true"]], [["not arg flag true"]]]


def test_declared_values_and_the_environment_are_written_too() -> None:
    source = """
    def run(self):
        overrides = {}
        if self.flag:
            overrides["dtype"] = "x"
        if self.ranks > 1:
            envs.SOME_NAME.set(True)
    """
    places = ways(found(source))
    assert [["arg flag true"]] in places and [["arg ranks > [1]"]] in places


def test_places_say_which_fields_they_write_and_read() -> None:
    source = """
    def run(self):
        if self.flag:
            self.dtype, self.backend = "x", "y"
        declared = {}
        if self.ranks > 1:
            declared["dtype"] = "x"
            declared |= {"page_size": 1, "unknown": 2}
        if self.groups > 1:
            return {"backend": other(self.page_size // 2)}
    """
    plain = found(source)
    places = ways(plain)

    def told(what: str) -> dict[str, set[str]]:
        fields: dict[str, set[str]] = {}
        for number, field in plain[what]:
            fields.setdefault(places[number][0][0], set()).add(field)
        return fields

    assert told("readers") == {"arg groups > [1]": {"page_size"}}
    assert told("writers") == {
        "arg flag true": {"dtype", "backend"},
        "arg ranks > [1]": {"dtype", "page_size"},
        "arg groups > [1]": {"backend"},
    }


def test_registered_functions_are_for_the_architectures_they_name() -> None:
    source = """
    @registry.register("AForCausalLM", "BForCausalLM")
    def first(view):
        if view.flag:
            return {"dtype": "x"}

    @register_by(lambda name: "Step" in name)
    def second(view):
        return {"dtype": "y"}
    """
    places = ways(found(source, registrations=("register", "register_by")))
    assert [["model architectures.0 is ['AForCausalLM', 'BForCausalLM']", "arg flag true"]] in places
    assert [["model architectures.0 contains ['Step']"]] in places


def test_two_branches_in_a_row_are_taken_together_too() -> None:
    source = """
    def run(self):
        if self.flag:
            self.dtype = "x"
        if self.ranks > 1:
            self.dtype = "y"
        elif self.backend == "a":
            raise ValueError
        if self.groups > 1:
            self.dtype = "z"
    """
    places = ways(found(source))
    assert [["arg flag true & arg ranks > [1]"]] in places
    assert not [place for place in places if "arg groups > [1]" in str(place) and "arg flag" in str(place)]


def test_two_checks_in_a_row_refuse_together_too() -> None:
    source = """
    def run(self):
        if self.flag:
            raise ValueError
        assert self.ranks > 1
        if self.backend == "a":
            raise KeyError
    """
    plain = found(source)
    refusals = [ways(plain)[number] for number in plain["refusals"]]
    assert [["arg flag true & not arg ranks > [1]"]] in refusals
    assert [["not arg flag true", "not arg ranks > [1] & arg backend is ['a']"]] in refusals


def test_what_a_decorator_says_must_hold_is_on_the_way() -> None:
    source = """
    def flagged(view):
        return view.flag

    def one_of(*names):
        return lambda view: view.backend in names

    is_known = one_of("a", "b")

    @step(when=flagged)
    def first(view):
        if view.ranks > 1:
            return {"dtype": "x"}

    @step(when=one_of("c", "d"))
    def second(view):
        return {"dtype": "y"}

    @step(when=lambda view: not view.flag and is_known(view))
    def third(view):
        return {"dtype": "z"}

    @step(when=looked_up["name"])
    def fourth(view):
        if view.ranks > 7:
            return {"dtype": "z"}
    """
    places = ways(found(source, "first", "second", "third", "fourth"))
    assert [["arg flag true", "arg ranks > [1]"]] in places
    assert [["arg backend is ['c', 'd']"]] in places
    assert [["not arg flag true & arg backend is ['a', 'b']"]] in places
    # What is not understood is left out.
    assert [["arg ranks > [7]"]] in places


def test_functions_that_call_each_other_end() -> None:
    source = """
    def run(self):
        if self.flag:
            other(self)

    def other(self):
        if is_odd(self.ranks):
            run(self)
        self.dtype = "x"

    def is_odd(value):
        return is_even(value)

    def is_even(value):
        return is_odd(value)

    LOOP = (LOOP, "a")
    """
    assert [["arg flag true"]] in ways(found(source))


def test_there_is_a_limit_to_ways_and_to_what_is_read() -> None:
    calls = "\n".join(f"    if self.page_size == {number}:\n        helper(self)" for number in range(100))
    source = f"def run(self):\n{calls}\ndef helper(self):\n    self.dtype = 'x'\n"
    assert max(map(len, ways(found(source)))) <= 12
    # Nested deeper than Python follows.
    chain = "".join(f"    elif self.page_size == {number}:\n        self.dtype = 'x'\n" for number in range(380))
    deep = f"def run(self):\n    if self.flag:\n        self.dtype = 'y'\n{chain}"
    assert ways(found(deep))[0] == [["arg flag true"]]


def test_syntax_of_all_kinds_is_followed_or_left_alone() -> None:
    source = """
    async def run(self, *rest, **named):
        global SOMETHING
        with open("x") as file, lock:
            if self.flag:
                self.dtype = "x"
        for one in rest:
            if self.ranks > 1:
                self.page_size += 1
        while self.quant:
            break
        try:
            if self.backend == "a":
                raise ValueError
        except (KeyError, OSError):
            self.dtype = "z"
        finally:
            del file
        match self.backend:
            case "m":
                self.dtype = "m"
        (self.quant, (self.page_size, *_)) = 1, (2, 3)
        self.graphs.decode.mode: str = "off"
        if (found := self.groups) == 4:
            self.dtype = f"{found!r}"
        if lambda: 0:
            self.dtype = [x async for x in rest]
        x = yield
        return await self
    """
    places = ways(found(source))
    for expected in ("arg flag true", "arg ranks > [1]", "arg backend is ['a']", "arg groups is [4]"):
        assert any(expected in aim[-1] for place in places for aim in place), expected


def test_the_same_sources_give_the_same_aims_whatever_hashes_are() -> None:
    program = (
        "import json, sys\n"
        "from harness.subjects.child.aims.harvest import harvest\n"
        "source = 'def run(self):\\n if self.a in {1, 2, 3, \"x\"} or self.b in (NAMES | {4}):\\n  self.a = 1\\n'\n"
        "print(json.dumps(harvest({'m': source}, ['run'], ['b', 'a', 'c'])))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["places"]


@pytest.mark.parametrize("sliced", [True, False])
def test_a_tree_says_what_leads_to_its_places(sliced: bool, tmp_path: Path) -> None:
    body = "if self.tp_size > 4 and is_cuda():\n    raise ValueError('too many')"
    with subject_of(make_tree(tmp_path, body=body), slice=sliced) as subject:
        aims = subject.describe().aims
    said = [
        {words(msgspec.to_builtins(aims.conditions[number])) for clause in aim for number in aims.clauses[clause][0]}
        for place in (aims.places[number] for number in aims.refusals)
        for aim in place
    ]
    assert {"arg attention_backend is ['bad']", "arg tp_size > [4]", "call is_cuda true"} in said
    assert {"arg tp_size < [1]"} in said


def test_only_plain_constants_are_said() -> None:
    for text in ("b'x'", "1e999", "1j", "...", "10 ** 99", str(10**30)):
        json.dumps(found(f"def run(self):\n    if self.flag and self.backend == {text}:\n        self.dtype = 'x'\n"))
        assert way(f"self.flag and self.backend == {text}") == ["arg flag true"]
