"""What the parent asks of a package's child, as both ends write it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from harness.subjects.part import Part
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model


class _Tagged(msgspec.Struct, tag_field="op", tag=str.lower):
    """The parent names the operation in ``op``."""


class Load(_Tagged):
    """Import ``package`` from the folder ``root``, then keep to the limits.

    With ``record`` its decisions, and its writes of ``names``, are recorded.
    """

    root: str
    package: str
    names: list[str]
    record: bool
    memory_bytes: int
    case_seconds: float
    load_seconds: float


class Describe(_Tagged):
    """Say what the package is."""


class Choose(_Tagged):
    """Fix the outcome fields that are reported."""

    fields: list[str]


class Parse(_Tagged):
    """Read launch flags."""

    argv: list[str]


class Reach(_Tagged):
    """Tell how often each writer ran since this was last asked."""


class _Cases(_Tagged):
    """Cases; each distinct machine and model is in the request once, and a case names its own by number."""

    machines: list[Hardware]
    models: list[Model]
    cases: list[tuple[dict[str, Any], int, int, dict[str, str]]]
    part: Part = Part()


class Resolve(_Cases):
    """Resolve the cases, an answer each."""


class Loop(_Cases):
    """Resolve the cases, and answer how long it took."""


class Chains(_Cases):
    """Resolve the cases, and answer what each wrote."""


class Decisions(_Tagged):
    """List the decisions of the description."""


class Written(_Tagged):
    """Answer what those cases of the last batch wrote, or that this is not known."""

    positions: list[int]


class Traces(_Cases):
    """Resolve the cases, and answer what each decided."""


class Reads(_Cases):
    """Resolve the cases and keep them, and answer what each step read and which steps ran."""


class Exchange(_Tagged):
    """Exchange two steps, resolve the kept cases ``numbers`` again, and answer which come out otherwise."""

    first: str
    second: str
    numbers: list[int]
    seconds: float


PackageRequest = (
    Load
    | Describe
    | Choose
    | Parse
    | Reach
    | Resolve
    | Loop
    | Chains
    | Decisions
    | Written
    | Traces
    | Reads
    | Exchange
)
_KINDS: dict[str, type[_Cases]] = {
    "resolve": Resolve,
    "loop": Loop,
    "chains": Chains,
    "traces": Traces,
    "reads": Reads,
}
_ENCODER = msgspec.json.Encoder()


def encode_cases(cases: Sequence[Case], *, part: Part, operation: str) -> bytes:
    """Return the request ``operation`` (``resolve``, ``loop``, ``chains``, ``traces`` or ``reads``) on ``cases``."""
    machines: dict[Hardware, int] = {}
    models: dict[bytes, int] = {}
    described: list[Model] = []
    rows = []
    for case in cases:
        machine = machines.setdefault(case.hardware, len(machines))
        key = case.model.identity()
        model = models.get(key)
        if model is None:
            model = models[key] = len(models)
            described.append(case.model)
        rows.append((case.args, machine, model, case.env))
    return _ENCODER.encode(_KINDS[operation](list(machines), described, rows, part))
