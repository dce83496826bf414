"""Finds the fields that a change moves, by comparing two trees as text, without running either."""

from harness.moves.moved import KINDS, Moved, Reason, moved_fields

__all__ = ["KINDS", "Moved", "Reason", "moved_fields"]
