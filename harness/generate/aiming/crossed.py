"""Goals of two places at once: what one asks for behind another that wrote it, and two checks that both refuse.

What a user sets and what a step resolves are one value to whoever asks later, and only a case in which they differ
tells a reader of the one from a reader of the other. Which of two checks comes first shows where both refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from harness.generate.aiming.aim import Aim
from harness.generate.aiming.goals import Goal
from harness.generate.chance.draw import SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.values.inputs import Mask, Slot, bits

# A place that asks for a field, or reads it, is met behind so many of the places that write it.
_WRITERS: Final = 4
# Behind so many of them, a place that only reads a field is met with each value that a user can set.
_READ_WRITERS: Final = 2
# A check refuses together with so many of those after it.
_CHECKS: Final = 6


class Place(NamedTuple):
    """The ways to a place, and the fields that are read and written there."""

    ways: Sequence[Aim]
    reads: Sequence[str]
    writes: Sequence[str] = ()


def crossed_goals(
    places: Sequence[Place],
    writers: Mapping[str, Sequence[Sequence[Aim]]],
    settable: Callable[[Slot], Mask],
) -> list[Goal]:
    """Return goals that ask for what a place asks, and for what a writer of a field that it asks for asks.

    Once of that field only what the writer does, which may then meet the place or not; and once both, so that the
    place would be met by what the user set. What the place writes itself the user sets too: it might be what is there
    anyway. ``settable`` returns the options of an argument that a user can set.
    """
    draw = SeededDraw(0, Stream.CROSSED_GOALS)
    goals = []
    for ways, reads, writes in places:
        for name in dict.fromkeys((*reads, *(name for aim in ways for name in _asked(aim)))):
            if name not in writers:
                continue
            slot = ("arg", name)
            found = 0
            for writing in shuffled(writers[name], draw):
                if writing is ways:
                    continue
                aim, writer = draw.pick(ways), draw.pick(writing)
                joined = _joined(aim, writer, but=name)
                if joined is None:
                    continue
                goals.append(Goal([joined]))
                if name in _asked(aim):
                    given = _joined(aim, writer)
                    goals += [Goal([_setting(given, writes, settable)])] if given is not None else []
                elif slot not in joined.left and found < _READ_WRITERS:
                    goals += [Goal([joined], fixed=(slot, 1 << option)) for option in bits(settable(slot))]
                found += 1
                if found == _WRITERS:
                    break
    return goals


def refused_twice(checks: Sequence[Sequence[Aim]]) -> list[Goal]:
    """Return goals that meet two of the ``checks`` at once, each with the next few that a case can meet besides."""
    draw = SeededDraw(0, Stream.REFUSED_TWICE)
    goals = []
    for number, first in enumerate(checks):
        found = 0
        for second in checks[number + 1 :]:
            joined = _joined(draw.pick(first), draw.pick(second))
            if joined is not None:
                goals.append(Goal([joined]))
                found += 1
            if found == _CHECKS:
                break
    return goals


def _setting(aim: Aim, names: Sequence[str], settable: Callable[[Slot], Mask]) -> Aim:
    """Return an aim that asks for any value of the arguments ``names`` that it does not ask for."""
    left = dict(aim.left)
    for name in names:
        mask = settable(("arg", name))
        if mask:
            left.setdefault(("arg", name), mask)
    return Aim(left, aim.choices, aim.pairs)


def _asked(aim: Aim) -> Iterator[str]:
    """Yield the arguments that an aim asks for."""
    yield from (name for kind, name in aim.left if kind == "arg")
    for clause in aim.choices:
        yield from (name for asked, _ in clause for (kind, name), _ in asked if kind == "arg")


def _joined(aim: Aim, writer: Aim, but: str = "") -> Aim | None:
    """Return what both ask for, of the field ``but`` what the writer does; None where they exclude each other."""
    left = dict(writer.left)
    for slot, mask in aim.left.items():
        if slot == ("arg", but):
            continue
        both = left.get(slot, mask) & mask
        if not both:
            return None
        left[slot] = both
    choices = [clause for clause in aim.choices if not any(_is_about(but, asked) for asked, _ in clause)]
    return Aim(left, [*choices, *writer.choices], [*aim.pairs, *writer.pairs])


def _is_about(name: str, asked: Sequence[tuple[tuple[str, str], int]]) -> bool:
    return any(slot == ("arg", name) for slot, _ in asked)
