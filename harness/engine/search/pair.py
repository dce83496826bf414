"""Two open subjects that run the same cases: the inner loop of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple, TypeVar

import msgspec

from harness.engine.difference.buckets import Bucket, Buckets
from harness.engine.difference.compare import Comparison, Difference
from harness.engine.difference.diverging import located, needs_no_decisions, needs_trace
from harness.engine.difference.roots import rooted
from harness.engine.ledger.entries import Ledger
from harness.engine.result.breakdown import Breakdown
from harness.engine.result.events import Counts
from harness.engine.result.traces import WitnessTrace
from harness.subjects.child.serve.operations import ReachReport
from harness.subjects.description import Description
from harness.subjects.open import open_subject
from harness.subjects.spec import SubjectSpec
from harness.subjects.subject import Subject
from harness.subjects.wire import decode_frame, raised_at
from harness.world.case import Case, Outcome
from harness.world.chain import Trace

_RESOLVED = b"F"
T = TypeVar("T")


class Ran(NamedTuple):
    """The result of running some cases: counts, buckets, and for each case both answer frames and what differs."""

    counts: Counts
    breakdown: Breakdown
    buckets: list[Bucket]
    frames: list[tuple[bytes, bytes]]
    found: list[list[Difference]]


class Pair:
    """Both subjects of a gate. Use it as a context manager; the children end with it."""

    def __init__(self, first: SubjectSpec, second: SubjectSpec) -> None:
        self.first = open_subject(first)
        self.second = open_subject(second)
        self._comparison = Comparison(())
        self._names: tuple[str, ...] = ()
        self._ledger = Ledger()

    def __enter__(self) -> Pair:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End both children."""
        self.first.close()
        self.second.close()

    def load(self) -> None:
        """Load both trees at the same time; their processes do the work. Raises UsageError."""
        self._both(Subject.load)

    def describe(self) -> tuple[Description, Description]:
        """Return both descriptions, loading the trees if need be. Raises UsageError."""
        first, second = self._both(Subject.describe)
        return first, second

    def _both(self, action: Callable[[Subject], T]) -> list[T]:
        with ThreadPoolExecutor(2) as pool:
            try:
                return list(pool.map(action, (self.first, self.second)))
            except KeyboardInterrupt:
                # Leaving the block waits for both threads, and these wait for their processes: end the processes.
                self.first.kill()
                self.second.kill()
                raise

    @property
    def compares_messages(self) -> bool:
        """Whether two refusals must agree in their message too: they must if both subjects are of one code base."""
        return self.first.spec.family == self.second.spec.family

    def compare_fields(self, names: Sequence[str], *, alone: bool = False, ledger: Ledger | None = None) -> None:
        """Set the outcome fields that are compared; both subjects must have them.

        If they are not compared ``alone``, the environment and the refusals are compared too. ``ledger`` has the
        intended differences between these two subjects.
        """
        self._names = tuple(names)
        self._ledger = ledger or Ledger()
        self._comparison = Comparison(self._names, messages=self.compares_messages, fields_alone=alone)
        self.first.choose(self._names)
        self.second.choose(self._names)

    def differences(self, cases: Sequence[Case]) -> list[list[Difference]]:
        """Return the differences of each case: those that the ledger explains, then the root of the others."""
        frames = list(zip(self.first.resolve(cases), self.second.resolve(cases), strict=True))
        return self._roots(
            cases, frames, [self._compare(case, *pair) for case, pair in zip(cases, frames, strict=True)]
        )

    def _roots(
        self, cases: Sequence[Case], frames: Sequence[tuple[bytes, bytes]], found: list[list[Difference]]
    ) -> list[list[Difference]]:
        """Return the differences of each case, but of those that the ledger does not explain only the root.

        The root is the one that came first; the others follow from it.
        """
        asked = [
            number
            for number, differences in enumerate(found)
            if any(one.entry is None and one.kind != "failure" for one in differences)
        ]
        if not asked:
            return found
        chains = zip(self.first.chains_of(cases, asked), self.second.chains_of(cases, asked), strict=True)
        for number, pair in zip(asked, chains, strict=True):
            first, second = (decode_frame(frame, "", self._names) for frame in frames[number])
            open_ones = [one for one in found[number] if one.entry is None]
            explained = [one for one in found[number] if one.entry is not None]
            found[number] = [*explained, rooted(open_ones, pair, (first, second))]
        return self._located(cases, frames, found)

    def _located(
        self, cases: Sequence[Case], frames: Sequence[tuple[bytes, bytes]], found: list[list[Difference]]
    ) -> list[list[Difference]]:
        """Add the places of divergence to the roots that no write of a field explains.

        If the frames do not show these places, the cases are resolved once more, with their decisions recorded. To
        record decisions in every case would slow down all the cases that agree.
        """
        asked = []
        for number, roots in enumerate(found):
            if not roots or not needs_trace(roots[-1]):
                continue
            *others, root = roots
            first, second = (Trace(raised=raised_at(frame)) for frame in frames[number])
            if needs_no_decisions(root, (first, second)):
                found[number] = [*others, located(root, (first, second))]
            else:
                asked.append(number)
        if not asked:
            return found
        some = [cases[number] for number in asked]
        traces = zip(self.first.traces(some), self.second.traces(some), strict=True)
        for number, pair in zip(asked, traces, strict=True):
            *others, root = found[number]
            first, second = (
                msgspec.structs.replace(trace, raised=raised_at(frame) or trace.raised)
                for trace, frame in zip(pair, frames[number], strict=True)
            )
            found[number] = [*others, located(root, (first, second))]
        return found

    def _compare(self, case: Case, a: bytes, b: bytes) -> list[Difference]:
        found = self._comparison.differences(a, b)
        if not found or not self._ledger.entries:
            return found
        first, second = (decode_frame(frame, case.id, self._names) for frame in (a, b))
        return [
            msgspec.structs.replace(
                difference, entry=self._ledger.explains(difference.kind, difference.name, case, first, second)
            )
            for difference in found
        ]

    def run(self, cases: Sequence[Case], stream: int | None = None) -> Ran:
        """Resolve the cases on both sides and compare them; the subjects record what the ``stream`` reaches."""
        counts, buckets = Counts(), Buckets()
        frames = list(zip(self.first.resolve(cases, stream), self.second.resolve(cases, stream), strict=True))
        compared = [self._compare(case, *pair) for case, pair in zip(cases, frames, strict=True)]
        breakdown = Breakdown()
        differences = self._roots(cases, frames, compared)
        for case, pair, found in zip(cases, frames, differences, strict=True):
            resolved = pair[0][:1] == _RESOLVED == pair[1][:1]
            breakdown.count(case, found, resolved=resolved, failed=bool(found) and is_failure(found))
            if not found:
                if resolved:
                    counts.resolved += 1
                else:
                    counts.refused += 1
                continue
            if is_failure(found):
                counts.failed += 1
            elif all(difference.entry is not None for difference in found):
                counts.explained += 1
            else:
                counts.different += 1
            for difference in found:
                buckets.add(difference, case)
        return Ran(counts, breakdown, buckets.all(), frames, differences)

    def reach(self) -> tuple[ReachReport, ReachReport]:
        """Return what ran of each side since the last call (see `Subject.reach`)."""
        return self.first.reach(), self.second.reach()

    def outcomes(self, case: Case) -> tuple[Outcome, Outcome]:
        """Return both outcomes of one case."""
        (first,), (second,) = self.first.outcomes([case]), self.second.outcomes([case])
        return first, second

    def witness_trace(self, bucket: Bucket, outcomes: tuple[Outcome, Outcome]) -> WitnessTrace:
        """Return the writes and refusals behind ``outcomes`` of the bucket's witness.

        The witness must be the case that was resolved last. If it ends or hangs the process, its trace is empty.
        """
        if bucket.difference.kind == "failure":
            return WitnessTrace()
        first, second = outcomes
        (left,), (right,) = (subject.chains_of([bucket.witness], [0]) for subject in (self.first, self.second))
        return WitnessTrace(chains=(tuple(left), tuple(right)), refusals=(first.error, second.error))


def is_failure(found: Sequence[Difference]) -> bool:
    """Whether the case proves nothing, because an outcome is missing for a reason that is no difference.

    An unanswered probe is a gap in our answers. A death, a timeout or too much memory is a gap when both sides
    show it, and a difference when only one does.
    """
    return any(
        difference.failures is not None and ("unanswered" in difference.failures or None not in difference.failures)
        for difference in found
    )
