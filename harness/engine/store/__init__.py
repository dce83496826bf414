"""What is kept from one run to the next: cases worth running first, known failures, a checkpoint."""

from harness.engine.store.store import Store

__all__ = ["Store"]
