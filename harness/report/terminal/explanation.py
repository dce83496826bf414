"""Prints the places that write a field, in the order in which a resolution reaches them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from harness.common.errors import UsageError, hint
from harness.report.wording.words import counted
from harness.subjects.open import open_subject
from harness.subjects.spec import SubjectSpec
from harness.world.chain import Writer


def explain_field(field: str, specs: Sequence[SubjectSpec], say: Callable[[str], object]) -> None:
    """Print the places that write ``field`` in each subject; ``say`` prints each line.

    Two subjects are printed side by side if no two slots of a subject have the same number. Raises UsageError, before
    anything is printed, if a subject does not resolve the field.
    """
    found = [_blocks(field, spec) for spec in specs]
    if len(found) == 2 and all(_numbered(blocks) for blocks in found):
        lines = _beside(found[0], found[1])
    else:
        lines = [line for blocks in found for block in blocks for line in block.lines]
    for line in lines:
        say(line)


class _SlotLines(NamedTuple):
    """The lines for the writers of one slot; the first line is the slot's name.

    ``number`` is the slot's number. The headline of a subject is a block too, with -1, so that it comes first.
    """

    number: int
    lines: list[str]


def _blocks(field: str, spec: SubjectSpec) -> list[_SlotLines]:
    with open_subject(spec) as subject:
        description = subject.describe()
    if field not in description.resolved:
        raise UsageError(f"{spec.label} resolves no field {field!r}{hint(field, description.resolved)}")
    known = (*description.writers, *description.tables)
    writers = sorted((writer for writer in known if writer.field == field), key=_slot_number)
    blocks = [_SlotLines(-1, [f"{spec.label}: {field} is written in {counted(len(writers), 'place')}"])]
    slot = source = None
    for writer in writers:
        if writer.slot != slot:
            slot = writer.slot
            blocks.append(_SlotLines(_slot_number(writer), [f"  {slot or 'reached from no slot'}"]))
        blocks[-1].lines.append(f"    {writer.source:44} {writer.file}:{writer.line}")
        # A pass may declare the field in several lines; its reason is shown once.
        reason = description.reasons.get(writer.source, "") if writer.source != source else ""
        if reason:
            blocks[-1].lines.append(f"      {reason}")
        source = writer.source
    return blocks


def _numbered(blocks: Sequence[_SlotLines]) -> bool:
    """Whether no two slots have the same number, so that the slots of two subjects can be paired by number."""
    numbers = [block.number for block in blocks[1:]]
    return len(set(numbers)) == len(numbers) and 0 not in numbers[1:]


def _beside(first: Sequence[_SlotLines], second: Sequence[_SlotLines]) -> list[str]:
    left, right = ({block.number: block.lines for block in blocks} for blocks in (first, second))
    width = max(len(line) for block in first for line in block.lines)
    lines = []
    for number in sorted(left.keys() | right.keys()):
        for one, other in zip_longest(left.get(number, []), right.get(number, []), fillvalue=""):
            lines.append(f"{one:{width}}   {other}".rstrip())
    return lines


def _slot_number(writer: Writer) -> int:
    """Return the number of a writer's slot, 0 if it has none.

    Sorting by it puts the writers in code and those in tables into one order.
    """
    number = writer.slot.partition(" ")[0]
    return int(number) if number.isdecimal() else 0
