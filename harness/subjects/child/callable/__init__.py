"""Somebody's own function, or class with fields, as a subject."""
