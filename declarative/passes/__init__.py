"""Passes: one module a chain."""
