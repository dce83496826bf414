"""What counts as a read by name."""

from __future__ import annotations

import ast

import pytest

from harness.source.reads import reads_in

FORMS = {
    "y = x.a": [("attribute", "a")],
    "x.a.b = 1": [("attribute", "a")],
    "x.a += 1": [],
    "y = x['a'] + x[a]": [("item", "a")],
    "y = getattr(x, 'a', None) or hasattr(x, 'b')": [("getattr", "a"), ("hasattr", "b")],
    "y = getattr(x, name)": [],
    "y = os.getenv('A', 'B')": [("attribute", "getenv"), ("variable", "A")],
    "y = envs.A.get()": [("attribute", "get"), ("variable", "A")],
}


@pytest.mark.parametrize("text", FORMS)
def test_each_form_is_a_read_by_name_or_none(text: str) -> None:
    assert sorted((read.form, read.name) for read in reads_in(ast.parse(text))) == FORMS[text]
