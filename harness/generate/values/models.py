"""Draws a model: a profile, a profile with attributes changed, or one with an architecture that the code names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from harness.generate.chance.draw import Draw
from harness.generate.values.domains import Domains
from harness.world.model import ATTENTIONS, Model
from harness.world.profiles import model_profiles

_INT4_WEIGHTS: Final = {"num_bits": 4, "group_size": 32, "strategy": "group", "type": "int"}
# The published INT4 groups, and groups that differ from them in one value. The published ones are here twice, to be
# drawn twice as often.
_GROUPS: Final = tuple(
    {"group_0": {"weights": {**_INT4_WEIGHTS, **other}}}
    for other in ({}, {}, {"num_bits": 8}, {"group_size": 128}, {"strategy": "channel"}, {"type": "float"})
)
# Values to try for each attribute, on both sides of every distinction that resolutions make: absent or present; none,
# one or many; short or long.
MODEL_PARTS: Final[dict[str, tuple[Any, ...]]] = {
    "attention": ATTENTIONS,
    "index_topk": (None, 2048),
    "index_topk_freq": (0, 1, 2, 4),
    "index_topk_pattern": (None, "FFFF", "FSSF"),
    "context_len": (448, 4096, 8192, 8193, 131072, 1048576),
    "num_attention_heads": (8, 16, 32, 64, 128),
    "num_key_value_heads": (1, 2, 4, 8, 16, 32, 128),
    "sliding_window_pattern": (None, 4),
    "layer_types": ([], ["mamba", "attention"], ["attention"]),
    "is_encoder_decoder": (False, True),
    "has_attention_sinks": (False, True),
    "is_multimodal": (False, True),
    "dual_chunk_attention_config": (None, {"chunk_size": 262144}),
    "fp8_weights": (False, True),
    "gguf": (False, True),
    "mlp_hidden_act": ("relu2", "silu"),
    "attention_projection_layout": (None, "fused_qkv", "split"),
    "mamba_chunk_size": (None, 64, 96, 128, 256),
    "nvfp4_moe": (False, True),
    "dllm_block_size": (4, 32, 64),
}
# The attributes that a change picks from; one that is here twice is picked twice as often.
_NAMES: Final = (*MODEL_PARTS, "quantization", "quantization", "architectures", "architectures")


# Quantization methods that a checkpoint may declare even if the command line of a subject does not accept them.
_DECLARED_ALONE: Final = ("compressed-tensors", "mxfp4", "modelopt")
_ALGORITHMS: Final = ("NVFP4", "FP8", "MIXED_PRECISION")
_GROUPED: Final = "compressed-tensors"


def declared_quantizations(methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return quantization configs of checkpoints: each method alone, and with details that resolutions look at."""
    names = dict.fromkeys((*methods, *_DECLARED_ALONE))
    plain: list[dict[str, Any]] = [{"quant_method": name} for name in names]
    algorithms = [
        {"quant_method": name, "quant_algo": algorithm}
        for name in names
        if name.startswith("modelopt")
        for algorithm in _ALGORITHMS
    ]
    groups = [{"quant_method": _GROUPED, "config_groups": one} for one in _GROUPS]
    # Resolutions look for groups whatever the method is, so methods without groups get some, too.
    misplaced = [{"quant_method": name, "config_groups": _GROUPS[0]} for name in names if name != _GROUPED]
    return [*plain, *groups, *misplaced, *algorithms]


class ModelDraw:
    """Draws models for one campaign, with the architectures and quantization methods of its domains.

    ``profiles`` has the model profiles of each architecture.
    """

    def __init__(self, domains: Domains) -> None:
        self._architectures = domains.architectures
        self.profiles: dict[str, tuple[Model, ...]] = {}
        for profile in model_profiles():
            name = profile.architectures[0]
            self.profiles[name] = (*self.profiles.get(name, ()), profile)
        self._methods = (*domains.quantizations, *_DECLARED_ALONE)

    def draw(self, draw: Draw, architecture: str | None = None) -> Model:
        """Return a model; if an ``architecture`` is given, the model usually has it."""
        profiles = model_profiles() if architecture is None else self.profiles.get(architecture, ())
        if profiles and draw.chance(45):
            return draw.pick(profiles)
        if profiles and draw.chance(60):
            return self.changed(draw.pick(profiles), draw)
        made = {"architectures": [architecture]} if architecture else self._change("architectures", draw)
        for _ in range(draw.below(4)):
            made |= self._change(draw.pick(_NAMES), draw)
        return Model(**made)

    def changed(self, model: Model, draw: Draw) -> Model:
        """Return ``model`` with one or two attributes drawn anew."""
        changes = self._change(draw.pick(_NAMES), draw)
        if draw.chance(40):
            changes |= self._change(draw.pick(_NAMES), draw)
        return msgspec.structs.replace(model, **changes)

    def _change(self, name: str, draw: Draw) -> dict[str, Any]:
        if name == "architectures":
            return {name: [self._architecture(draw)]}
        if name == "quantization":
            return self._quantization(draw)
        return {name: draw.pick(MODEL_PARTS[name])}

    def _architecture(self, draw: Draw) -> str:
        """Return an architecture that the code names; in 3 % of draws a longer name that contains one.

        A longer name shows whether the code compares the whole name or looks for a part of it.
        """
        name = draw.pick(self._architectures)
        return name if draw.chance(97) else draw.pick((f"My{name}", f"{name}NextN"))

    def _quantization(self, draw: Draw) -> dict[str, Any]:
        """Return how the checkpoint is quantized: as declared, as detected, as neither, or (most often) as both."""
        method = draw.pick(self._methods)
        declared: dict[str, Any] = {"quant_method": method}
        if method == _GROUPED and draw.chance(60):
            declared["config_groups"] = draw.pick(_GROUPS)
        if method.startswith("modelopt"):
            declared["quant_algo"] = draw.pick(_ALGORITHMS)
        kind = draw.below(10)
        if kind == 0:
            return {"quantization_config": None, "detected_quantization": None}
        if kind == 1:
            return {"quantization_config": None, "detected_quantization": method}
        if kind == 2:
            return {"quantization_config": declared, "detected_quantization": None}
        return {"quantization_config": declared, "detected_quantization": method}
