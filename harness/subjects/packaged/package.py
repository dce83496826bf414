"""One of our own packages, loaded: what it promises, and what a child does with it.

A package that is a subject has, at its top,

- ``ServerArgs``, the record, a dataclass;
- ``arguments()``, the description of its arguments by name (`harness.world.fields.FieldSpec`);
- ``SLOTS``, what runs, in order; each with a ``number``, a ``name`` and the function ``run``;
- ``resolve(case)``, the outcome of a case (`harness.world.case`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.subjects.child import describe, launch
from harness.subjects.child.wire import encode, marked, without_addresses
from harness.subjects.child.world import WORLD, UnansweredProbe
from harness.subjects.packaged.recording import import_recorded
from harness.world.case import Case, Outcome
from harness.world.chain import Write, Writer
from harness.world.environ import envs
from harness.world.fields import FieldSpec

_TYPES: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "object": json.loads}
_LONGEST_MESSAGE = 10_000


class Package:
    """A package whose writes of ``names`` are recorded."""

    def __init__(self, name: str, root: Path, names: Sequence[str]) -> None:
        self._module, self._recorder = import_recorded(name, root, names)
        self._resolve: Callable[[Case], Outcome] = self._module.resolve
        self._slots = [(f"{slot.number} {slot.name}", slot.run.__name__) for slot in self._module.SLOTS]
        self._arguments: dict[str, FieldSpec] = self._module.arguments()
        self._names: list[str] = []
        # Sites in slot order, and where each is among the recorder's counts.
        ordered = self._recorder.sources.in_slot_order(self._slots)
        position = {id(site): number for number, site in enumerate(self._recorder.sources.sites)}
        self._order = [position[id(site)] for _, site in ordered]
        self._writers = [
            Writer(field=site.field, slot=slot, source=site.source, file=site.file, line=site.line)
            for slot, site in ordered
        ]
        self._told = [0] * len(self._order)

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent asks for: the same keys as a source tree's."""
        reading = describe.Reading(self._module.ServerArgs, describe.modules_of(self._module.__name__))
        reading.follow([function for _, function in self._slots])
        fields = [msgspec.to_builtins(spec) for spec in self._arguments.values()]
        return {
            "fields": fields,
            "slots": [slot for slot, _ in self._slots],
            "reads": dict(sorted(reading.fields.items())),
            "environment": {
                name: {**kind, "compared": reading.environment[name]}
                for name, kind in describe.environment_kinds(envs, reading.environment).items()
            },
            "architectures": reading.architectures,
            "writers": msgspec.to_builtins(self._writers),
        }

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields are reported; return those that an outcome holds."""
        plain = self._resolve(Case(id="plain")).fields or {}
        self._names = [name for name in names if name in plain]
        self.reach()
        return self._names

    def parse(self, argv: list[str]) -> dict[str, Any]:
        """Return the arguments that launch flags set. Raises LaunchError for flags that do not parse."""
        return launch.parse(self._parser(), argv, set(self._arguments))

    def _parser(self) -> argparse.ArgumentParser:
        parser = launch.strict_parser()
        for spec in self._arguments.values():
            if not spec.flags:
                continue
            if spec.type == "bool":
                parser.add_argument(*spec.flags, dest=spec.name, action="store_true", default=argparse.SUPPRESS)
                continue
            parser.add_argument(
                *spec.flags,
                dest=spec.name,
                type=_TYPES[spec.type],
                choices=spec.choices or None,
                default=argparse.SUPPRESS,
            )
        return parser

    def resolve(self, case: Case) -> bytes:
        """Return the case's answer frame."""
        WORLD.enter({})
        try:
            outcome = self._resolve(case)
        except MemoryError:
            return b'X["memory","it ran out of memory"]'
        except UnansweredProbe as error:
            return _asked(error)
        except BaseException as error:
            # A refusal is an outcome; what comes out as an exception is a fault of the package.
            return b"X" + encode(["broken", f"{type(error).__name__}: {error}"[:_LONGEST_MESSAGE]])
        finally:
            WORLD.leave()
        if WORLD.unanswered is not None:
            # The package swallowed it.
            return _asked(WORLD.unanswered)
        if outcome.error is not None:
            message = without_addresses(outcome.error.message[:_LONGEST_MESSAGE])
            return b"E%s\n%s" % (
                encode([outcome.error.type, message]),
                encode([outcome.error.origin, outcome.env]),
            )
        assert outcome.fields is not None
        fields = outcome.fields
        return b"F" + encode([*(marked(fields[name]) for name in self._names), outcome.env])

    def chain(self, case: Case) -> list[Write]:
        """Return every write that resolving the case makes, in order."""
        self._recorder.log = []
        try:
            self._resolve(case)
            log = self._recorder.log
        finally:
            self._recorder.log = None
        return [
            Write(field=site.field, value=marked(value), source=site.source, file=site.file, line=site.line)
            for site, value in log
        ]

    def reach(self) -> list[int]:
        """Return how often each writer of the description ran since this was last asked."""
        counts = [self._recorder.counts[number] for number in self._order]
        fresh = [now - before for now, before in zip(counts, self._told, strict=True)]
        self._told = counts
        return fresh


def _asked(error: UnansweredProbe) -> bytes:
    """Return the frame of a case that asked the real machine for something."""
    return b"X" + encode(["unanswered", f"{error.path} {error.how}"])
