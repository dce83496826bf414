"""Slots 0, 1, 7, 18 and 19: what the original writes between its handlers, or in one statement of a handler.

Slots 1 and 7 are statements of ``__post_init__`` in 0.5.14 and have no name there. Slots 0, 18 and 19 are the one
statement each of ``_handle_deprecated_args``, ``handle_speculative_decoding`` and ``_handle_load_format`` that writes
a field of the slice.
"""

from __future__ import annotations

from harness.world.machine import check_gguf_file
from legacy.record.record import Record


class EntryHandlers(Record):
    """Small normalisations, at both ends of the resolution."""

    def _handle_deprecated_args(self) -> None:
        if self.enable_flashinfer_allreduce_fusion and self.flashinfer_allreduce_fusion_backend is None:
            self.flashinfer_allreduce_fusion_backend = "auto"

    def _handle_quantization_opt_out(self) -> None:
        # With "unquant" a checkpoint's own method must not apply. None alone would not show that the user opted out.
        if self.quantization == "unquant":
            self.quantization = None
            self._quantization_explicitly_unset = True
        else:
            self._quantization_explicitly_unset = False

    def _handle_deterministic_fusion_opt_out(self) -> None:
        # Before the model-specific adjustments, which would turn the fusion on.
        if self.enable_deterministic_inference:
            self.enforce_disable_flashinfer_allreduce_fusion = True

    def _handle_speculative_moe_runner(self) -> None:
        if self.speculative_moe_runner_backend is None:
            self.speculative_moe_runner_backend = self.moe_runner_backend

    def _handle_load_format(self) -> None:
        if self.load_format in ("auto", "gguf") and check_gguf_file(self.model_path):
            self.quantization = self.load_format = "gguf"
