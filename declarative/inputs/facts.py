"""Facts: values that cannot change while a record is resolved. They decide which passes run at all.

A fact depends only on the model and the pristine arguments. No pass that runs before the users of a fact declares a
field that the fact depends on, so the fact still holds when their turn comes. A pass that is left out would therefore
have declared nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from declarative.engine.steps import FactCondition
from declarative.inputs.model import ModelView
from declarative.inputs.server_args import ServerArgs
from harness.world.modelfacts import INSTANCE, is_deepseek_dsa, parse_connector_type


class Facts(NamedTuple):
    """The facts of one resolution.

    - ``architecture``: the model's, or None if the weights come from a running server, which has no config to read.
    - ``device``: the type of device, as the argument gives it.
    - ``sparse_attention``: whether the model has DeepSeek's sparse attention.
    - ``encodes``: whether the model consists of an encoder and a decoder.
    - ``data_parallel``: whether the number of data parallel ranks is another than one.
    - ``deterministic``: whether deterministic inference is asked for, also by a training target.
    - ``diffusion``: whether the model runs as a diffusion language model.
    """

    architecture: str | None
    device: str | None
    sparse_attention: bool
    encodes: bool
    data_parallel: bool
    deterministic: bool
    diffusion: bool


def facts_of(arguments: ServerArgs, model: ModelView) -> Facts:
    """Return the facts of pristine ``arguments`` for ``model``."""
    return Facts(
        architecture=None if parse_connector_type(arguments.model_path) == INSTANCE else model.architecture,
        device=arguments.device,
        sparse_attention=model.hf_config.index_topk is not None and is_deepseek_dsa(model.hf_config),
        encodes=model.is_encoder_decoder,
        data_parallel=arguments.dp_size != 1,
        deterministic=arguments.enable_deterministic_inference or arguments.rl_on_policy_target is not None,
        diffusion=arguments.dllm_algorithm is not None,
    )


def has_model(facts: Facts) -> bool:
    """Whether there is a config of the model, from which its family follows."""
    return facts.architecture is not None


def is_encoder_decoder(facts: Facts) -> bool:
    """Whether the model consists of an encoder and a decoder."""
    return facts.encodes


def splits_data(facts: Facts) -> bool:
    """Whether the number of data parallel ranks is another than one; with one, no data parallel feature can be on."""
    return facts.data_parallel


def is_deterministic(facts: Facts) -> bool:
    """Whether a request must get the same answer whatever else is in the batch."""
    return facts.deterministic


def is_diffusion(facts: Facts) -> bool:
    """Whether the model runs as a diffusion language model."""
    return facts.diffusion


def architecture_in(*names: str) -> FactCondition:
    """Return the condition that the model is of one of the architectures ``names``."""
    return lambda facts: facts.architecture in names


def on_device(*names: str) -> FactCondition:
    """Return the condition that the server runs on one of the device types ``names``."""
    return lambda facts: facts.device in names
