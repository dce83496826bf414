"""An open subject: it resolves cases in a child process, and starts a new one whenever a case ends the process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

import msgspec

from harness.common.errors import UsageError, hint
from harness.formats.launch import split_launch
from harness.subjects.batch import packed
from harness.subjects.child.serve import operations
from harness.subjects.description import WORLD, Aims, Description, Variable
from harness.subjects.process import ChildDied, ChildFault, Process, encoded
from harness.subjects.spec import SubjectSpec
from harness.subjects.wire import decode_frame, failure_frame
from harness.world.case import Case, Failure, Outcome
from harness.world.chain import Decision, Place, Trace, Write, Writer
from harness.world.fields import FieldSpec
from harness.world.profiles import PublishedLaunch, hardware_profile, model_profile

A = TypeVar("A")

_MIB = 1 << 20
# The first bytes that the frame of a case may have.
_KINDS = b"FEXB"
_BROKEN_SET_UP = b"B"
_OUT_OF_MEMORY = b'X["memory"'
# Time that the child gets for sending an answer, besides the time limit of one case.
_SLACK_SECONDS = 6.0
_READ_BYTES_A_SECOND = 2e6


class _Traced(msgspec.Struct):
    asked: list[int]
    variables: tuple[Write, ...]
    raised: Place | None


class Subject:
    """One open subject. Close it, or use it as a context manager. The child starts at the first request.

    The kinds of subject (`harness.subjects.kinds`) differ in how a child is started and what it is asked to load.
    ``restarts`` counts how often a case has ended the child.
    """

    # True if cases are sent with the answers of the probes of their machine and model.
    _answers = True

    def __init__(self, spec: SubjectSpec) -> None:
        self.spec = spec
        self._process: Process | None = None
        self._starting: Process | None = None
        self._names: tuple[str, ...] = ()
        self._chosen: tuple[str, ...] | None = None
        self.restarts = 0
        self._last_is_whole = False
        # The two branches of each decision, false first. A trace has their positions in this list.
        self._branches: list[tuple[Decision, bool]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child, if one runs."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def kill(self) -> None:
        """End the process at once; another thread may call this. A thread that waits for an answer gets ChildDied."""
        if self._starting is not None:
            self._starting.kill()

    def load(self) -> None:
        """Start the process and load the subject, if that has not been done. Raises UsageError."""
        self._running()

    def describe(self) -> Description:
        """Return the subject's own description of its arguments and of what its resolution reads.

        Raises UsageError if the subject cannot be loaded.
        """
        raw = self._ask(operations.Describe())
        reads = {name: tuple(values) for name, values in raw.reads.items()}
        fields = {
            entry["name"]: msgspec.convert(
                {**entry, "compared": reads.get(entry["name"], ())}, FieldSpec, strict=False
            )
            for entry in raw.fields
        }
        chosen = self._chosen
        self._choose(tuple(self.spec.written if raw.resolved is None else raw.resolved))
        resolved = self._names
        if chosen is not None:
            self._choose(chosen)
        return Description(
            fields=fields,
            reads=reads,
            environment={name: msgspec.convert(entry, Variable) for name, entry in raw.environment.items()},
            architectures=tuple(raw.architectures),
            slots=tuple(raw.slots),
            resolved=resolved,
            writers=msgspec.convert(raw.writers, tuple[Writer, ...]),
            tables=msgspec.convert(raw.tables, tuple[Writer, ...]),
            decisions=msgspec.convert(raw.decisions, tuple[Decision, ...]),
            reasons=raw.reasons,
            aims=msgspec.convert(raw.aims, Aims),
            takes=WORLD if raw.takes is None else tuple(raw.takes),
        )

    def parse(self, argv: Sequence[str], where: str) -> dict[str, Any]:
        """Return the arguments that launch flags set, as the subject's own parser reads them.

        Raises UsageError for flags that do not parse; it says ``where`` they are, and names the nearest flag.
        """
        answer = self._ask(operations.Parse(list(argv)))
        if answer.args is not None:
            return answer.args
        flags = [flag for spec in self.describe().fields.values() for flag in spec.flags]
        near = hint(answer.unknown, flags) if answer.unknown else ""
        raise UsageError(f"{where}: {answer.error}{near} in the launch of {self.spec.label}")

    def launch_case(self, launch: PublishedLaunch) -> Case:
        """Return a real launch as a case, its flags parsed by the subject. Raises UsageError for flags it lacks."""
        where = f"real launch {launch.id}"
        line = split_launch(launch.command, where)
        return Case(
            id=launch.id,
            args=self.parse(line.argv, where),
            hardware=hardware_profile(launch.hardware),
            model=model_profile(launch.model),
            env={**launch.env, **line.env},
        )

    def choose(self, names: Sequence[str]) -> None:
        """Fix the outcome fields that `resolve` reports, in this order; those that the subject lacks are left out."""
        self._choose(tuple(names))

    def _choose(self, names: tuple[str, ...]) -> None:
        self._chosen = names
        self._names = tuple(self._ask(operations.Choose(list(names))).fields)

    def resolve(self, cases: Sequence[Case], stream: int | None = None) -> list[bytes]:
        """Return one answer frame for each case, in order (`wire.decode_frame` reads them).

        With a ``stream``, `reach` tells afterwards which cases were the first of that stream to reach something, by
        their positions in ``cases``.

        A case that ends or hangs the child gets a failure frame, and the rest continue in a new child. Raises
        UsageError if a new child cannot load the subject, and if a case shows that a package is set up wrongly
        (`harness.world.case.BrokenSetUp`).
        """
        frames: list[bytes] = []
        single = False
        restarts = self.restarts
        while len(frames) < len(cases):
            rest = cases[len(frames) :]
            request = encoded(
                operations.Resolve(**self._packed(rest), part=operations.StreamPart(stream, len(frames), single))
            )
            # The child sends its answers at least once a second, and needs a while to read a large request.
            wait = self.spec.limits.case_seconds + _SLACK_SECONDS + len(request) / _READ_BYTES_A_SECOND
            try:
                for frame in self._running().frames(request, len(rest), wait, _KINDS):
                    if frame.startswith(_BROKEN_SET_UP):
                        self.close()
                        raise UsageError(f"{self.spec.label}: {msgspec.json.decode(frame[1:])}")
                    frames.append(frame)
                    if frame.startswith(_OUT_OF_MEMORY):
                        # The child ends by itself; the next case gets a new one.
                        self.close()
                        self.restarts += 1
                        break
            except ChildDied as death:
                self._process = None
                self.restarts += 1
                # Several answers come at once, so only a child that sends each answer at once shows which case ended
                # it. Therefore the rest is tried again case by case; the next death is that of the first case left.
                if single:
                    frames.append(failure_frame(Failure(death.kind, death.detail)))  # type: ignore[arg-type]
                single = not single
            except BaseException:
                # We were interrupted. In this child the answers still to come would be taken for those of the next
                # request.
                self.close()
                raise
        self._last_is_whole = self.restarts == restarts
        return frames

    def outcomes(self, cases: Sequence[Case]) -> list[Outcome]:
        """Return the decoded outcomes of ``cases``, in order."""
        return [
            decode_frame(frame, case.id, self._names) for case, frame in zip(cases, self.resolve(cases), strict=True)
        ]

    def loop(self, cases: Sequence[Case]) -> float:
        """Return the seconds that the child takes for ``cases`` and nothing else; a benchmark compares with it."""
        seconds = self.spec.limits.case_seconds * max(1, len(cases))
        return self._ask(operations.Loop(**self._packed(cases)), seconds).seconds

    def reach(self) -> operations.ReachReport:
        """Return which writers and decisions of the description ran since the last call.

        The report is empty if the subject is not recorded. What a process has seen is lost if it ends; it may end
        even after its last answer, because of a thread that a case has left behind. Raises UsageError if a new
        process ends, too.
        """
        answer = self._tried(operations.Reach(), self.spec.limits.load_seconds)
        return self._ask(operations.Reach()) if answer is None else answer

    def chains(self, cases: Sequence[Case]) -> list[list[Write]]:
        """Return for each case every write of a recorded field that it makes, in order.

        The chains are empty if writes are not recorded, or if one of the cases ends the process: chains explain an
        outcome, and no verdict depends on them.
        """
        answer = self._tried_again(operations.WriteChains, cases)
        chains = None if answer is None else answer.chains
        return [[] for _ in cases] if chains is None else msgspec.convert(chains, list[list[Write]])

    def chains_of(self, cases: Sequence[Case], positions: Sequence[int]) -> list[list[Write]]:
        """Return the chains of the cases at ``positions`` in ``cases``, which were resolved last.

        They are resolved again only if the process has been replaced meanwhile, or keeps no chains.
        """
        if self._last_is_whole:
            answer = self._tried(operations.Written(list(positions)), self.spec.limits.load_seconds)
            if answer is not None and answer.chains is not None:
                return msgspec.convert(answer.chains, list[list[Write]])
        return self.chains([cases[position] for position in positions])

    def traces(self, cases: Sequence[Case]) -> list[Trace]:
        """Return for each case which branches it took, which variables it set and where it raised.

        The traces are empty if one of the cases ends the process: like chains, they only explain.
        """
        answer = self._tried_again(operations.Traces, cases)
        if answer is None:
            return [Trace() for _ in cases]
        if not self._branches:
            decisions = msgspec.convert(self._ask(operations.Decisions()).decisions, list[Decision])
            self._branches = [(decision, outcome) for decision in decisions for outcome in (False, True)]
        return [
            Trace(
                taken=tuple(map(self._branches.__getitem__, case.asked)),
                variables=case.variables,
                raised=case.raised,
            )
            for case in msgspec.convert(answer.cases, list[_Traced])
        ]

    def _packed(self, cases: Sequence[Case]) -> dict[str, Any]:
        return packed(cases, answers=self._answers)

    def _tried_again(self, operation: Callable[..., operations.Operation[A]], cases: Sequence[Case]) -> A | None:
        """Let the child resolve cases once more and return its answer, None if one of them ends it."""
        seconds = self.spec.limits.load_seconds + self.spec.limits.case_seconds
        return self._tried(operation(**self._packed(cases)), seconds)

    def _tried(self, request: operations.Operation[A], seconds: float) -> A | None:
        """Return the answer to a request, None if the subject ends its process meanwhile.

        Raises ChildFault for an exception of our own code in the child.
        """
        try:
            return self._answer(request, seconds)
        except ChildFault:
            raise
        except ChildDied:
            self.restarts += 1
            return None

    def _ask(self, request: operations.Operation[A], seconds: float | None = None) -> A:
        """Return the answer to a request. Raises UsageError if the process ends meanwhile."""
        try:
            return self._answer(request, seconds or self.spec.limits.load_seconds)
        except ChildDied as death:
            raise UsageError(f"{self.spec.label}: {request.op} failed in its process: {death.detail}") from None

    def _answer(self, request: operations.Operation[A], seconds: float) -> A:
        """Return the answer to a request. Raises ChildDied; after any exception the next request gets a new child."""
        process = self._running()
        try:
            return process.ask(request, seconds)
        except ChildDied:
            self._process = None
            raise
        except BaseException:
            # We were interrupted. In this child the answer still to come would be taken for that of the next request.
            self.close()
            raise

    def _running(self) -> Process:
        if self._process is None:
            process = self._start()
            if self._chosen is not None:
                try:
                    process.ask(operations.Choose(list(self._chosen)), self.spec.limits.load_seconds)
                except ChildDied as death:
                    raise UsageError(
                        f"{self.spec.label}: its process ended after the import of the tree: {death.detail}"
                    ) from None
            self._process = process
        return self._process

    def _start(self) -> Process:
        spec = self.spec
        limits = {
            "record": spec.record,
            "memory_bytes": spec.limits.memory_mib * _MIB,
            "case_seconds": spec.limits.case_seconds,
            "load_seconds": spec.limits.load_seconds,
        }
        process = self._starting = self._process_of()
        try:
            answer = process.ask(self._load_request(limits), spec.limits.load_seconds)
        except ChildDied as death:
            by = "" if spec.python == sys.executable else f" by {spec.python}"
            raise UsageError(
                f"{spec.label}: its process ended while the tree was being imported{by}: {death.detail}"
            ) from None
        except BaseException:
            process.close()
            raise
        if answer.error is not None:
            process.close()
            error = self._load_error(answer)
            raise error if isinstance(error, UsageError) else UsageError(f"{spec.label}: {error}")
        process.share_core()
        return process

    def _process_of(self) -> Process:
        """Return a new process that can be asked to load the subject."""
        raise NotImplementedError

    def _load_request(self, limits: dict[str, Any]) -> operations.Load:
        """Return the request that makes the process load the subject.

        ``limits`` has the attributes that are common to all kinds.
        """
        raise NotImplementedError

    def _load_error(self, answer: operations.Loaded) -> str | UsageError:
        """Return the error for a process that could not load the subject, or its text without the subject's label."""
        raise NotImplementedError
