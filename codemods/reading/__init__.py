"""Reads a target tree without running it: its modules, scopes and calls, the record and its fields."""
