"""A result with everything in it that a report can show, made up and small."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import Difference
from harness.engine.ledger.entries import Entry, Ledger
from harness.engine.result.breakdown import Breakdown, Group
from harness.engine.result.events import (
    Counts,
    Covered,
    Decided,
    Drawn,
    Finished,
    Interactions,
    Reached,
    Space,
    Started,
)
from harness.engine.result.excerpts import Excerpts
from harness.engine.result.traces import WitnessTrace
from harness.formats.launch import LaunchFlags
from harness.world.case import Case, Refusal
from harness.world.chain import Decision, Place, Write, Writer
from harness.world.profiles import hardware_profile

OLD, NEW = "server/args.py", "server/passes.py"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"`|]](javascript:alert(3))\x1b[2J\u202e"


def bucket(value: Any = 128, *, name: str = "page_size", kind: str = "field", **more: Any) -> Bucket:
    """Return a cause: 1 in the first subject, ``value`` in the second."""
    difference = Difference(
        kind=kind,  # type: ignore[arg-type]
        name=name,
        first=1,
        second=value,
        writers=(None, Place(source="page_pass", file=NEW, line=2)),
        along=("dtype",),
    )
    return Bucket(
        difference=msgspec.structs.replace(difference, **more),
        count=3,
        witness=Case(id="7-3", args={"tp_size": 2}, hardware=hardware_profile("h100")),
        others=[Case(id="7-5", args={"tp_size": 4})],
        parts=[(difference, 2), (msgspec.structs.replace(difference, first=2), 1)],
        shared=(1, f"page_pass ({NEW}:2)"),
    )


def asked(file: str, line: int) -> Decision:
    """Return the condition of the refusal, at its place on one side."""
    return Decision(text="is_hip()", source="page_pass", file=file, line=line)


def refusals(text: str = "ValueError: no") -> Bucket:
    """Return a cause in which the second subject alone refuses."""
    return Bucket(
        difference=Difference(
            kind="refusal",
            name="",
            first=None,
            second=text,
            checks=(None, Place(source="page_check", file=NEW, line=5)),
            decision=(asked(OLD, 9), asked(NEW, 1)),
        ),
        count=1,
        witness=Case(id="7-9"),
    )


def write(field: str, value: Any, line: int, file: str = NEW) -> Write:
    """Return a write by ``page_pass``."""
    return Write(field=field, value=value, source="page_pass", file=file, line=line)


def result(value: Any = 128, text: str = "ValueError: no", line: str = "    view.page_size = 128") -> Finished:
    """Return a result with a field that differs, a refusal, something explained and something not reached.

    ``value`` is what the second subject makes of the field, ``text`` its refusal, ``line`` its source's second line.
    """
    entry = Entry(
        id="meant", subjects=("old", "new"), named=("old", "new"), reason="it is", reference="#7", fields=("dtype",)
    )
    site = {"slot": "1 page_pass", "source": "page_pass"}
    explained = msgspec.structs.replace(bucket(name="dtype").difference, writers=None, along=(), entry="meant")
    return Finished(
        verdict="different",
        reason="4 of 12 cases differ",
        counts=Counts(resolved=5, refused=2, explained=1, different=4),
        buckets=(bucket(value), refusals(text)),
        explanations=("page_size changed from 1", ""),
        traces=(
            WitnessTrace(
                chains=((write("dtype", "auto", 1, OLD),), (write("page_size", value, 2), write("dtype", "x", 3)))
            ),
            WitnessTrace(refusals=(None, Refusal(type="ValueError", message="no", origin="page_check"))),
        ),
        explained=(Bucket(difference=explained, count=1, witness=Case(id="7-11")),),
        stale=(),
        covered=(
            Covered(
                writes=(
                    Reached(writer=Writer(field="page_size", file=OLD, line=9, **site), count=4),
                    Reached(writer=Writer(field="stuck", file=OLD, line=11, **site), count=0),
                )
            ),
            Covered(
                writes=(
                    Reached(writer=Writer(field="page_size", file=NEW, line=2, **site), count=4),
                    Reached(writer=Writer(field="dtype", file=NEW, line=3, **site), count=0, excuse="never on this"),
                ),
                decisions=(
                    Decided(decision=Decision(text="is_hip()", source="page_pass", file=NEW, line=1), seen=2),
                    Decided(
                        decision=Decision(
                            text="is_moon()", source="page_pass", file=NEW, line=3, never="true", excuse="no moon"
                        ),
                        seen=2,
                    ),
                    Decided(decision=Decision(text="True", source="page_pass", file=NEW, line=1), seen=3),
                ),
            ),
        ),
        excerpts=(
            Excerpts(lines={OLD: {1: "dtype = 'auto'", 11: "    self.stuck = 1"}}),
            Excerpts(
                lines={NEW: {1: "if is_hip():", 2: line, 3: "    view.dtype = 'x'", 5: "    raise ValueError('no')"}},
            ),
        ),
        breakdown=Breakdown(
            architectures={
                "LlamaForCausalLM": Group(resolved=8, refused=3, different={"page_size": 3, "(refusal)": 1}),
                "MadeUpForCausalLM": Group(resolved=1, explained={"dtype": 1}),
            },
            machines={
                "h100": Group(resolved=8, refused=2, different={"page_size": 3, "(refusal)": 1}),
                "cpu (other)": Group(refused=1),
                "hip (other)": Group(resolved=1, explained={"dtype": 1}),
            },
        ),
        interactions=Interactions(
            space=Space(parameters=9, pairs=100, triples=1000, sampled=50), pairs=90, triples=40
        ),
        started=Started(
            first="old",
            second="new",
            identities=("dir:/a", "commit:b"),
            compared=("page_size", "dtype", "ep_size", "stuck"),
            absent={"enable_tf32_matmul": "old"},
            seed=7,
            jobs=1,
            cases=12,
            seconds=None,
            notes=("left out: one launch",),
            flags=LaunchFlags(names={"tp_size": "--tp"}),
            ledger=Ledger(entries=(entry,)),
            gated=("page_size", "stuck"),
            drawable=Drawn(architectures={"LlamaForCausalLM", "Qwen3ForCausalLM"}, machines={"h100", "b200"}),
            folders=(None, "src"),
        ),
    )
