"""Records what each pass reads in a case; `stackproof hazards` derives from it which passes depend on their order."""

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
    """What one pass or provider read in one case.

    ``fields`` also holds the dotted names of values inside objects, and ``model`` for anything about the model.
    ``environment`` are the variables.
    """

    source: str
    fields: frozenset[str]
    environment: frozenset[str]


def recorded_reads(case: Case) -> list[PassReads]:
    """Return what each pass and provider that ran for ``case`` read, in execution order.

    If a pass refused the case, it is the last one. Raises UsageError for arguments that a case cannot have.
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
    """An environment that adds to ``seen`` the name of each variable that is looked up."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.seen: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self.seen.add(str(name))
        return super().__contains__(name)
