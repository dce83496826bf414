"""Prints the hazards of exchanging steps for a person, and returns them as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from harness.common.errors import visible
from harness.engine.hazards import Hazards, StepPair
from harness.report.wording.words import counted

FORMAT = "stackproof.hazards/1"


def document(found: Hazards) -> bytes:
    """Return the hazards as indented JSON with a line break at the end.

    The time that the search took is left out, because no run repeats it.
    """
    body = {"format": FORMAT, **msgspec.to_builtins(found)}
    del body["seconds"]
    return msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n"


def say_hazards(found: Hazards, say: Callable[[str], object]) -> None:
    """Print the constraints by field, then the pairs whose exchange changed a result, then the other pairs.

    ``say`` prints each line.
    """
    fields: dict[str, list[StepPair]] = defaultdict(list)
    for pair in found.pairs:
        for field in pair.fields:
            fields[field].append(pair)
    for field, pairs in sorted(fields.items()):
        say(f"{field}: {counted(len(pairs), 'pair')} in order")
        for pair in pairs:
            kinds = ", ".join(one.kind for one in pair.constraints if one.field == field)
            say(f"  {_step(pair, 0)} -> {_step(pair, 1)}: {kinds}")
        say("")
    changed = [pair for pair in found.pairs if pair.changed]
    refused = [pair for pair in found.pairs if pair.error]
    same = [pair for pair in found.pairs if not pair.changed and not pair.error]
    _say_list("exchanged, with another result", changed, _first, say)
    _say_list("exchanged, with the same result in all these cases", same, _tried, say)
    _say_list("not exchanged", refused, lambda pair: visible(pair.error), say)
    constraints = sum(len(pair.constraints) for pair in found.pairs)
    say(
        f"{found.subject}: {found.steps} steps, {found.cases} cases of seed {found.seed}, {found.seconds:.1f} s: "
        f"{constraints} constraints on {counted(len(found.pairs), 'pair')}; "
        f"{len(changed)} change a result, {len(same)} change none in these cases, {len(refused)} not tried"
    )


def _say_list(
    title: str, pairs: Sequence[StepPair], what: Callable[[StepPair], str], say: Callable[[str], object]
) -> None:
    if not pairs:
        return
    say(f"{title}: {counted(len(pairs), 'pair')}")
    for pair in pairs:
        say(f"  {pair.earlier.source} <-> {pair.later.source} ({', '.join(pair.fields)}): {what(pair)}")
    say("")


def _first(pair: StepPair) -> str:
    return f"{pair.changed} of {counted(pair.run, 'case')}, first {pair.first}"


def _tried(pair: StepPair) -> str:
    return counted(pair.run, "case") if pair.run == pair.together else f"{pair.run} of {pair.together} cases"


def _step(pair: StepPair, side: int) -> str:
    step = (pair.earlier, pair.later)[side]
    return f"{step.source} ({step.slot.partition(' ')[0]})"
