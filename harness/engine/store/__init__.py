"""What lasts from run to run: a corpus of cases worth running first, failures, and where a search was."""

from harness.engine.store.store import Store

__all__ = ["Store"]
