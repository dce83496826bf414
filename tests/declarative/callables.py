"""One pass or provider, called over the arguments of a case that is made current for it."""

from __future__ import annotations

from typing import Any

from declarative.engine import Pass, Provider, ReadOnlyView, Resolution
from declarative.inputs.facts import facts_of
from declarative.inputs.model import read_only_model
from declarative.inputs.server_args import ServerArgs
from declarative.pipeline import PIPELINE
from harness.world.case import Case
from harness.world.cuda_graph import CudaGraphConfig
from harness.world.hardware import Hardware
from harness.world.machine import get_device, simulated
from harness.world.model import Model
from harness.world.profiles import hardware_profile
from harness.world.slice import ENTRY_STATE

H100, B200, MI300X = (hardware_profile(name) for name in ("h100", "b200", "mi300x"))
A100 = Hardware(platform="cuda", capability=(8, 0), cuda_version="12.8")
SM120 = hardware_profile("rtx-pro-6000-blackwell")
CPU, ARM, AMX = Hardware(), Hardware(host="arm64"), Hardware(amx=True)
NPU = Hardware(platform="npu", memory_mib=65536)
XPU = Hardware(platform="xpu", xmx=True)
HPU, MPS, MUSA = Hardware(platform="hpu"), Hardware(platform="mps"), Hardware(platform="musa", capability=(3, 1))

Refusal = tuple[type[BaseException], str]


def declared(
    step: Pass | Provider,
    hardware: Hardware,
    args: dict[str, Any] | None = None,
    *,
    env: dict[str, str] | None = None,
    **model: Any,
) -> dict[str, Any]:
    """Return what ``step`` declares: with ``args`` as set by the user or by passes before, on a machine and a model.

    A pass that waits for facts that do not hold declares nothing.
    """
    model.setdefault("architectures", ["LlamaForCausalLM"])
    with simulated(Case(id="c", hardware=hardware, model=Model(**model), env=env or {})) as machine:
        given = {**ENTRY_STATE, "device": get_device(), **(args or {})}
        graphs = CudaGraphConfig.from_dict(given.pop("cuda_graph_config", None))
        record = ServerArgs(cuda_graph_config=graphs, **given)
        checkpoint = read_only_model(machine.model_config)
        if isinstance(step, Provider):
            return step(ReadOnlyView(dict(vars(record))), checkpoint)
        if step.when is not None and not step.when(facts_of(record, checkpoint)):
            return {}
        before = dict(machine.env)
        found = step(PIPELINE.view(Resolution(record), checkpoint))
        # Effects are the pipeline's to apply.
        assert machine.env == before
        return found
