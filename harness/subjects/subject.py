"""An open subject: a child process that resolves cases, replaced whenever a case ends it."""

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
_KINDS = b"FEXB"
_BROKEN_SET_UP = b"B"
_OUT_OF_MEMORY = b'X["memory"'
_SLACK_SECONDS = 6.0
_READ_BYTES_A_SECOND = 2e6


class _Traced(msgspec.Struct):
    asked: list[int]
    variables: tuple[Write, ...]
    raised: Place | None


class Subject:
    """One open subject. Close it, or use it as a context manager; the child is started at the first request.

    The kinds of subjects (`harness.subjects.kinds`) differ in how a child is started and what it is asked to load.
    """

    # Whether cases are sent with what probes of their machine and model answer.
    _answers = True

    def __init__(self, spec: SubjectSpec) -> None:
        self.spec = spec
        self._process: Process | None = None
        self._starting: Process | None = None
        self._names: tuple[str, ...] = ()
        self._chosen: tuple[str, ...] | None = None
        self.restarts = 0
        self._last_is_whole = False
        # The two branches of each decision, false first: a trace reports them by their positions here.
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
        """End the process at once, also from another thread; a thread that waits for its answer gets ChildDied."""
        if self._starting is not None:
            self._starting.kill()

    def load(self) -> None:
        """Start the process and import the tree, if that has not been done. Raises UsageError."""
        self._running()

    def describe(self) -> Description:
        """Return the subject's own description of its arguments and of what its resolution reads.

        Raises UsageError when the tree cannot be loaded.
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

        Raises UsageError for flags that do not parse, naming ``where`` they stand and the nearest flag.
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
        """Fix the outcome fields that ``resolve`` reports, in this order; all must be ``resolved`` ones."""
        self._choose(tuple(names))

    def _choose(self, names: tuple[str, ...]) -> None:
        self._chosen = names
        self._names = tuple(self._ask(operations.Choose(list(names))).fields)

    def resolve(self, cases: Sequence[Case], stream: int | None = None) -> list[bytes]:
        """Return one answer frame a case, in order (``wire.decode_frame`` reads them).

        Of a ``stream`` what is new is kept for ``reach``, under the cases' positions in ``cases``.

        A case that ends or hangs the child gets a failure frame of its own, and the rest go on in a fresh child.
        Raises UsageError when a fresh child cannot load the tree, and when a case shows that a package is set up
        wrongly (`harness.world.case.BrokenSetUp`).
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
                        # The child ends by itself; the next case gets a fresh one.
                        self.close()
                        self.restarts += 1
                        break
            except ChildDied as death:
                self._process = None
                self.restarts += 1
                # Answers come in bunches: only a child that answers case by case shows which case ended it.
                if single:
                    frames.append(failure_frame(Failure(death.kind, death.detail)))  # type: ignore[arg-type]
                single = not single
            except BaseException:
                # Interrupted: the answers still to come would be taken for those of the next request.
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
        """Return the seconds the child takes for ``cases`` when it does nothing else: a benchmark's floor."""
        seconds = self.spec.limits.case_seconds * max(1, len(cases))
        return self._ask(operations.Loop(**self._packed(cases)), seconds).seconds

    def reach(self) -> operations.ReachReport:
        """Return how often each writer of the description ran since this was last asked, and what decisions saw.

        Nothing where the subject is not recorded. What a process that has ended had seen is lost, also where it ended
        after its last answer (a case may have left a thread behind). Raises UsageError when a fresh one ends, too.
        """
        answer = self._tried(operations.Reach(), self.spec.limits.load_seconds)
        return self._ask(operations.Reach()) if answer is None else answer

    def chains(self, cases: Sequence[Case]) -> list[list[Write]]:
        """Return for each case every write of a resolved field that it makes, in order; none where none are recorded.

        None either when one of the cases ends the process: chains explain an outcome and decide no verdict.
        """
        answer = self._tried_again(operations.WriteChains, cases)
        chains = None if answer is None else answer.chains
        return [[] for _ in cases] if chains is None else msgspec.convert(chains, list[list[Write]])

    def chains_of(self, cases: Sequence[Case], positions: Sequence[int]) -> list[list[Write]]:
        """Return what `chains` does of some of the ``cases`` resolved last, without resolving them again."""
        if self._last_is_whole:
            answer = self._tried(operations.Written(list(positions)), self.spec.limits.load_seconds)
            if answer is not None and answer.chains is not None:
                return msgspec.convert(answer.chains, list[list[Write]])
        return self.chains([cases[position] for position in positions])

    def traces(self, cases: Sequence[Case]) -> list[Trace]:
        """Return for each case what it decided and which variables it set; nothing where `chains` gives nothing."""
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
        """Return what the child answers about cases that it resolves once more, None when one of them ends it."""
        seconds = self.spec.limits.load_seconds + self.spec.limits.case_seconds
        return self._tried(operation(**self._packed(cases)), seconds)

    def _tried(self, request: operations.Operation[A], seconds: float) -> A | None:
        """Return the answer to a request, None when the subject ends its process meanwhile.

        Raises ChildFault for an exception of our own code there, which no subject can be blamed for.
        """
        try:
            return self._answer(request, seconds)
        except ChildFault:
            raise
        except ChildDied:
            self.restarts += 1
            return None

    def _ask(self, request: operations.Operation[A], seconds: float | None = None) -> A:
        """Return the answer to a request. Raises UsageError when the process ends meanwhile."""
        try:
            return self._answer(request, seconds or self.spec.limits.load_seconds)
        except ChildDied as death:
            raise UsageError(f"{self.spec.label}: {request.op} failed in its process: {death.detail}") from None

    def _answer(self, request: operations.Operation[A], seconds: float) -> A:
        """Return the answer to a request; raises ChildDied. Whatever is raised, the next request gets a new child."""
        process = self._running()
        try:
            return process.ask(request, seconds)
        except ChildDied:
            self._process = None
            raise
        except BaseException:
            # Interrupted: the answer still to come would be taken for that of the next request.
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
        """Return the request that makes the process load the subject; ``limits`` are its common attributes."""
        raise NotImplementedError

    def _load_error(self, answer: operations.Loaded) -> str | UsageError:
        """Return the error, or its sentence behind the label, for a process that could not load the subject."""
        raise NotImplementedError
