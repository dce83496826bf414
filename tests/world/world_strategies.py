"""Generated machines, models, cases and outcomes, all of them valid, and the check of a refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from harness.common.errors import UsageError
from harness.world.case import Case, Failure, Outcome, Refusal
from harness.world.hardware import HOSTS, PLATFORMS, Hardware
from harness.world.model import ATTENTIONS, Model
from harness.world.profiles import hardware_names, hardware_profile, model_names, model_profile

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
counts = st.integers(1, 2**40)
json_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
json_values = st.recursive(
    json_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
environments = st.dictionaries(
    st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    max_size=3,
)

hardware = st.builds(
    Hardware,
    platform=st.sampled_from(PLATFORMS),
    capability=st.none() | st.tuples(st.integers(0, 13), st.integers(0, 9)),
    cuda_version=st.none() | st.builds("{}.{}".format, st.integers(11, 13), st.integers(0, 9)),
    driver=st.none() | st.integers(1, 999),
    memory_mib=counts,
    flashinfer=st.booleans(),
    triton_kernels=st.booleans(),
    amx=st.booleans(),
    xmx=st.booleans(),
    aiter_preshuffle=st.booleans(),
    host=st.sampled_from(HOSTS),
)
models = st.builds(
    Model,
    architectures=st.lists(texts, min_size=1, max_size=2),
    attention=st.sampled_from(ATTENTIONS),
    index_topk=st.none() | st.integers(),
    index_topk_freq=st.integers(),
    index_topk_pattern=st.none() | texts | st.lists(texts, max_size=2),
    quantization_config=st.none() | objects,
    detected_quantization=st.none() | texts,
    context_len=counts,
    num_attention_heads=counts,
    num_key_value_heads=counts,
    sliding_window_pattern=st.none() | st.integers() | texts,
    layer_types=st.lists(texts, max_size=2),
    is_encoder_decoder=st.booleans(),
    has_attention_sinks=st.booleans(),
    is_multimodal=st.booleans(),
    dual_chunk_attention_config=st.none() | objects,
    fp8_weights=st.booleans(),
    gguf=st.booleans(),
    mlp_hidden_act=texts,
    attention_projection_layout=st.none() | texts,
    mamba_chunk_size=st.none() | st.integers(),
    nvfp4_moe=st.booleans(),
    dllm_block_size=counts,
)
cases = st.builds(
    Case,
    id=texts.filter(bool),
    args=objects,
    hardware=st.sampled_from(hardware_names()).map(hardware_profile) | hardware,
    model=st.sampled_from(model_names()).map(model_profile) | models,
    env=environments,
)
outcomes = st.one_of(
    st.builds(Outcome, id=texts.filter(bool), fields=objects, error=st.none(), env=environments, failure=st.none()),
    st.builds(
        Outcome,
        id=texts.filter(bool),
        fields=st.none(),
        error=st.builds(Refusal, texts, texts, texts),
        env=environments,
        failure=st.none(),
    ),
    st.builds(
        Outcome,
        id=texts.filter(bool),
        fields=st.none(),
        error=st.none(),
        env=environments,
        failure=st.builds(Failure, st.sampled_from(["killed", "timeout", "memory", "unanswered", "broken"]), texts),
    ),
)


def refused(call: Callable[..., object], *args: Any, **named: Any) -> str:
    """Return the sentence of the UsageError that ``call`` raises; it must be one short line."""
    with pytest.raises(UsageError) as caught:
        call(*args, **named)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 600
    return sentence
