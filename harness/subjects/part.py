"""What part of a campaign a request's cases are."""

from __future__ import annotations

from typing import Final

import msgspec


class Part(msgspec.Struct, frozen=True, array_like=True):
    """The cases' ``stream`` (None for cases that are no part of a campaign) and the number of the ``first`` of them.

    ``single`` asks for each answer at once, so that a death shows which case it was.
    """

    stream: int | None = None
    first: int = 0
    single: bool = False


ALONE: Final = -1
"""The stream of cases that each are told of by themselves: everything is new to each of them."""
NO_PART: Final = Part()
