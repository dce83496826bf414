"""Goals for cases that reach two places: one that writes a field and one that reads it, or two checks that refuse.

A field that the user has set may be changed by an earlier step. Code that reads the user's value instead of the
resolved one, or the reverse, is found only by a case in which the two differ. Likewise, the order of two checks shows
only in a case that both would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from harness.generate.aiming.aim import Aim
from harness.generate.aiming.goals import Goal
from harness.generate.chance.draw import SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.values.inputs import InputKey, Mask, bits

# A place that reads a field is joined with at most this many of the places that write it.
_WRITERS: Final = 4
# With this many of them, a place that has no condition on the field gets a goal for each value a user can set.
_READ_WRITERS: Final = 2
# A check is joined with at most this many of the checks after it.
_CHECKS: Final = 6


class AimedPlace(NamedTuple):
    """A place in the source: an aim for each way to it, and the fields that it reads and writes."""

    ways: Sequence[Aim]
    reads: Sequence[str]
    writes: Sequence[str] = ()


def crossed_goals(
    places: Sequence[AimedPlace],
    writers: Mapping[str, Sequence[Sequence[Aim]]],
    settable: Callable[[InputKey], Mask],
) -> list[Goal]:
    """Return goals that reach a place and, before it, another place that writes a field which the first one reads.

    ``writers`` maps a field to the places that write it, each as the aims for the ways to it. ``settable`` returns
    the options of an argument that a user can set.

    Each of ``places`` is paired with a few of the writers of each field that it reads. If it has a condition on the
    field, a pair has two goals. In the first, the user's value meets only the writer's condition, so that the value
    that the writer makes of it decides whether the place is reached. In the second, it meets both conditions, so that
    the place would be reached with the user's value. There the user also sets the fields that the place writes,
    because a write of a field's default value would not show otherwise.

    If the place has no condition on the field, a pair has one goal, and some pairs also one for each value that a
    user can set.
    """
    draw = SeededDraw(0, Stream.CROSSED_GOALS)
    goals = []
    for ways, reads, writes in places:
        for name in dict.fromkeys((*reads, *(name for aim in ways for name in _arguments(aim)))):
            if name not in writers:
                continue
            key = ("arg", name)
            found = 0
            for writing in shuffled(writers[name], draw):
                if writing is ways:
                    continue
                aim, writer = draw.pick(ways), draw.pick(writing)
                joined = _joined(aim, writer, but=name)
                if joined is None:
                    continue
                goals.append(Goal([joined]))
                if name in _arguments(aim):
                    both = _joined(aim, writer)
                    goals += [Goal([_setting(both, writes, settable)])] if both is not None else []
                elif key not in joined.left and found < _READ_WRITERS:
                    goals += [Goal([joined], fixed=(key, 1 << option)) for option in bits(settable(key))]
                found += 1
                if found == _WRITERS:
                    break
    return goals


def refused_twice(checks: Sequence[Sequence[Aim]]) -> list[Goal]:
    """Return goals that meet two of ``checks`` at once: each check with the next few that do not contradict it."""
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


def _setting(aim: Aim, names: Sequence[str], settable: Callable[[InputKey], Mask]) -> Aim:
    """Return an aim that also sets each argument in ``names``; to any value, unless the aim has a demand on it."""
    left = dict(aim.left)
    for name in names:
        if mask := settable(("arg", name)):
            left.setdefault(("arg", name), mask)
    return Aim(left, aim.choices, aim.relations)


def _arguments(aim: Aim) -> Iterator[str]:
    """Yield the arguments that an aim has a demand on."""
    yield from (name for kind, name in aim.left if kind == "arg")
    for clause in aim.choices:
        yield from (name for demands, _ in clause for (kind, name), _ in demands if kind == "arg")


def _joined(aim: Aim, writer: Aim, but: str = "") -> Aim | None:
    """Return an aim with the demands of both, but without those of ``aim`` on the argument ``but``.

    None if the two contradict each other.
    """
    left = dict(writer.left)
    for key, mask in aim.left.items():
        if key == ("arg", but):
            continue
        both = left.get(key, mask) & mask
        if not both:
            return None
        left[key] = both
    choices = [clause for clause in aim.choices if not any(_is_about(but, demands) for demands, _ in clause)]
    return Aim(left, [*choices, *writer.choices], [*aim.relations, *writer.relations])


def _is_about(name: str, demands: Sequence[tuple[InputKey, Mask]]) -> bool:
    return any(key == ("arg", name) for key, _ in demands)
