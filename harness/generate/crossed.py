"""Goals that meet a place as an earlier step left it: where a field is asked for, another place has written it.

What a user sets and what a step resolves are one value to whoever asks later, and only a case in which they differ
tells a reader of the one from a reader of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from harness.generate.aim import Aim
from harness.generate.draw import SeededDraw, shuffled
from harness.generate.goals import Goal

# A place that asks for a field, or reads it, is met behind so many of the places that write it.
_WRITERS: Final = 4


class Place(NamedTuple):
    """The ways to a place, and the fields that are read there."""

    ways: Sequence[Aim]
    reads: Sequence[str]


def crossed_goals(places: Sequence[Place], writers: Mapping[str, Sequence[Sequence[Aim]]]) -> list[Goal]:
    """Return goals that ask for what a place asks, but for one field, and for what a writer of that field asks."""
    draw = SeededDraw(0, -4)
    goals = []
    for ways, reads in places:
        for name in dict.fromkeys((*reads, *(name for aim in ways for name in _asked(aim)))):
            if name not in writers:
                continue
            found = 0
            for writing in shuffled(writers[name], draw):
                if writing is ways:
                    continue
                joined = _joined(draw.pick(ways), draw.pick(writing), name)
                if joined is not None:
                    goals.append(Goal([joined]))
                    found += 1
                if found == _WRITERS:
                    break
    return goals


def _asked(aim: Aim) -> Iterator[str]:
    """Yield the arguments that an aim asks for."""
    yield from (name for kind, name in aim.left if kind == "arg")
    for clause in aim.choices:
        yield from (name for asked, _ in clause for (kind, name), _ in asked if kind == "arg")


def _joined(aim: Aim, writer: Aim, name: str) -> Aim | None:
    """Return what both ask for, of the field ``name`` what the writer does; None where they exclude each other."""
    left = dict(writer.left)
    for slot, mask in aim.left.items():
        if slot == ("arg", name):
            continue
        both = left.get(slot, mask) & mask
        if not both:
            return None
        left[slot] = both
    choices = [clause for clause in aim.choices if not any(_is_about(name, asked) for asked, _ in clause)]
    return Aim(left, [*choices, *writer.choices], [*aim.pairs, *writer.pairs])


def _is_about(name: str, asked: Sequence[tuple[tuple[str, str], int]]) -> bool:
    return any(slot == ("arg", name) for slot, _ in asked)
