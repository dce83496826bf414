"""Slots 0, 1, 7, 18 and 19: writes that are a single statement in 0.5.14.

Slots 1 and 7 stand between the handlers, in ``__post_init__`` itself, and have no name there. Slots 0, 18 and 19
belong to ``_handle_deprecated_args``, ``handle_speculative_decoding`` and ``_handle_load_format``. Each of these has
one statement that writes a field of the slice; the rest of it is not ported.
"""

from __future__ import annotations

from harness.world.machine import check_gguf_file
from legacy.record.record import Record


class EntryHandlers(Record):
    """Short handlers, each of which is one statement in 0.5.14."""

    def _handle_deprecated_args(self) -> None:
        if self.enable_flashinfer_allreduce_fusion and self.flashinfer_allreduce_fusion_backend is None:
            self.flashinfer_allreduce_fusion_backend = "auto"

    def _handle_quantization_opt_out(self) -> None:
        # "unquant" means that the checkpoint's own method must not apply either. None alone would not say so, and a
        # later handler would take over the checkpoint's method. So it also looks at the second field.
        if self.quantization == "unquant":
            self.quantization = None
            self._quantization_explicitly_unset = True
        else:
            self._quantization_explicitly_unset = False

    def _handle_deterministic_fusion_opt_out(self) -> None:
        # This must run before the model-specific handler (slot 8), which would turn the fusion on.
        if self.enable_deterministic_inference:
            self.enforce_disable_flashinfer_allreduce_fusion = True

    def _handle_speculative_moe_runner(self) -> None:
        if self.speculative_moe_runner_backend is None:
            self.speculative_moe_runner_backend = self.moe_runner_backend

    def _handle_load_format(self) -> None:
        if self.load_format in ("auto", "gguf") and check_gguf_file(self.model_path):
            self.quantization = self.load_format = "gguf"
