"""Each codemod does what its examples say, and does nothing when it is applied again."""

from __future__ import annotations

import ast

import pytest
from examples import Example, examples_of
from helpers import changed

from codemods.frame.codemod import Codemod
from codemods.mods import catalog

EXAMPLES = [
    pytest.param(codemod, example, id=f"{name}: {example.title}")
    for name, codemod in catalog().items()
    for example in examples_of(name)
]


@pytest.mark.parametrize(("codemod", "example"), EXAMPLES)
def test_an_example_comes_out_as_it_says(codemod: type[Codemod], example: Example) -> None:
    text, left = changed(codemod, example, example.before)
    assert text == (example.before if example.after is None else example.after)
    ast.parse(text)
    assert len(left) == len(example.left)
    for item, words in zip(left, example.left, strict=True):
        assert words in item.reason, item


@pytest.mark.parametrize(("codemod", "example"), EXAMPLES)
def test_what_was_changed_is_not_changed_again(codemod: type[Codemod], example: Example) -> None:
    once, _ = changed(codemod, example, example.before)
    again, _ = changed(codemod, example, once)
    assert again == once


def test_every_codemod_says_what_it_does_and_shows_it() -> None:
    for name, codemod in catalog().items():
        assert codemod.summary, name
        assert any(example.after is not None for example in examples_of(name)), name
