"""Writes the message of a step's commit: what moved, what was left and why, and the verdicts of the gates."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from codemods.stack.gate import GateVerdict
from codemods.stack.plan import PlannedStep
from codemods.stack.state import LeftThere
from codemods.stack.step import AppliedStep

_WIDTH = 100
_LISTED = 40


def subject_line(step: PlannedStep) -> str:
    """Return the first line of the message."""
    fields = ", ".join(step.fields)
    return f"Declare {fields}" if len(fields) <= 60 else f"Declare the fields of {step.name}"


def message_of(
    step: PlannedStep, applied: AppliedStep, left: Sequence[LeftThere], verdicts: Sequence[GateVerdict]
) -> str:
    """Return the whole message; lines are wrapped, paths are relative to the folder that holds the package."""
    counts = applied.counts(step.fields)
    lines = [subject_line(step), ""]
    lines += _wrapped(
        f"Of {counts['before']} imperative writes of {', '.join(step.fields)}, {counts['lifted']} are now declared by"
        f" passes and providers, {counts['recorded']} are declared in place and {counts['after']} are left."
    )
    lines += ["", "Changed:"]
    lines += [f"  {name}: {count}" for name, count in applied.result.counts.items() if count]
    lines += [f"  {path}" for path in sorted(applied.result.changed)]
    for note in applied.notes:
        lines += _wrapped(note, "  ")
    if left:
        lines += ["", "Left as it is:"]
        for item in left[:_LISTED]:
            lines += _wrapped(item.words, "  ")
        if len(left) > _LISTED:
            lines.append(f"  and {len(left) - _LISTED} more")
    if applied.unread:
        lines += ["", "Not readable:"]
        for line in applied.unread:
            lines += _wrapped(line, "  ")
    if verdicts:
        lines += ["", f"Gate against {verdicts[0].against.partition('#')[0]}:"]
        for verdict in verdicts:
            lines += _wrapped(verdict.words, "  ")
    if step.reference:
        lines += ["", f"After {step.reference}"]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
