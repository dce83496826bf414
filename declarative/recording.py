"""What each pass reads in a case: the record from which `stackproof hazards` derives an order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from declarative.engine.pipeline import Resolution
from declarative.engine.steps import Step
from declarative.inputs.facts import facts_of
from declarative.inputs.model import read_only_model
from declarative.inputs.server_args import ServerArgs
from declarative.pipeline import PIPELINE
from harness.world.case import Case
from harness.world.machine import current
from harness.world.records import argument_specs
from harness.world.slice import resolve_slice


class PassReads(NamedTuple):
    """What one pass or provider read in one case; nested values go by their dotted names."""

    source: str
    fields: frozenset[str]
    environment: frozenset[str]


def recorded_reads(case: Case) -> list[PassReads]:
    """Return what each pass and provider that ran for ``case`` read, in execution order.

    A pass that refused the case is the last. ``model`` stands for anything about the model. Raises UsageError for
    arguments that a case cannot have.
    """
    reads: list[PassReads] = []

    def run(record: ServerArgs) -> None:
        machine = current()
        environment = machine.env = _RecordingEnvironment(machine.env)
        model = read_only_model(machine.model_config)

        def done(step: Step, seen: frozenset[str]) -> None:
            reads.append(PassReads(step.name, seen, frozenset(environment.seen)))
            environment.seen.clear()

        resolution = Resolution(record)
        PIPELINE.record(resolution, model, facts_of(record, model), environment.__setitem__, done)
        resolution.materialize()

    resolve_slice(case, arguments=argument_specs(), record=ServerArgs, run=run, root="")
    return reads


class _RecordingEnvironment(dict[str, str]):
    """An environment that knows which variables were asked for."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.seen: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self.seen.add(str(name))
        return super().__contains__(name)
