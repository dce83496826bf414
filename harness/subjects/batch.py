"""Cases packed for a request to a subject's process: each distinct machine and model is in it once."""

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
# Equal models are one model: a subject must not see which of them came first by the order of keys.
_SORTED = msgspec.json.Encoder(order="deterministic")
# Both subjects of a pair are asked about the same machines and models, so their facts are encoded once.
_KEPT: Final = 4096
_models: dict[bytes, msgspec.Raw] = {}


def packed(cases: Sequence[Case], *, answers: bool = True) -> dict[str, list[Any]]:
    """Return ``cases`` as the attributes of a `CaseRequest`, ready to be encoded.

    With ``answers`` each machine and model comes with what probes of it answer, for the stand-ins of a tree.
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
    """Return the encoded facts of a model, whose identity ``key`` is."""
    found = _models.get(key)
    if found is None:
        if len(_models) >= _KEPT:
            _models.clear()
        facts = {name: getattr(model, name) for name in Model.__struct_fields__}
        found = _models[key] = msgspec.Raw(_SORTED.encode((facts, checkpoint_answers(model))))
    return found
