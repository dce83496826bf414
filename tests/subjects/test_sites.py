"""Write sites in source: which assignments count, and the order in which slots come to them."""

from __future__ import annotations

import ast
import textwrap

from harness.subjects.child.sites import Sources

NAMES = ("page_size", "dtype", "graph.decode.backend", "graph.prefill.backend")


def sources(*texts: str) -> Sources:
    found = Sources(NAMES)
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
    assert [(site.field, site.source, site.line) for site in found.sites] == [
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
    assert [site.field for site in found.sites] == ["graph.decode.backend", "graph.prefill.backend"]


def test_slots_come_to_sites_in_the_order_of_the_calls() -> None:
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
    listed = found.in_slot_order([("A", "first"), ("B", "second")])
    assert [(slot, site.field, site.source) for slot, site in listed] == [
        ("A", "page_size", "choose"),
        ("A", "dtype", "first"),
        ("A", "page_size", "helper"),
        ("A", "page_size", "first"),
        ("B", "page_size", "second"),
        ("", "page_size", "nobody"),
    ]
