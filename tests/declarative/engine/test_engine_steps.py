"""Passes and providers at the callable level."""

from __future__ import annotations

from typing import Any

import pytest

from declarative.engine import DeclarationError, check, post_process, provider


@post_process(writes=("page_size",), state=("radix",), env=("A_VARIABLE",))
def sized(view: Any) -> Any:
    """Return what the test says."""
    return view


@provider(writes=("dtype",))
def typed(arguments: Any, model: Any) -> Any:
    """Return what the test says."""
    return arguments


@check()
def checked(view: Any) -> Any:
    """Return what the test says."""
    return view


def test_a_pass_returns_what_it_declares() -> None:
    assert sized({"page_size": 1, "radix": False, "A_VARIABLE": 7}) == {
        "page_size": 1,
        "radix": False,
        "A_VARIABLE": 7,
    }
    assert sized({}) == sized(None) == {}
    assert typed({"dtype": "half"}, None) == {"dtype": "half"}


def test_a_check_returns_nothing() -> None:
    assert checked(None) == {}
    with pytest.raises(DeclarationError, match="checked declares 'page_size': it may declare nothing"):
        checked({"page_size": 1})


@pytest.mark.parametrize("returned", [[], [("page_size", 1)], "page_size", 0, 1, False, set()])
def test_anything_but_a_dict_is_refused_by_name(returned: object) -> None:
    with pytest.raises(DeclarationError, match=f"sized must return a dict or None, not {type(returned).__name__}"):
        sized(returned)


def test_a_name_that_was_not_listed_is_refused_with_the_nearest() -> None:
    with pytest.raises(DeclarationError, match=r"sized declares 'page_sise' \(did you mean 'page_size'\?\)"):
        sized({"page_sise": 1})
    with pytest.raises(DeclarationError, match="typed declares 'page_size': it may declare dtype"):
        typed({"page_size": 1}, None)


def test_a_name_is_listed_once() -> None:
    with pytest.raises(DeclarationError, match="lists a name twice"):
        post_process(writes=("page_size",), state=("page_size",))(lambda view: {})


def test_a_subclass_of_dict_is_a_dict() -> None:
    class Ordered(dict[str, Any]):
        pass

    assert sized(Ordered(page_size=1)) == {"page_size": 1}
