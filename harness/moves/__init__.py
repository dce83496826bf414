"""Which fields a change moves: two trees laid side by side as text, without running either."""

from harness.moves.moved import KINDS, Moved, Reason, moved_fields

__all__ = ["KINDS", "Moved", "Reason", "moved_fields"]
