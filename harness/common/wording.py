"""Parts of error messages: a value in brief, the path of a key, the nearest valid names."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable

from harness.common.errors import hint

_LONGEST_VALUE = 120
_LONGEST_NAME = 80  # difflib is quadratic, and a longer name resembles nothing anyway

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = 4
_SHORT.maxlevel = 3


def brief(value: object) -> str:
    """Return ``value`` on one line of at most 120 characters; null, true and false as JSON spells them."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    text = _SHORT.repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def path_of(*keys: str) -> str:
    """Return ``keys`` as a dotted path; a key that is long, or not a plain name, is quoted and shortened."""
    return ".".join(
        key if key.isascii() and key.isidentifier() and len(key) <= _LONGEST_NAME else brief(key) for key in keys
    )


def suggest(name: str, names: Iterable[str]) -> str:
    """Return what to write instead of ``name``, in brackets after a space; empty when there are no ``names``.

    Names that resemble it are offered as a question (did you mean ...?). If none does, the least different names are
    given nevertheless, so that a reader without the documentation sees what a valid name looks like.
    """
    candidates = sorted(names)
    shortened = name[:_LONGEST_NAME]
    if question := hint(shortened, candidates):
        return question
    least_different = difflib.get_close_matches(shortened, candidates, n=3, cutoff=0.0)
    if not least_different:
        return ""
    return f" (the nearest names are {', '.join(repr(match) for match in least_different)})"
