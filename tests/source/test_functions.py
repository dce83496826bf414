"""Functions, their names, parameters and arguments, as the text of a module defines them."""

from __future__ import annotations

import ast
import textwrap

from harness.source.calls import arguments_of, called_name, calls_in, defaults, given, positional
from harness.source.constants import assignments, literals
from harness.source.functions import defined_in, defined_names, function_at, needed
from harness.source.nodes import FUNCTIONS, Function, heads, in_order, inside, last_name
from harness.source.scopes import aliases, parameters_of, scopes_in, starred_of, times_bound


def function(text: str) -> Function:
    node = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(node, FUNCTIONS)
    return node


MODULE = textwrap.dedent(
    """\
    class A:
        if x:
            @first
            @second
            def m(self):
                def inner(): pass
                class B:
                    def k(self): pass
    def f():
        pass
    try:
        def g(): pass
    except E:
        pass
    """
)


def test_every_function_has_its_full_name_and_what_it_is_defined_in() -> None:
    assert [(one.qualified, one.owner and one.owner.name, one.is_inner) for one in defined_in(ast.parse(MODULE))] == [
        ("A", None, False),
        ("A.m", "A", False),
        ("A.m.inner", None, True),
        ("A.m.B", None, True),
        ("A.m.B.k", "B", True),
        ("f", None, False),
        ("g", None, False),
    ]


def test_a_line_belongs_to_the_innermost_function_around_it() -> None:
    found = defined_in(ast.parse(MODULE))
    lines = {line: function_at(found, line).name for line in range(1, 13)}
    assert lines == {
        1: "",
        2: "",
        3: "A.m",
        4: "A.m",
        5: "A.m",
        6: "A.m.inner",
        7: "A.m",
        8: "A.m.B.k",
        9: "f",
        10: "f",
        11: "",
        12: "g",
    }


def test_the_names_that_a_statement_of_a_module_defines() -> None:
    for text, names in (
        ("def f(a): b = 1", ["f"]),
        ("class A: b = 1", ["A"]),
        ("a = b.c = (d, e) = 1", ["a", "d", "e"]),
        ("a: int", ["a"]),
        ("a.b: int = 1", []),
        ("from a import b as c", ["c"]),
        ("if a: b = 1\nelse: c = 2", ["b", "c"]),
        ("try: import a\nexcept E as e: a = None\nelse: b = 1\nfinally: c = 1", ["a", "a", "b", "c"]),
        ("with a as b: c = 1", ["c"]),
        ("for a in b: c = 1", []),
        ("a.b()", []),
    ):
        assert defined_names(ast.parse(text).body[0]) == names


def test_what_a_part_of_a_module_needs() -> None:
    text = """
        from __future__ import annotations
        import a, b
        LIMIT = b.LIMIT
        if a:
            def f(x): return LIMIT + g(x)
        def g(x): return x.h
        def h(): pass
        A, B = LIMIT, h
    """
    tree = ast.parse(textwrap.dedent(text))
    lines = {name: [one.lineno for one in needed(tree, [name])] for name in ("f", "g", "B", "missing")}
    assert lines == {"f": [2, 3, 4, 5, 7], "g": [2, 7], "B": [2, 3, 4, 8, 9], "missing": [2]}
    assert [one.lineno for one in needed(tree, ["f"], answered=["LIMIT", "a"])] == [2, 5, 7]


def test_each_parameter_has_its_argument() -> None:
    node = function("def f(self, a, /, b=1, *rest, c, d=2, **more): pass")
    assert positional(node) == ["self", "a", "b"]
    assert {name: ast.unparse(value) for name, value in defaults(node).items()} == {"b": "1", "d": "2"}
    assert list(parameters_of(node)) == ["self", "a", "b", "c", "d", "rest", "more"]
    assert starred_of(node) == {"rest", "more"}

    def bound(text: str) -> tuple[dict[str, str], list[str], bool]:
        (call,) = calls_in(ast.parse(text))
        found = arguments_of(call, node, skipped=1)
        names = {name: ast.unparse(value) for name, value in found.by_name.items()}
        return names, [ast.unparse(item) for item in found.rest], found.is_whole

    assert bound("x.f(1, 2, 3, 4, c=5)") == ({"a": "1", "b": "2", "c": "5"}, ["3", "4"], True)
    assert bound("x.f(1, *y)") == ({"a": "1"}, [], False)
    assert bound("x.f(1, c=2, **y)") == ({"a": "1", "c": "2"}, [], False)


def test_a_statement_that_calls_and_does_nothing_else() -> None:
    assert [called_name(statement) for statement in ast.parse("a.f()\ng(1)\nx = h()\ny").body] == ["f", "g", "", ""]
    (call,) = calls_in(ast.parse("f(a, b=c)"))
    assert [ast.unparse(item) for item in given(call)] == ["a", "c"]


def test_how_often_a_function_binds_a_name() -> None:
    node = function(
        """
        def f(a, b):
            c = d = 1
            c += 1
            for e, in a: pass
            with a as g: import h.i, j as k
            try: pass
            except E as l: del m
            match a:
                case [n, *o]: pass
                case {"p": q, **r}: pass
            s: int
            [t for t in a if (u := t)]
            global v
            def w():
                nonlocal d
                x = 1
            lambda: (y := 1)
            class Z: zz = 1
        """
    )
    assert times_bound(node) == {
        **dict.fromkeys(["e", "g", "h", "k", "l", "n", "o", "q", "r", "s", "t", "u", "w", "Z"], 1),
        "c": 2,
        "d": 3,
        "m": 2,
        "v": 2,
    }


def test_aliases_are_plain_assignments_of_the_body() -> None:
    node = function("def f(a):\n    b = a\n    c: int = b\n    if a: d = a\n    e, g = a, b")
    assert [(name, ast.unparse(value)) for name, value in aliases(node)] == [("b", "a"), ("c", "b")]


def test_functions_and_lambdas_come_in_the_order_of_the_text() -> None:
    tree = ast.parse("@d(lambda: 1)\ndef f(a=lambda: 2): pass\ng = lambda: 3")
    assert [type(scope).__name__ for scope in scopes_in(tree)] == ["FunctionDef", "Lambda", "Lambda", "Lambda"]


def test_a_compound_statement_has_heads_and_statements_inside() -> None:
    statement = ast.parse("try: a\nexcept E: b\nelse: c\nfinally: d").body[0]
    assert [block for block, _ in inside(statement)] == ["body", "handlers", "orelse", "finalbody"]
    assert [ast.unparse(head) for head in heads(ast.parse("with a as b: c").body[0])] == ["a as b"]
    assert inside(ast.parse("def f(): a").body[0]) == []


def test_nodes_come_in_the_order_of_running() -> None:
    names = [last_name(node) for node in in_order(ast.parse("a.b = c(d)\ndef f(): g"))]
    assert [name for name in names if name] == ["c", "d", "b", "a"]


def test_constants_are_read_through_names_and_choices() -> None:
    tree = ast.parse("A = ('x', 1)\nB: int = 2\nC = D = 3\nE, F = 4, 5")
    assert [name for name, _ in assignments(tree.body)] == ["A", "B"]
    assert [name for name, _ in assignments(tree.body, annotated=False)] == ["A"]
    value = ast.parse("[A, 'y' if z else None, {'k': 'v'}, f(), b'z']", mode="eval").body
    assert literals(value, {"A": ["x", 1]}) == ["x", 1, "y", None, "k"]
