"""One of our own packages as a subject: what it must define, and what a child does with it.

A package that is a subject has at its top level:

- ``ServerArgs``: the record, a dataclass.
- ``arguments()``: the description of each argument by name (`harness.world.fields.FieldSpec`).
- ``SLOTS``: what runs, in order; each slot has a ``number``, a ``name`` and the function ``run``.
- ``FIELDS`` and ``STATE``: the names of an outcome's fields.
- ``resolve(case)``: returns the outcome of a case (`harness.world.case`).

It may also have:

- ``chain(case)`` and ``writers()`` (`harness.world.chain`): the writes of a case, and the places that write. A
  package needs them if its values are applied at another place than where they are declared. Without them we record
  its source like that of a tree.
- ``forget()``: drops what it remembers from earlier cases.
- ``reasons()``: for each pass, by its name, one sentence that says why it declares what it does.
- a file ``unreachable.toml`` beside its modules, which lists what no case reaches (`Unreachable`).
- what the module `reorder` needs to try another order of its steps.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness.subjects.child.aims.harvest import harvest
from harness.subjects.child.aims.values import ReadValues
from harness.subjects.child.recording.reach import RecordedReach
from harness.subjects.child.recording.recorder import Recorder
from harness.subjects.child.serve import launch
from harness.subjects.child.serve.adapter import Adapter
from harness.subjects.child.serve.operations import (
    CaseRequest,
    Described,
    Exchanged,
    JsonObject,
    ListedReads,
    LoadPackage,
)
from harness.subjects.child.serve.values import encode, marked, without_addresses
from harness.subjects.child.tree import describe
from harness.subjects.child.world import sandbox
from harness.subjects.child.world.current import WORLD, UnansweredProbe
from harness.subjects.packaged.finding import import_package
from harness.subjects.packaged.reorder import Reorder
from harness.world.case import BrokenSetUp, Case, Outcome
from harness.world.chain import Write, Writer
from harness.world.environ import envs
from harness.world.fields import FieldSpec
from harness.world.hardware import Hardware
from harness.world.model import Model

_TYPES: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "object": json.loads}
_LONGEST_MESSAGE = 10_000
# Modules of the world whose names a package uses directly. They are read like the package's own source.
_SHARED = ("harness.world.choices", "harness.world.cuda_graph", "harness.world.modelfacts", "harness.world.modelview")


class Unreachable(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An entry of ``unreachable.toml``: something that no case reaches, and the ``reason``.

    ``source`` is a function and ``code`` the text of a line in it. The entry says that the line's writes never run;
    with ``never`` it says instead that the line's conditions never have this result.
    """

    source: str
    code: str
    reason: str
    never: Literal["", "true", "false", "asked"] = ""


class PackageAdapter(Adapter[Case]):
    """A package of ours. It runs on `harness.world`, so it gets whole cases and needs no stand-ins."""

    refusals_have_places = False

    def __init__(self, request: LoadPackage) -> None:
        self.root = request.root
        recorder = Recorder(self.root, request.names) if request.record else None
        self._module = import_package(request.package, Path(self.root), recorder)
        self._resolve: Callable[[Case], Outcome] = self._module.resolve
        self._slots = [(f"{slot.number} {slot.name}", slot.run.__name__) for slot in self._module.SLOTS]
        self._arguments: dict[str, FieldSpec] = self._module.arguments()
        self._names: list[str] = []
        # The bytes inside ``os.environ``: reading them as text would take longer than many a case.
        self._environment = dict(_environment_bytes())
        self._reorder = Reorder(self._module)
        if recorder is not None:
            unreachable = _unreachable(Path(self.root, request.package))
            self.reach = RecordedReach(recorder, self._slots, everything=True, unreachable=unreachable)
        # This reads the source files. It is done before the process is confined, and before any case.
        self._writers = [] if self.reach is None else self.reach.writers()
        self._decisions = [] if self.reach is None else self.reach.decisions()
        self.limits = sandbox.confine(request.memory_bytes, self.root)

    def _tables(self) -> list[JsonObject]:
        """Return the writers that are entries of a table and not code; the package lists them itself."""
        writers: Callable[[], Sequence[Writer]] | None = getattr(self._module, "writers", None)
        code = {(writer["field"], writer["source"]) for writer in self._writers}
        listed = writers() if writers is not None else ()
        return [msgspec.to_builtins(writer) for writer in listed if (writer.field, writer.source) not in code]

    def describe(self) -> Described:
        """Return the arguments, what the resolution reads of them, and the values it compares them with."""
        shared = {name: sys.modules[name] for name in _SHARED if name in sys.modules}
        modules = {**describe.modules_of(self._module.__name__), **shared}
        reading = ReadValues([field.name for field in dataclasses.fields(self._module.ServerArgs)], modules)
        roots = [function for _, function in self._slots]
        reading.follow(roots)
        return Described(
            fields=[msgspec.to_builtins(spec) for spec in self._arguments.values()],
            slots=[slot for slot, _ in self._slots],
            reasons=getattr(self._module, "reasons", dict)(),
            reads=dict(sorted(reading.fields.items())),
            environment={
                name: {**kind, "compared": reading.environment[name]}
                for name, kind in describe.environment_kinds(envs, reading.environment).items()
            },
            architectures=reading.architectures,
            aims=harvest(reading.trees, roots, list(self._arguments)),
            writers=self._writers,
            decisions=self._decisions,
            tables=self._tables(),
        )

    def cases(self, request: CaseRequest[Any]) -> Iterator[Case]:
        """Yield the cases of a request with typed machines and models."""
        machines = msgspec.convert(request.machines, list[Hardware])
        models = msgspec.convert(request.models, list[Model])
        for number, (args, machine, model, env) in enumerate(request.cases):
            yield Case(id=str(number), args=args, hardware=machines[machine], model=models[model], env=env)

    def forget(self) -> None:
        """Let the package drop what it remembers from earlier cases, if it remembers anything."""
        forget: Callable[[], object] | None = getattr(self._module, "forget", None)
        if forget is not None:
            forget()

    def choose(self, names: Sequence[str]) -> list[str]:
        """Fix which outcome fields are reported; return those that an outcome has."""
        held = {*self._module.FIELDS, *self._module.STATE}
        self._names = [name for name in names if name in held]
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
        except BrokenSetUp as error:
            return b"B" + encode(str(error)[:_LONGEST_MESSAGE])
        except BaseException as error:
            # ``resolve`` returns refusals as outcomes, so an exception here is a fault of the package.
            return _broken(f"{type(error).__name__}: {error}")
        finally:
            WORLD.leave()
        if WORLD.unanswered is not None:
            # The package swallowed the exception.
            return _asked(WORLD.unanswered)
        if not isinstance(outcome, Outcome):
            return _broken(f"resolve returned {type(outcome).__name__}, and must return an Outcome")
        if _environment_bytes() != self._environment:
            return self._restored()
        if outcome.error is not None:
            message = without_addresses(outcome.error.message[:_LONGEST_MESSAGE])
            return b"E%s\n%s" % (
                encode([outcome.error.type, message]),
                encode([outcome.error.origin, outcome.env]),
            )
        fields = outcome.fields or {}
        missing = [name for name in self._names if name not in fields]
        if missing:
            return _broken(f"its outcome lacks the field {missing[0]}")
        return b"F" + encode([*(marked(fields[name]) for name in self._names), outcome.env])

    def _restored(self) -> bytes:
        """Restore the environment of the process; return the frame for the case that wrote into it."""
        before, after = self._environment, dict(_environment_bytes())
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        os.environ.clear()
        for name, value in before.items():
            os.environ[os.fsdecode(name)] = os.fsdecode(value)
        where = "the environment of its process and not the case's, which is harness.world.environ"
        return _broken(f"it wrote {os.fsdecode(changed[0])} into {where}")

    def chain(self, case: Case) -> list[JsonObject]:
        """Return every write that resolving the case makes, in order; empty if writes are not recorded."""
        chain: Callable[[Case], Sequence[Write]] | None = getattr(self._module, "chain", None)
        if chain is None:
            return super().chain(case)
        return [{**msgspec.structs.asdict(write), "value": marked(write.value)} for write in chain(case)]

    def written(self, positions: Sequence[int]) -> list[list[JsonObject]] | None:
        """Return the chains of these cases of the last batch, None if the package has its own ``chain``.

        The recorder does not know such a package's chains.
        """
        if self.reach is not None and hasattr(self._module, "chain"):
            return None
        return super().written(positions)

    def reads(self, request: CaseRequest[Any]) -> ListedReads:
        """Resolve the cases, keep them, and return what each step read."""
        try:
            return self._reorder.reads(list(self.cases(request)))
        except BrokenSetUp as error:
            return ListedReads(broken=str(error))

    def exchange(self, first: str, second: str, numbers: Sequence[int], seconds: float) -> Exchanged:
        """Resolve the kept cases ``numbers`` with two steps exchanged."""
        try:
            return self._reorder.exchange(first, second, numbers, seconds)
        except BrokenSetUp as error:
            return Exchanged(broken=str(error))


def _unreachable(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of ``unreachable.toml``, none without such a file. Raises ValueError if it is invalid."""
    path = folder / "unreachable.toml"
    if not path.exists():
        return []
    listed = msgspec.toml.decode(path.read_bytes(), type=dict[str, list[Unreachable]])
    return [msgspec.to_builtins(entry) for entry in listed.get("unreachable", [])]


def _environment_bytes() -> dict[bytes, bytes]:
    data: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]
    return data


def _broken(detail: str) -> bytes:
    """Return the frame of a case for which the package made no outcome."""
    return b"X" + encode(["broken", detail[:_LONGEST_MESSAGE]])


def _asked(error: UnansweredProbe) -> bytes:
    """Return the frame of a case in which the package asked the real machine for something."""
    return b"X" + encode(["unanswered", f"{error.path} {error.how}"])
