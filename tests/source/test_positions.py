"""Nodes of `ast` and of libcst that are the same text are found by their span."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import libcst.matchers as m
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libcst.metadata import MetadataWrapper, PositionProvider

from harness.source.decisions import decisions_in
from harness.source.positions import CharacterColumns, NodeSpan, span_of, text_at
from harness.source.writes import writes_in

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES = sorted(path for package in ("legacy", "declarative") for path in (ROOT / package).rglob("*.py"))


def spans_of(text: str, kind: type[cst.CSTNode] | tuple[type[cst.CSTNode], ...]) -> list[NodeSpan]:
    """Return the spans that libcst gives the nodes of a kind."""
    wrapper = MetadataWrapper(cst.parse_module(text))
    places = wrapper.resolve(PositionProvider)
    ranges = [places[node] for node in m.findall(wrapper.module, m.MatchIfTrue(lambda node: isinstance(node, kind)))]
    return [NodeSpan(one.start.line, one.start.column, one.end.line, one.end.column) for one in ranges]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_found_in_our_packages_is_found_by_libcst(path: Path) -> None:
    text = path.read_text()
    columns, tree = CharacterColumns(text), ast.parse(text)
    targets = [write for write in writes_in(tree) if write.form in ("attribute", "item")]
    assert columns.by_span(targets).keys() <= set(spans_of(text, (cst.Attribute, cst.Subscript)))
    compared = {columns.span(node) for node in decisions_in(tree) if isinstance(node, ast.Compare)}
    assert compared == set(spans_of(text, cst.Comparison))


words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="'\\"), max_size=6)


@given(st.lists(words, min_size=1, max_size=5), st.sampled_from(["\n", "\r\n", "\r"]))
def test_columns_count_characters_whatever_is_before(texts: list[str], ending: str) -> None:
    text = ending.join(f"f('{word}', x.a, '{word}')[0].b = '{word}'" for word in texts) + ending
    found = CharacterColumns(text).by_span(writes_in(ast.parse(text)))
    assert len(found) == len(texts)
    assert found.keys() <= set(spans_of(text, cst.Attribute))


def test_text_at_a_span_is_on_one_line() -> None:
    text = "x = 'ü' or (a +\n    b)"
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.Assign) and isinstance(node.value, ast.BoolOp)
    assert text_at(text.encode().splitlines(), span_of(node.value.values[1])) == "a + b"
