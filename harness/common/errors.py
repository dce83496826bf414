"""The one error that a user sees, and hints at the nearest valid names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 4000  # characters of a message; the rest is cut off


def visible(text: str) -> str:
    """Return ``text`` with an escape for every character that a terminal would not show, such as a control code."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class UsageError(Exception):
    """Wrong input or a broken set-up.

    ``str(error)`` is one sentence, without a line break, that says what is wrong, where, and what to do.
    The command line prints it on standard error and ends with status 2; nothing has been written by then.
    ``example`` is text to paste, shown below the sentence with its line breaks kept.
    """

    def __init__(self, message: str, example: str = "") -> None:
        super().__init__(visible(" ".join(message.split()))[:_LONGEST])
        self.example = example


def nearest(name: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """Return up to ``limit`` of ``names`` that resemble ``name`` in any case of letters, the most similar first."""
    folded: dict[str, str] = {}
    for candidate in sorted(names):
        folded.setdefault(candidate.lower(), candidate)
    close = difflib.get_close_matches(name.lower(), list(folded), n=limit, cutoff=0.5)
    return [folded[match] for match in close]


def hint(name: str, names: Iterable[str]) -> str:
    """Return `` (did you mean 'a' or 'b'?)`` for the nearest names, or the empty string."""
    close = nearest(name, names)
    return f" (did you mean {' or '.join(repr(match) for match in close)}?)" if close else ""
