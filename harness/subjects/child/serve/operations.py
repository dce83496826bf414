"""What a subject's process can be asked, and what it answers: one table for both ends of the pipe.

A request is an instance of a class below; the type in brackets behind its base class is that of its answer. On the
wire a request is a JSON object: the attributes, and in ``op`` the class's name in small letters. The parent writes it
with `body_of`, the child reads it with `request_from`; the child answers with the attributes of the answer.

Source trees, our own packages and callables answer the same operations. This module runs on the standard library,
from Python 3.10 on, since the child of a source tree imports it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args

JsonObject = dict[str, Any]
"""A JSON object."""


@dataclass
class Loaded:
    """Whether the subject is there.

    ``error`` is None, or names the kind of reason for which it is not: ``import`` (an exception), ``unanswered`` (a
    question to the machine: ``path`` is what was asked, ``how`` the way), ``slice`` or ``callable`` (the tree has no
    such thing). ``detail`` is the reason in words, ``frame`` the innermost ``file:line`` of the tree. ``limits`` is
    what the kernel granted.
    """

    error: str | None
    detail: str = ""
    path: str = ""
    how: str = ""
    frame: str = ""
    limits: dict[str, bool] = field(default_factory=dict)


@dataclass
class Described:
    """A subject's description of itself, in the shape of `harness.subjects.description.Description`.

    ``resolved`` are the outcome fields it has; None where the parent's profile lists them.
    """

    fields: list[JsonObject]
    slots: list[str]
    reads: dict[str, list[Any]]
    environment: dict[str, JsonObject]
    architectures: list[str]
    aims: JsonObject
    writers: list[JsonObject] = field(default_factory=list)
    decisions: list[JsonObject] = field(default_factory=list)
    tables: list[JsonObject] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    resolved: list[str] | None = None
    takes: list[str] | None = None


@dataclass
class Chosen:
    """Those of the chosen fields that the subject has, in the order in which outcomes will hold them."""

    fields: list[str]


@dataclass
class Parsed:
    """The arguments that launch flags set, or else the ``error``, and the first ``unknown`` flag if there is one."""

    args: JsonObject | None = None
    error: str | None = None
    unknown: str | None = None


@dataclass
class ReachReport:
    """How much of a description's writers and decisions ran.

    ``counts`` are the runs of each writer; ``seen`` is for each decision never asked (0), true (1),
    false (2) or both (3). ``news`` are the positions of cases that were the first of their stream to reach something,
    with the numbers of what that was (see `recording.novelty`).
    """

    counts: list[int] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)
    news: list[tuple[int, list[int]]] = field(default_factory=list)


@dataclass
class ListedDecisions:
    """The decisions of the description."""

    decisions: list[JsonObject]


@dataclass
class ListedChains:
    """The writes of each case, in order; None where the process does not know them any more."""

    chains: list[list[JsonObject]] | None


@dataclass
class ListedTraces:
    """For each case the numbers of the branches it took, the variables it set and the place it was refused at."""

    cases: list[JsonObject]


@dataclass
class Took:
    """How many seconds it took."""

    seconds: float


@dataclass
class ListedReads:
    """What each step of a package read, and which steps ``ran`` in each case; ``lacks`` names what the package lacks.

    A step is in the shape of `harness.world.chain.PlacedStep`.
    """

    lacks: list[str] = field(default_factory=list)
    steps: list[JsonObject] = field(default_factory=list)
    reads: list[list[str]] = field(default_factory=list)
    ran: list[list[int]] = field(default_factory=list)


@dataclass
class Exchanged:
    """Of the cases that were run with two steps exchanged, the numbers of those with another outcome.

    ``error`` says why the two cannot be exchanged, and is empty where they were.
    """

    changed: list[int] = field(default_factory=list)
    run: int = 0
    error: str = ""


A = TypeVar("A")

OPERATIONS: dict[str, type[Operation[Any]]] = {}
"""The requests by the name that is in ``op``."""


@dataclass
class Operation(Generic[A]):
    """A request whose answer is an ``A``."""

    op: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Name the operation and put it into the table."""
        cls.op = cls.__name__.lower()
        OPERATIONS[cls.op] = cls

    @classmethod
    def answer_type(cls) -> type[A]:
        """Return the class of the answer."""
        answer: type[A] = get_args(cls.__orig_bases__[0])[0]  # type: ignore[attr-defined]
        return answer


@dataclass
class _Load(Operation[A]):
    """Load the subject in the folder ``root``, and keep to the limits from then on.

    With ``record`` the process notes what writes the fields and which decisions are taken.
    """

    root: str
    record: bool
    memory_bytes: int
    case_seconds: float
    load_seconds: float


@dataclass
class LoadTree(_Load[Loaded]):
    """Load a source tree, whole or as a ``slice``."""

    profile: JsonObject
    slice: bool


@dataclass
class LoadCallable(_Load[Loaded]):
    """Load the callable ``target`` (``module:name``).

    ``domains`` are values by hand of its arguments; ``silent`` is a `CaseRequest` of one case that sets nothing.
    """

    target: str
    domains: dict[str, list[Any]]
    silent: JsonObject


@dataclass
class LoadPackage(_Load[Loaded]):
    """Load one of our own packages; the writes of the fields ``names`` are recorded."""

    package: str
    names: list[str]


Load = LoadTree | LoadCallable | LoadPackage


@dataclass
class Describe(Operation[Described]):
    """Describe the subject."""


@dataclass
class Choose(Operation[Chosen]):
    """Fix the outcome fields that are reported."""

    fields: list[str]


@dataclass
class Parse(Operation[Parsed]):
    """Read launch flags with the subject's own parser."""

    argv: list[str]


@dataclass
class Reach(Operation[ReachReport]):
    """Report how much ran since this was last asked."""


@dataclass
class Decisions(Operation[ListedDecisions]):
    """List the decisions of the description without making all of it."""


@dataclass
class Written(Operation[ListedChains]):
    """List the writes of the cases at ``positions`` of the last batch, without resolving them again."""

    positions: list[int]


class StreamPart(NamedTuple):
    """The cases' ``stream`` (None for cases that are no part of a campaign) and the number of the ``first`` of them.

    ``single`` asks for each answer at once, so that a death shows which case it was.
    """

    stream: int | None = None
    first: int = 0
    single: bool = False


NO_PART = StreamPart()
ALONE = -1
"""The stream in which every case counts by itself: everything it reaches is new."""


@dataclass
class CaseRequest(Operation[A]):
    """A request about cases. Each distinct machine and model is in it once; a case names its own by number.

    A case is its arguments, the two numbers, and its environment.
    """

    machines: list[Any]
    models: list[Any]
    cases: list[tuple[JsonObject, int, int, dict[str, str]]]


@dataclass
class Resolve(CaseRequest[None]):
    """Resolve the cases; each is answered by a frame of its own (see `harness.subjects.wire`)."""

    part: StreamPart = NO_PART

    def __post_init__(self) -> None:
        """Take the part as JSON has it, too."""
        self.part = StreamPart(*self.part)


@dataclass
class Loop(CaseRequest[Took]):
    """Resolve the cases and do nothing else: the floor of a benchmark."""


@dataclass
class WriteChains(CaseRequest[ListedChains]):
    """Resolve the cases once more, and list every write that each makes."""


@dataclass
class Traces(CaseRequest[ListedTraces]):
    """Resolve the cases once more, and list what each decides and which variables it sets."""


@dataclass
class StepReads(CaseRequest[ListedReads]):
    """Resolve the cases, keep them, and list what each step of the package read. Packages alone have steps."""


@dataclass
class Exchange(Operation[Exchanged]):
    """Exchange two steps and resolve the kept cases ``numbers`` again, for ``seconds`` at most."""

    first: str
    second: str
    numbers: list[int]
    seconds: float


def body_of(request: Operation[Any]) -> JsonObject:
    """Return the JSON object of a request."""
    return {"op": request.op, **vars(request)}


def request_from(body: JsonObject) -> Operation[Any]:
    """Return the request of a JSON object. Raises KeyError or TypeError for what is none."""
    return OPERATIONS[body.pop("op")](**body)
