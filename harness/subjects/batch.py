"""A batch of cases as the bytes that both children read, each distinct machine and model in it once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.subjects.part import NO_PART, Part
from harness.world.case import Case
from harness.world.hardware import Hardware
from harness.world.model import Model
from harness.world.probes import checkpoint_answers, probe_answers

_ENCODER = msgspec.json.Encoder()


class BatchEncoder:
    """Encodes cases; remembers the encoded facts of machines and models it met, up to a bound."""

    _KEPT = 4096

    def __init__(self) -> None:
        self._machines: dict[Hardware, msgspec.Raw] = {}
        self._models: dict[bytes, msgspec.Raw] = {}

    def encode(self, cases: Sequence[Case], *, part: Part = NO_PART, operation: str = "resolve") -> bytes:
        """Return the request that resolves ``cases``, the ``part``, in order."""
        machines: dict[Hardware, int] = {}
        models: dict[bytes, int] = {}
        machine_facts, model_facts, rows = [], [], []
        for case in cases:
            machine = machines.get(case.hardware)
            if machine is None:
                machine = machines[case.hardware] = len(machines)
                machine_facts.append(self._machine(case.hardware))
            key = case.model.identity()
            model = models.get(key)
            if model is None:
                model = models[key] = len(models)
                model_facts.append(self._model(case.model, key))
            rows.append((case.args, machine, model, case.env))
        return _ENCODER.encode(
            {
                "op": operation,
                "part": part,
                "machines": machine_facts,
                "models": model_facts,
                "cases": rows,
            }
        )

    def _machine(self, hardware: Hardware) -> msgspec.Raw:
        found = self._machines.get(hardware)
        if found is None:
            if len(self._machines) >= self._KEPT:
                self._machines.clear()
            facts = {name: getattr(hardware, name) for name in Hardware.__struct_fields__}
            found = msgspec.Raw(_ENCODER.encode((facts, probe_answers(hardware))))
            self._machines[hardware] = found
        return found

    def _model(self, model: Model, key: bytes) -> msgspec.Raw:
        found = self._models.get(key)
        if found is None:
            if len(self._models) >= self._KEPT:
                self._models.clear()
            facts = {name: getattr(model, name) for name in Model.__struct_fields__}
            found = msgspec.Raw(_ENCODER.encode((facts, checkpoint_answers(model))))
            self._models[key] = found
        return found
