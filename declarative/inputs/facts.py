"""Facts: what cannot change while a record is resolved, and decides which passes run at all.

A fact comes from the pristine arguments and the model, and only from fields that no earlier pass declares. So a pass
that waits for a fact is left out only where it would have declared nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from declarative.engine.steps import FactCondition
from declarative.inputs.model import ModelView
from declarative.inputs.server_args import ServerArgs
from harness.world.modelfacts import INSTANCE, is_deepseek_dsa, parse_connector_type


class Facts(NamedTuple):
    """The facts of one resolution.

    ``architecture`` is None where weights come from a running server: such a model has no config to adjust to.
    ``sparse_attention`` is DeepSeek's, ``encodes`` whether the model is an encoder and a decoder.
    ``data_parallel`` says that there is not exactly one data parallel rank. ``deterministic`` and ``diffusion`` are
    ways of running the model.
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
    """Whether there is a model's config to adjust to."""
    return facts.architecture is not None


def is_encoder_decoder(facts: Facts) -> bool:
    """Whether the model is an encoder and a decoder."""
    return facts.encodes


def splits_data(facts: Facts) -> bool:
    """Whether there is not exactly one data parallel rank; with one, no data parallel feature can be on."""
    return facts.data_parallel


def is_deterministic(facts: Facts) -> bool:
    """Whether the same answer is wanted whatever else is in the batch."""
    return facts.deterministic


def is_diffusion(facts: Facts) -> bool:
    """Whether a diffusion language model is run."""
    return facts.diffusion


def architecture_in(*names: str) -> FactCondition:
    """Return the condition that the model is of one of the architectures ``names``."""
    return lambda facts: facts.architecture in names


def on_device(*names: str) -> FactCondition:
    """Return the condition that the server runs on one of the device types ``names``."""
    return lambda facts: facts.device in names
