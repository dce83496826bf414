"""What counts as a write: every form, by itself and as Python runs it."""

from __future__ import annotations

import ast
import sys
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.source.nodes import last_name
from harness.source.writes import Fields, binds, copies_of, root_name, stored, targets_of, writes_in, writes_of

FORMS = {
    "x.a = 1": [("attribute", "a")],
    "x.a = y.b = 1": [("attribute", "a"), ("attribute", "b")],
    "x.a, (y, *x.b) = 1, (2,)": [("attribute", "a"), ("attribute", "b")],
    "x.a += 1": [("attribute", "a")],
    "x.a: int = 1": [("attribute", "a")],
    "for x.a in y: pass": [("attribute", "a")],
    "with y as x.a: pass": [("attribute", "a")],
    "[1 for x.a in y]": [("attribute", "a")],
    "x['a'] = 1": [("item", "a")],
    "x[a] = 1": [],
    "z = {'a': 1, b: 2, **c}": [("entry", "a")],
    "setattr(x, 'a', 1)": [("setattr", "a")],
    "setattr(x, name, 1)": [],
    "x.setattr('a', 'b', 1)": [],
    "declare(x, 'f', a=1, **b)": [("declared", "a")],
    "view._declare(a=1)": [("declared", "a")],
    "del x.a, x['b']": [("deleted", "a"), ("deleted", "b")],
    "delattr(x, 'a')": [("deleted", "a")],
    "a = x.a": [],
    "x.a == 1": [],
    "(a := 1)": [],
    "replace(x, a=1)": [],
}


@pytest.mark.parametrize("text", FORMS)
def test_each_form_is_a_write_by_name_or_none(text: str) -> None:
    found = sorted((write.form, write.name) for write in writes_in(ast.parse(text)))
    assert found == FORMS[text]


def test_a_write_names_its_object_and_what_is_written() -> None:
    for text, owner, value in (
        ("x.y.a = 1", "x.y", None),
        ("x['a'] = 1", "x", None),
        ("setattr(x.y, 'a', z)", "x.y", "z"),
        ("declare(x, 'f', a=z)", "x", "z"),
        ("({'a': z})", None, "z"),
    ):
        (write,) = writes_in(ast.parse(text))
        assert (write.owner and ast.unparse(write.owner), write.value and ast.unparse(write.value)) == (owner, value)


def test_a_copy_is_a_write_of_its_keywords() -> None:
    def copied(text: str) -> list[tuple[str, str]]:
        return [(write.maker, write.name) for write in copies_of(ast.parse(text, mode="eval").body)]

    assert copied("dataclasses.replace(x, a=1, **b)") == [("replace", "a")]
    assert copied("Config(1, a=1)") == [("Config", "a")]
    assert copied("cls(a=1)") == [("cls", "a")]
    assert copied("function(a=1)") == []


def test_a_dotted_field_is_known_by_its_last_two_names() -> None:
    fields = Fields(["page_size", "graph.decode.backend"])

    def written(text: str) -> list[str]:
        return [field for node in ast.walk(ast.parse(text)) for field, _ in fields.written(node)]

    assert written("self.graph.decode.backend = 1; decode.backend = 2") == ["graph.decode.backend"] * 2
    assert written("self.other.backend = 1; setattr(decode, 'backend', 1)") == []
    assert written("del self.page_size") == []


def test_what_a_statement_binds() -> None:
    for text, form, names in (
        ("a = b.c, d[0] = 1", "assigned", ["a"]),
        ("a, [b, *c] = d", "assigned", ["a", "b", "c"]),
        ("a: int", "annotated", []),
        ("a: int = 1", "annotated", ["a"]),
        ("a |= 1", "augmented", ["a"]),
        ("for a, b in c: d = 1", "for", ["a", "b"]),
        ("with a as b, c as d.e: f = 1", "with", ["b"]),
        ("del a, b", "deleted", ["a", "b"]),
        ("import a.b, c as d", "bare", ["a", "d"]),
        ("from a import b as c, d", "bare", ["c", "d"]),
        ("def f(a): b = 1", "bare", ["f"]),
        ("class A: b = 1", "bare", ["A"]),
    ):
        statement = ast.parse(text).body[0]
        assert {target.form for target in targets_of(statement)} == {form}
        assert list(binds(statement)) == names
    assert list(binds(ast.parse("(a := 1)", mode="eval").body)) == ["a"]


def test_the_object_of_a_target_is_its_first_name() -> None:
    assert root_name(ast.parse("a.b['c'].d", mode="eval").body) == "a"
    assert root_name(ast.parse("f().d", mode="eval").body) == ""


# Programs that write fields of the record ``r``, ``{0}`` being the field: all of them run to their ends.
STATEMENTS = (
    "r.{0} = 1",
    "r.{0} = other = None",
    "r.{0}, name = 1, 2",
    "[name, *r.{0}] = 1, 2",
    "r.{0} += 1",
    "r.{0}: int = 1",
    "for r.{0} in (1,): pass",
    "with manager() as r.{0}: pass",
    "with manager() as name, manager() as (r.{0}, name): pass",
    "kept = [1 for r.{0} in (1,)]",
    "setattr(r, '{0}', 1)",
    "if (name := r.{0}) is not None: pass",
    "kept = r.{0} == 1",
    "kept = lambda: setattr(r, '{0}', 1); kept()",
)


class _Record:
    """Takes note of the line of each attribute that is set."""

    def __init__(self) -> None:
        vars(self).update(a=1, b=2, c=3, seen=[])

    def __setattr__(self, name: str, value: object) -> None:
        vars(self)["seen"].append((sys._getframe(1).f_lineno, name))
        vars(self)[name] = 1


@contextmanager
def _manager() -> Any:
    yield 1, 2


@given(st.lists(st.tuples(st.sampled_from(STATEMENTS), st.sampled_from("abc")), min_size=1, max_size=12))
def test_what_python_sets_is_what_is_found(program: list[tuple[str, str]]) -> None:
    text = "\n".join(form.format(field) for form, field in program)
    record, tree = _Record(), ast.parse(text)
    exec(compile(tree, "program", "exec"), {"r": record, "manager": _manager})
    writes = [write for write in writes_in(tree) if last_name(write.owner) == "r"]
    assert sorted((write.node.lineno, write.name) for write in writes) == sorted(vars(record)["seen"])
    # The targets of the statements are the same writes, but for those by function.
    places = [
        place
        for node in ast.walk(tree)
        for target in targets_of(node)
        if isinstance(target.node, ast.expr)
        for place in stored(target.node)
    ]
    attributes = {write.node for write in writes if write.form == "attribute"}
    assert attributes == {place for place in places if writes_of(place)}
