"""Cases and differences in words that a person can paste or read."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import textwrap
from collections.abc import Collection
from operator import itemgetter
from typing import Any

import msgspec

from harness.common.convert import changes
from harness.common.errors import visible
from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import AS_GIVEN, UNCHANGED, Difference, decision_text, writer_texts
from harness.engine.result.events import Covered, Finished, Interactions, Reached
from harness.formats.contract import encode_case
from harness.formats.launch import LAUNCH, Flags
from harness.world.case import Case
from harness.world.chain import Write, Writer
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.profiles import name_of_hardware, name_of_model


def cases_word(count: int) -> str:
    """Return what ``count`` of them are called: ``case`` or ``cases``."""
    return "case" if count == 1 else "cases"


def quoted(text: str) -> str:
    """Return ``text`` as one word of a shell; bash's ``$'...'`` where it holds what a terminal would act on."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_in_dollar_quotes, text)) + "'"


def _in_dollar_quotes(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char.isprintable():
        return char
    # bash takes \xNN for a byte and \UNNNNNNNN for a character.
    return f"\\x{ord(char):02x}" if char.isascii() else f"\\U{ord(char):08x}"


def launch_command(case: Case, flags: Flags) -> str:
    """Return the command that launches the case, environment included.

    What no flag can say (a switch turned off, a field without a flag) stands behind it as ``# field=value``.
    """
    words = [f"{name}={quoted(value)}" for name, value in sorted(case.env.items())]
    words += flags.program
    if flags.program == LAUNCH and "model_path" not in case.args:
        words += ["--model-path", "org/model"]
    unsaid = []
    for name, value in sorted(case.args.items()):
        flag = flags.names.get(name)
        if value is False and name in flags.off:
            words.append(flags.off[name])
        elif flag is None or value is False or value is None:
            unsaid.append(f"{name}={json.dumps(value)}")
        elif value is True:
            words.append(flag)
        elif isinstance(value, list):
            words += [flag, *(quoted(str(item)) for item in value)]
        else:
            text = json.dumps(value) if isinstance(value, dict) else str(value)
            words += [flag, quoted(text)]
    return " ".join([*words, *(["#", *map(visible, unsaid)] if unsaid else [])])


def resolve_command(case: Case, subject: str, flags: Flags, *others: str) -> str:
    """Return the command that shows what ``subject`` and ``others`` make of the case, machine and model included."""
    parts = msgspec.json.decode(encode_case(case))
    words = ["stackproof", "resolve", *(word for name in (subject, *others) for word in ("--subject", name))]
    for name in flags.takes:
        words += [f"--{name}", parts[name] if isinstance(parts[name], str) else json.dumps(parts[name])]
    return f"{' '.join(map(quoted, words))} -- {launch_command(case, flags)}"


def world_words(case: Case, flags: Flags) -> str:
    """Return the machine and the model of a case in words, as far as a launch has them; empty where it has none."""
    words = {"hardware": machine_words(case.hardware), "model": model_words(case.model)}
    return "; ".join(words[name] for name in flags.takes)


def machine_words(hardware: Hardware, *, named: bool = True) -> str:
    """Return the machine as the name of an equal profile (when ``named``), else as what is not the default."""
    if hardware == Hardware():
        return f"default machine ({hardware.platform})"
    name = name_of_hardware(hardware) if named else None
    if name is not None:
        return name
    changed = changes(hardware, Hardware())
    words = [str(changed.pop("platform", hardware.platform))]
    if hardware.capability is not None:
        major, minor = changed.pop("capability", hardware.capability)
        words.append(f"capability {major}.{minor}")
    words += [f"{name.replace('_', ' ')} {_plain(value)}" for name, value in changed.items()]
    return visible(", ".join(words))


def model_words(model: Model) -> str:
    """Return the model as the name of an equal profile, else as the attributes that are not the default."""
    if model == Model():
        return f"default model ({model.architectures[0]})"
    named = name_of_model(model)
    if named is not None:
        return named
    changed = changes(model, Model())
    words = ["/".join(changed.pop("architectures", model.architectures))]
    words += [f"{name.replace('_', ' ')} {_plain(value)}" for name, value in changed.items()]
    return visible(", ".join(words))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def difference_words(difference: Difference) -> tuple[str, str, str]:
    """Return what differs, and what the first and the second subject made of it."""
    if difference.kind in ("field", "environment"):
        first, second = (
            "unchanged" if difference.kind == "environment" and side == UNCHANGED else json.dumps(side)
            for side in (difference.first, difference.second)
        )
        return visible(difference.name), first, second
    title = {"refusals": "both refuse", "refusal": "one refuses", "failure": "no outcome"}[difference.kind]
    if difference.writers is not None:
        title += f", {difference.name} having parted"
    usual = "resolves" if difference.kind == "refusal" else "has an outcome"
    first, second = (
        visible(" ".join(side.split())) if side else usual for side in (difference.first, difference.second)
    )
    return title, first, second


def writer_words(difference: Difference) -> tuple[str, str]:
    """Return what to say behind each side's value: who wrote or decided it last, the empty string if unknown."""
    if difference.writers is None:
        if difference.decision is None:
            return "", ""
        first, second = (f"   parted at {visible(decision_text(one))}" for one in difference.decision)
        return first, second
    field = "" if difference.kind in ("environment", "field") else f"{difference.name} "
    field = field if difference.parted is None else f"{difference.parted} "
    first, second = (
        f"   {field}{AS_GIVEN if writer is None else f'by {visible(str(writer))}'}" for writer in difference.writers
    )
    return first, second


def part_lines(bucket: Bucket, labels: tuple[str, str]) -> list[str]:
    """Return what the buckets that were put together here share, and how their values differ, a line each."""
    if len(bucket.parts) < 2 or bucket.shared is None:
        return []
    side, text = bucket.shared
    lines = [f"  one cause in {len(bucket.parts)} forms, all with {visible(text)} in {labels[side]}"]
    for difference, count in bucket.parts[:_SHOWN_PARTS]:
        name, first, second = difference_words(difference)
        writers = difference.writers
        places = "" if writers is None else f"   ({visible(writer_texts(writers)[1 - side])})"
        lines.append(f"    {count:6} {name} {first} → {second}{places}")
    if len(bucket.parts) > _SHOWN_PARTS:
        lines.append(f"    and {len(bucket.parts) - _SHOWN_PARTS} more forms")
    return lines


_SHOWN_PARTS = 5
_SHOWN_PLACES = 12


def reach_lines(label: str, covered: Covered, gated: Collection[str] = ()) -> list[str]:
    """Return how much of a subject ran, and a line for each of the first places that did not.

    Nothing for a subject that is not recorded. First come the write sites of ``gated`` fields, for which a verdict
    waits, then others, then decisions; last is what has a reason not to happen. Write sites that are said to be out
    of reach are not counted among those that should have run.
    """
    writes = covered.writes
    if not writes:
        return []
    ran = [site for site in writes if site.count]
    total = sum(1 for site in writes if site.due)
    outcomes = f"{covered.outcomes} of {2 * len(covered.decisions)} outcomes of decisions were seen"
    lines = [f"reach    {label}: {len(ran)} of {total} write sites ran, {outcomes}"]
    told: list[tuple[int, str]] = []
    for site in writes:
        if why := _why_not(site):
            rank = 3 if not site.due else 0 if site.writer.field in gated else 1
            told.append((rank, f"         {place_words(site.writer)} {why}"))
    for decided in covered.decisions:
        if decided.seen != 3:
            place = decided.decision
            text = visible(textwrap.shorten(place.text, 60, placeholder=" ..."))
            why = f", and cannot be: {visible(decided.excuse)}" if decided.excuse else ""
            line = f"         {text} in {place} was never {decided.lacks}{why}"
            told.append((3 if decided.excuse else 2, line))
    missing = [line for _, line in sorted(told, key=itemgetter(0))]
    if len(missing) > _SHOWN_PLACES:
        rest = len(missing) - _SHOWN_PLACES
        missing[_SHOWN_PLACES:] = [f"         and {rest} more (--format json has them all)"]
    return lines + missing


def _why_not(site: Reached) -> str:
    """Return what there is to say of a write site, the empty string for one that ran and should."""
    if not site.excuse:
        return "" if site.count else "never ran"
    if site.count:
        times = "once" if site.count == 1 else f"{site.count} times"
        return f"ran {times}, and was said to be out of reach: {visible(site.excuse)}"
    return f"cannot run: {visible(site.excuse)}"


def place_words(place: Writer | Write) -> str:
    """Return what writes which field, and where."""
    return f"{place.field} in {place}"


def drawn_words(result: Finished) -> str:
    """Return how much of what can be drawn was: architectures that the subjects name, machines with a name.

    Empty where cases differ in neither.
    """
    parts = []
    for what, drawn, drawable in (
        ("architectures", result.drawn.architectures, result.started.drawable.architectures),
        ("machines", result.drawn.machines, result.started.drawable.machines),
    ):
        if drawable:
            parts.append(f"{len(drawn & drawable)} of {len(drawable)} {what}")
    return ", ".join(parts)


def interactions_words(interactions: Interactions) -> str:
    """Return how much of what two and three inputs can be together was in a case."""
    space = interactions.space
    words = f"pairs {percent(interactions.pairs, space.pairs)} of {space.pairs:,}"
    if space.sampled:
        sample = "" if space.sampled == space.triples else f" (of a sample of {space.sampled:,})"
        words += f", triples {percent(interactions.triples, space.sampled)} of {space.triples:,}{sample}"
    return f"{words}, of {space.parameters} inputs"


_LONGEST = 4000


def shortened(text: str) -> str:
    """Return ``text`` up to so many characters, and how many it has if that is not all: a value may be huge."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text):,} characters)"


def percent(part: int, whole: int) -> str:
    """Return a share; never 100 % for less than all."""
    return f"{1000 * part // whole / 10:g} %"


def slug(bucket: Bucket) -> str:
    """Return a stable file name for a bucket: what differs, and a few digits of the difference's identity."""
    difference = bucket.difference
    name = difference.name
    if difference.kind in ("refusals", "refusal"):
        name = f"{difference_words(difference)[0]}-{difference.second or difference.first}"
    words = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:60]
    return f"{words or difference.kind}-{_digest(difference.key())}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
