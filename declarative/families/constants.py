"""The table of constants: what an architecture declares whatever the arguments are, and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MODEL_OVERRIDES: Final[Mapping[str, Mapping[str, Any]]] = {
    "MistralLarge3ForCausalLM": {"dtype": "bfloat16"},
    "PixtralForConditionalGeneration": {"dtype": "bfloat16"},
    "Olmo2ForCausalLM": {"disable_hybrid_swa_memory": True},
}

REASONS: Final[Mapping[str, str]] = {
    "MistralLarge3ForCausalLM": "The model runs in bfloat16, whatever type the checkpoint or the user names.",
    "PixtralForConditionalGeneration": "The model runs in bfloat16, whatever type the checkpoint or the user names.",
    "Olmo2ForCausalLM": "Its sliding-window layers share one memory pool with the full-attention layers.",
}
