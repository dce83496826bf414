"""Lists the places that write a field, subject by subject, in the order in which the resolution comes to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.errors import UsageError, hint
from harness.subjects.open import open_subject
from harness.subjects.spec import SubjectSpec
from harness.world.chain import Writer


def explain_field(field: str, specs: Sequence[SubjectSpec], say: Callable[[str], object]) -> None:
    """Print the writers of ``field`` in each subject through ``say``.

    Raises UsageError for a field that no resolution of a subject writes, before anything is printed.
    """
    lines = [line for spec in specs for line in _lines(field, spec)]
    for line in lines:
        say(line)


def _lines(field: str, spec: SubjectSpec) -> list[str]:
    with open_subject(spec) as subject:
        description = subject.describe()
    if field not in description.resolved:
        raise UsageError(f"{spec.label} resolves no field {field!r}{hint(field, description.resolved)}")
    known = (*description.writers, *description.tables)
    writers = sorted((writer for writer in known if writer.field == field), key=_slot_number)
    lines = [f"{spec.label}: {field} is written in {len(writers)} place{'s' if len(writers) != 1 else ''}"]
    slot = None
    for writer in writers:
        if writer.slot != slot:
            slot = writer.slot
            lines.append(f"  {slot or 'reached from no slot'}")
        lines.append(f"    {writer.source:44} {writer.file}:{writer.line}")
    return lines


def _slot_number(writer: Writer) -> int:
    """Return the number that the slot begins with, so that a table's entries stand among the code; 0 for none."""
    number = writer.slot.partition(" ")[0]
    return int(number) if number.isdecimal() else 0
