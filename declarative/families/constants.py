"""What an architecture declares whatever the arguments are: the constant table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MODEL_OVERRIDES: Final[Mapping[str, Mapping[str, Any]]] = {
    "MistralLarge3ForCausalLM": {"dtype": "bfloat16"},
    "PixtralForConditionalGeneration": {"dtype": "bfloat16"},
    "Olmo2ForCausalLM": {"disable_hybrid_swa_memory": True},
}
