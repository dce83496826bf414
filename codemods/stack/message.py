"""The message of a step's commit: what moved, what was left and why, and what the gate said."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from codemods.stack.gate import Verdict
from codemods.stack.plan import Step
from codemods.stack.state import LeftThere
from codemods.stack.step import Applied, summary_of

_WIDTH = 100
_LISTED = 40
_STATEMENT = 80


def subject_line(step: Step) -> str:
    """Return the first line."""
    fields = ", ".join(step.fields)
    return f"Declare {fields}" if len(fields) <= 60 else f"Declare the fields of {step.name}"


def message_of(step: Step, applied: Applied, left: Sequence[LeftThere], verdicts: Sequence[Verdict]) -> str:
    """Return the whole message; lines are wrapped, paths are relative to the folder that holds the package."""
    counts = summary_of(applied, step.fields)
    lines = [subject_line(step), ""]
    lines += _wrapped(
        f"Of {counts['before']} imperative writes of {', '.join(step.fields)}, {counts['lifted']} are now declared by"
        f" passes and providers, {counts['recorded']} are declared in place and {counts['after']} are left."
    )
    lines += ["", "Changed:"]
    lines += [f"  {name}: {count}" for name, count in applied.result.counts.items() if count]
    lines += [f"  {path}" for path in sorted(applied.result.changed)]
    for note in (*applied.skipped, *applied.formatting):
        lines += _wrapped(note, "  ")
    if left:
        lines += ["", "Left as it is:"]
        for item in left[:_LISTED]:
            lines += _wrapped(f"{item.file}:{item.line} {shown(item.what)}: {item.reason}", "  ")
        if len(left) > _LISTED:
            lines.append(f"  and {len(left) - _LISTED} more")
    if applied.result.unreadable:
        lines += ["", "Not readable:"]
        for path, reason in sorted(applied.result.unreadable.items()):
            lines += _wrapped(f"{path}: {reason}", "  ")
    if verdicts:
        lines += ["", f"Gate against {verdicts[0].against.partition('#')[0]}:"]
        for verdict in verdicts:
            lines += _wrapped(verdict.words, "  ")
    if step.reference:
        lines += ["", f"After {step.reference}"]
    return "\n".join(lines) + "\n"


def shown(statement: str) -> str:
    """Return a statement on one line, short."""
    return " ".join(statement.split())[:_STATEMENT]


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
