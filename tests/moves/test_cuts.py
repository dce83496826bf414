"""What of one function decides a field."""

from __future__ import annotations

import ast
import textwrap

from harness.moves.cuts import FieldCutter
from harness.source.nodes import FUNCTIONS
from harness.source.sites import Sites


def kept(text: str) -> list[int]:
    """Return the lines of the function's statements that are kept for ``page_size``, from 1."""
    tree = ast.parse(textwrap.dedent(text).strip())
    (function,) = tree.body
    assert isinstance(function, FUNCTIONS)
    sites = Sites(["page_size", "dtype"])
    sites.add(tree, "m.py")
    written = {site.node: str(site.field) for site in sites.writes}
    lines, _ = FieldCutter(written).cut(function, "page_size", frozenset())
    return [line.number for line in lines[1:]]


def test_a_write_is_kept_with_its_conditions_and_what_its_value_needs() -> None:
    text = """
        def f(self, given):
            size = given.size
            name = given.name
            if given.fast:
                size += 1
                log(name)
            self.dtype = name
            if size > 1:
                self.page_size = size
    """
    assert kept(text) == [2, 4, 5, 8, 9]


def test_a_list_that_is_filled_is_needed_and_what_leaves_the_function_is_kept() -> None:
    text = """
        def f(self, given):
            sizes = []
            sizes.append(given.size)
            if given.done:
                return
            self.page_size = sizes
            raise ValueError
    """
    assert kept(text) == [2, 3, 4, 5, 6]


def test_a_match_that_binds_a_needed_name_is_kept() -> None:
    """Names that a pattern binds were not taken for bound: a change of what is matched moved no field."""
    text = """
        def f(self, given):
            match given.sizes:
                case [_, size]:
                    pass
            self.page_size = size
    """
    assert kept(text)[0] == 2
