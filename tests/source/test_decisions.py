"""What counts as a decision, in the order of the text."""

from __future__ import annotations

import ast

import pytest

from harness.source.decisions import conditions_of, decisions_in

TEXTS = {
    "if a: pass": ["a"],
    "while not a: pass": ["a"],
    "assert a and b, c": ["a", "b"],
    "x = 1 if a else 2": ["a"],
    "x = [y for y in z if y.a if not y.b]": ["y.a", "y.b"],
    "x = a == 1": ["a == 1"],
    "x = a < b < c": ["a < b < c"],
    "x = a or (b and not c)": ["a", "b", "c"],
    "x = a or 'auto'": ["a"],
    "x = a or ('one' if b else 'two')": ["a", "b"],
    "x = -a": [],
    "if f(a, b > 1): pass": ["f(a, b > 1)", "b > 1"],
    "while True: pass": [],
    "match a:\n case 1 if b: pass": ["b"],
    "x = not (a in b)": ["a in b"],
}


@pytest.mark.parametrize("text", TEXTS)
def test_decisions_are_the_single_conditions(text: str) -> None:
    found = sorted(decisions_in(ast.parse(text)), key=lambda node: (node.lineno, node.col_offset))
    assert [ast.unparse(node) for node in found] == TEXTS[text]


def test_a_whole_test_is_one_expression() -> None:
    statement = ast.parse("if a and not b: pass").body[0]
    assert [ast.unparse(test) for test in conditions_of(statement)] == ["a and (not b)"]
    assert conditions_of(ast.parse("a = b").body[0]) == []
