"""Goals that join two places: a place and one that writes a field it asks for, or two checks that both refuse.

A later step cannot tell whether a value was set by the user or resolved by an earlier step. Code that reads the one
where it should read the other shows only in a case in which the two values differ. Likewise, which of two checks
comes first shows only in a case that both of them refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from harness.generate.aiming.aim import Aim
from harness.generate.aiming.goals import Goal
from harness.generate.chance.draw import SeededDraw, shuffled
from harness.generate.chance.streams import Stream
from harness.generate.values.inputs import InputKey, Mask, bits

# With how many of the places that write a field a place that asks for it, or reads it, is joined.
_WRITERS: Final = 4
# With how many of these, a place that reads the field without a condition is joined for each value a user can set.
_READ_WRITERS: Final = 2
# With how many of the checks after it a check is joined.
_CHECKS: Final = 6


class AimedPlace(NamedTuple):
    """A place in the source: an aim for each way to it, and the fields that are read and written there."""

    ways: Sequence[Aim]
    reads: Sequence[str]
    writes: Sequence[str] = ()


def crossed_goals(
    places: Sequence[AimedPlace],
    writers: Mapping[str, Sequence[Sequence[Aim]]],
    settable: Callable[[InputKey], Mask],
) -> list[Goal]:
    """Return goals that reach a place, and before it a place that writes a field which the first one reads.

    ``writers`` are the aims of the places that write each field; ``settable`` returns the options of an argument that
    a user can set.

    For a field that the place has a condition on, there are two goals. In the first, the user's value is the one that
    the writer asks for, so that the place is reached, or not, by what the writer makes of it. In the second it meets
    both conditions, so that the place would be reached by the user's value; the fields that the place writes are set
    by the user, too, since the write may be of the value that the field has by default.
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
    """Return goals that reach two of ``checks`` at once: each check with the next few that do not contradict it."""
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
    """Return an aim that also sets each argument in ``names``, to any value unless the aim has a demand on it."""
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
    """Return an aim with the demands of both, those of ``aim`` on the argument ``but`` left out.

    None where the two contradict each other.
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
