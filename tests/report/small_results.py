"""Small results for tests of one report: a bucket or none, and nothing else of interest."""

from __future__ import annotations

from harness.engine.difference.buckets import Bucket
from harness.engine.difference.compare import Difference
from harness.engine.result.events import Counts, Drawn, Finished, Started
from harness.engine.result.traces import WitnessTrace
from harness.formats.launch import LaunchFlags
from harness.world.case import Case

STARTED = Started(
    first="old",
    second="new",
    identities=("dir:/a", "dir:/b"),
    compared=("page_size",),
    absent={"enable_tf32_matmul": "old"},
    seed=7,
    jobs=1,
    cases=10,
    seconds=None,
    notes=("left out: one launch",),
    flags=LaunchFlags(names={"tp_size": "--tp"}),
    drawable=Drawn(machines={"h100"}),
)


def bucket(
    kind: str = "field", name: str = "page_size", first: object = 1, second: object = 128, others: int = 0
) -> Bucket:
    """Return the cause of three cases, of which ``others`` are kept besides the witness."""
    return Bucket(
        difference=Difference(kind=kind, name=name, first=first, second=second),  # type: ignore[arg-type]
        count=3,
        witness=Case(id="7-3", args={"tp_size": 2}),
        others=[Case(id=f"7-{n}", args={"tp_size": n}) for n in range(others)],
    )


def finished(*buckets: Bucket, **more: object) -> Finished:
    """Return a result of ten cases with these buckets."""
    return Finished(
        verdict="different" if buckets else "equivalent",
        reason="3 of 10 cases differ" if buckets else "10 cases agree",
        counts=Counts(resolved=5, refused=2, different=3),
        buckets=buckets,
        explanations=("",) * len(buckets),
        traces=(WitnessTrace(),) * len(buckets),
        started=STARTED,
        **more,  # type: ignore[arg-type]
    )
