"""Packs cases for a request to a subject's process: each distinct machine and model is in the request once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.probes import checkpoint_answers, probe_answers

_ENCODER = msgspec.json.Encoder()
# Keys are sorted, so that equal models have equal bytes and a subject never sees in which order a case had them.
_SORTED = msgspec.json.Encoder(order="deterministic")
# Both subjects of a pair get the same machines and models, so the encoded facts of this many of each are kept.
_KEPT: Final = 4096
_models: dict[bytes, msgspec.Raw] = {}


def packed(cases: Sequence[Case], *, answers: bool = True) -> dict[str, list[Any]]:
    """Return ``cases`` as the attributes of a `CaseRequest`, ready to be encoded.

    With ``answers`` each machine and model comes with the answers of its probes, which the stand-ins of a tree need.
    """
    machines: dict[Hardware, int] = {}
    models: dict[bytes, int] = {}
    machine_facts: list[Any] = []
    model_facts: list[Any] = []
    rows = []
    for case in cases:
        machine = machines.get(case.hardware)
        if machine is None:
            machine = machines[case.hardware] = len(machines)
            machine_facts.append(_machine(case.hardware) if answers else case.hardware)
        key = case.model.identity()
        model = models.get(key)
        if model is None:
            model = models[key] = len(models)
            model_facts.append(_model(case.model, key) if answers else case.model)
        rows.append((case.args, machine, model, case.env))
    return {"machines": machine_facts, "models": model_facts, "cases": rows}


@lru_cache(maxsize=_KEPT)
def _machine(hardware: Hardware) -> msgspec.Raw:
    facts = {name: getattr(hardware, name) for name in Hardware.__struct_fields__}
    return msgspec.Raw(_ENCODER.encode((facts, probe_answers(hardware))))


def _model(model: Model, key: bytes) -> msgspec.Raw:
    """Return the encoded facts of a model; ``key`` is its identity."""
    found = _models.get(key)
    if found is None:
        if len(_models) >= _KEPT:
            _models.clear()
        facts = {name: getattr(model, name) for name in Model.__struct_fields__}
        found = _models[key] = msgspec.Raw(_SORTED.encode((facts, checkpoint_answers(model))))
    return found
