"""Slots 14 and 17: data and pipeline parallelism."""

from __future__ import annotations

from legacy.record.record import Record


class ParallelHandlers(Record):
    """Handlers of fields that depend on the numbers of ranks."""

    def _handle_data_parallelism(self) -> None:
        if self.dp_size == 1:
            self.enable_dp_attention = False
            self.enable_dp_lm_head = False
        if self.enable_dp_attention:
            self.schedule_conservativeness = self.schedule_conservativeness * 0.3
            assert self.tp_size % self.dp_size == 0, (
                f"attention over {self.dp_size} data parallel ranks does not divide {self.tp_size} ranks"
            )
            # If the user gave None, this raises TypeError, as it does in the original.
            self.chunked_prefill_size = self.chunked_prefill_size // self.dp_size  # type: ignore[operator]
        if self.enable_dp_lm_head:
            assert self.enable_dp_attention, "enable_dp_lm_head needs enable_dp_attention"

    def _handle_pipeline_parallelism(self) -> None:
        if self.pp_size > 1:
            self.disable_overlap_schedule = True
