"""Which fields a change moves: two trees laid side by side as text, without running either."""

from harness.subjects.moves.moved import Moved, Reason, moved_fields

__all__ = ["Moved", "Reason", "moved_fields"]
