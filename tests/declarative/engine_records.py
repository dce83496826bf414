"""A small record, and a pipeline over it, for tests of the engine alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated as A
from typing import Any, NamedTuple

from declarative.engine import Arg, Pipeline, Registry, Resolution, Slot


@dataclass
class Phase:
    backend: str = "full"
    size: int | None = None


@dataclass
class Graphs:
    decode: Phase = field(default_factory=Phase)
    limit: int = 8


@dataclass
class Record:
    page_size: A[int | None, Arg("Tokens a page.", resolvable=True)] = None
    attention_backend: A[str | None, Arg("Kernels.", resolvable=True)] = None
    dtype: A[str, Arg("The type.", resolvable=True)] = "auto"
    tp_size: A[int, Arg("Ranks.")] = 1
    radix: A[bool, Arg("A prefix cache.")] = True
    graphs: A[Graphs, Arg("Graphs.")] = field(default_factory=Graphs)
    states: A[bool, Arg("State layers.", no_cli=True, resolvable=True)] = field(default=False, init=False)


WHITELIST = ("page_size", "attention_backend", "dtype", "states")
STATE = ("radix", "graphs.decode.backend", "graphs.limit")


class Facts(NamedTuple):
    architecture: str | None = "Plain"
    device: str = "cuda"


class Run:
    """One run of ``steps`` over a record, with what it left."""

    def __init__(
        self,
        *steps: Any,
        record: Record | None = None,
        registry: Registry | None = None,
        facts: Facts | None = None,
        model: object = "the model",
    ) -> None:
        self.record = record or Record()
        self.environment: dict[str, str] = {}
        self.resolution = Resolution(self.record)
        self.pipeline = Pipeline((Slot(0, "all", steps),), record=Record, state=STATE, registry=registry)
        self.model, self.facts = model, facts or Facts()

    def __call__(self) -> Run:
        self.pipeline.resolve(self.resolution, self.model, self.facts, self.environment.__setitem__)
        return self
