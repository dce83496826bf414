"""Write sites and decisions of whole files, and the order in which slots reach them."""

from __future__ import annotations

import ast
import textwrap

from harness.source.sites import Sites

NAMES = ("page_size", "dtype", "graph.decode.backend", "graph.prefill.backend")


def sources(*texts: str) -> Sites:
    found = Sites(NAMES)
    for number, text in enumerate(texts):
        found.add(ast.parse(textwrap.dedent(text)), f"m{number}.py")
    return found


def test_every_form_of_assignment_is_a_site_and_reading_is_none() -> None:
    found = sources(
        """
        class Record:
            def one(self):
                self.page_size = self.dtype
                self.page_size, self.dtype = 1, "x"
                self.page_size = other.dtype = None
                self.page_size += 1
                self.dtype: str = "y"
                page_size = 3
                self.pages = 4
                if self.page_size == 1: pass
        """
    )
    assert [(site.field, site.function, site.line) for site in found.writes] == [
        ("page_size", "one", 4),
        ("page_size", "one", 5),
        ("dtype", "one", 5),
        ("page_size", "one", 6),
        ("dtype", "one", 6),
        ("page_size", "one", 7),
        ("dtype", "one", 8),
    ]


def test_a_dotted_field_is_known_by_its_last_two_names() -> None:
    found = sources(
        """
        def f(self):
            self.graph.decode.backend = "a"
            prefill = self.graph.prefill
            prefill.backend = "b"
            self.other.backend = "c"
        """
    )
    assert [site.field for site in found.writes] == ["graph.decode.backend", "graph.prefill.backend"]


def test_slots_reach_sites_in_the_order_of_the_calls() -> None:
    found = sources(
        """
        def second(self):
            self.page_size = 2
            helper(self)
        def first(self):
            self.dtype = choose(self)
            helper(self)
            self.page_size = 1
        """,
        """
        def choose(self):
            self.page_size = 0
        def helper(self):
            self.page_size = 3
            first(self)
        def nobody(self):
            self.page_size = 4
        """,
    )
    listed, _ = found.in_slot_order([("A", "first"), ("B", "second")])
    # A site that no slot reaches is not listed.
    assert [(slot, site.field, site.function) for slot, site in listed] == [
        ("A", "page_size", "choose"),
        ("A", "dtype", "first"),
        ("A", "page_size", "helper"),
        ("A", "page_size", "first"),
        ("B", "page_size", "second"),
    ]


def test_declarations_are_sites_and_other_keys_are_none() -> None:
    found = sources(
        """
        TABLE = {"page_size": 1}
        def f(view):
            declared = {"page_size": 64, "other": view.dtype, **more}
            declared["dtype"] = "x"
            declared["nothing"] = declared["page_size"]
            setattr(view, "page_size", 3)
            setattr(view, name, 3)
            return {"dtype": "y"} if view else {}
        """
    )
    assert [(site.field, site.line) for site in found.writes] == [
        ("page_size", 4),
        ("dtype", 5),
        ("page_size", 7),
        ("dtype", 9),
    ]


def texts(text: str) -> list[str]:
    source = textwrap.dedent(text)
    found = Sites(NAMES)
    found.add(ast.parse(source), "m.py")
    return [site.text(source.encode().splitlines()) for site in found.decisions]


def test_decisions_are_the_single_conditions() -> None:
    assert texts(
        """
        LIMIT = 1 if a else 2
        def f(self, x: 1 if b else 2):
            if self.a and not (self.b == 1 or g(self.c)):
                pass
            elif x in (1,
                       2):
                return 1 if self.d else 2
            while True: break
            assert x is None, "text"
            y = [z for z in x if z.ok if not z.bad]
            known = x == 1
            return x and (y or self.e)
        """
    ) == [
        "self.a",
        "self.b == 1",
        "g(self.c)",
        "x in (1, 2)",
        "self.d",
        "x is None",
        "z.ok",
        "z.bad",
        "x == 1",
        "x",
        "y",
        "self.e",
    ]


def test_the_write_of_a_nested_function_is_listed_once() -> None:
    found = sources(
        """
        def f(self):
            def inner():
                self.page_size = 1
            inner()
            inner()
        """
    )
    listed, _ = found.in_slot_order([("A", "f")])
    assert [(slot, site.field, site.function) for slot, site in listed] == [("A", "page_size", "inner")]


def test_one_of_two_literals_is_no_condition_and_what_chooses_it_is() -> None:
    found = sources(
        """
        def f(self):
            self.dtype = self.given or ("x" if self.fast else "y" if self.old else ())
            self.page_size = self.given or (self.size if self.fast else 1)
        """
    )
    assert [ast.unparse(site.node) for site in found.decisions] == [
        "self.given",
        "self.fast",
        "self.old",
        "self.given",
        "self.size if self.fast else 1",
        "self.fast",
    ]
