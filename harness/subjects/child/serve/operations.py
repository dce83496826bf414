"""The requests to a subject's process and their answers, for both ends of the pipe.

Each kind of request is a class below. The class of its answer is the type argument of its base class:
``class Parse(Operation[Parsed])``. In the pipe a request is a JSON object with the attributes, and with the class's
name in small letters under ``op``. The parent writes it with `body_of` and the child reads it with `request_from`.
The answer is a JSON object with the answer's attributes.

Source trees, our own packages and callables answer the same operations. This module needs only the standard library
and Python 3.10, since the child of a source tree imports it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args

JsonObject = dict[str, Any]
"""A JSON object."""


@dataclass
class Loaded:
    """Whether the subject could be loaded.

    - ``error``: None, or the kind of reason: ``import`` (an exception), ``unanswered`` (a question to the machine),
      ``slice`` or ``callable`` (the tree has none as described).
    - ``detail``: the reason in words.
    - ``path``, ``how``: for ``unanswered``, what was asked and in which way.
    - ``frame``: the innermost ``file:line`` of the subject's code, empty if unknown.
    - ``limits``: which of the limits that need the kernel's permission are in force.
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

    ``resolved`` are the fields of an outcome; None if the parent's profile lists them. ``takes`` is None if the
    subject depends on the whole world.
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
    """Those of the chosen fields that the subject has, in the order in which outcomes have them."""

    fields: list[str]


@dataclass
class Parsed:
    """The arguments that launch flags set; or the ``error``, and the first ``unknown`` flag if there is one."""

    args: JsonObject | None = None
    error: str | None = None
    unknown: str | None = None


@dataclass
class ReachReport:
    """Which of the description's writers and decisions ran.

    - ``counts``: for each writer, how often it ran since the last report.
    - ``seen``: for each decision, which branches were ever taken: 0 none, 1 true, 2 false, 3 both.
    - ``news``: the positions of the cases since the last report that were the first of their stream to reach
      something, each with the numbers of what it reached (see `recording.novelty`).
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
    """The writes of each case, in order; None if the process did not resolve all of these cases."""

    chains: list[list[JsonObject]] | None


@dataclass
class ListedTraces:
    """For each case the numbers of the branches it took, the variables it set, and where it was refused."""

    cases: list[JsonObject]


@dataclass
class Took:
    """How many seconds the cases took."""

    seconds: float


@dataclass
class ListedReads:
    """What the steps of a package read.

    - ``lacks``: what the package would need to have for this; if it lacks anything, the rest is empty.
    - ``steps``: the steps in order, in the form of `harness.world.chain.PlacedStep`.
    - ``reads``: for each step all that it read in any case.
    - ``ran``: for each case the positions of the steps that ran.
    - ``broken``: how a step shows that the package is set up wrongly; empty if none does.
    """

    lacks: list[str] = field(default_factory=list)
    steps: list[JsonObject] = field(default_factory=list)
    reads: list[list[str]] = field(default_factory=list)
    ran: list[list[int]] = field(default_factory=list)
    broken: str = ""


@dataclass
class Exchanged:
    """What changed when cases were resolved with two steps exchanged.

    - ``changed``: the numbers of the cases that had another outcome.
    - ``run``: how many cases were resolved.
    - ``error``: why the two steps cannot be exchanged; empty if they can.
    - ``broken``: how a step shows that the package is set up wrongly; empty if none does.
    """

    changed: list[int] = field(default_factory=list)
    run: int = 0
    error: str = ""
    broken: str = ""


A = TypeVar("A")

OPERATIONS: dict[str, type[Operation[Any]]] = {}
"""The classes of requests, by the name under ``op``."""


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
    """Load the subject in the folder ``root``, and apply the limits from then on.

    With ``record`` the process records which code writes the fields and which branches are taken.
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

    ``domains`` are the values of its arguments that the user lists by hand. ``silent`` has the attributes of a
    `CaseRequest` with one case that sets nothing.
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
    """Fix which fields outcomes report."""

    fields: list[str]


@dataclass
class Parse(Operation[Parsed]):
    """Read launch flags with the subject's own parser."""

    argv: list[str]


@dataclass
class Reach(Operation[ReachReport]):
    """Report what ran since the last report."""


@dataclass
class Decisions(Operation[ListedDecisions]):
    """List the decisions of the description, without making the rest of it."""


@dataclass
class Written(Operation[ListedChains]):
    """List the writes of the cases at ``positions`` in the last batch, without resolving them again."""

    positions: list[int]


class StreamPart(NamedTuple):
    """Where the cases of a request belong.

    - ``stream``: their stream in the campaign, None if they are no part of a campaign.
    - ``first``: the position of the first of them in its batch.
    - ``single``: true to send each answer at once, so that a death of the process shows which case it was.
    """

    stream: int | None = None
    first: int = 0
    single: bool = False


NO_PART = StreamPart()
ALONE = -1
"""A stream in which every case counts by itself: everything that it reaches is new."""


@dataclass
class CaseRequest(Operation[A]):
    """A request about cases.

    Each distinct machine and model is in it once. A case is a list of its arguments, the position of its machine,
    the position of its model, and its environment variables.
    """

    machines: list[Any]
    models: list[Any]
    cases: list[tuple[JsonObject, int, int, dict[str, str]]]


@dataclass
class Resolve(CaseRequest[None]):
    """Resolve the cases; each is answered by a frame of its own (see `harness.subjects.wire`)."""

    part: StreamPart = NO_PART

    def __post_init__(self) -> None:
        """Accept the part as a list, too, which is its form in JSON."""
        self.part = StreamPart(*self.part)


@dataclass
class Loop(CaseRequest[Took]):
    """Resolve the cases and do nothing else; a benchmark compares with the time that this takes."""


@dataclass
class WriteChains(CaseRequest[ListedChains]):
    """Resolve the cases once more, and list every write that each makes."""


@dataclass
class Traces(CaseRequest[ListedTraces]):
    """Resolve the cases once more, and list what each decides and which variables it sets."""


@dataclass
class StepReads(CaseRequest[ListedReads]):
    """Resolve the cases, keep them, and list what each step of the package read. Only packages have steps."""


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
    """Return the request that a JSON object stands for. Raises KeyError or TypeError if it stands for none."""
    return OPERATIONS[body.pop("op")](**body)
