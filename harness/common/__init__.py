"""Helpers for every package: errors for the user, reading and writing files, converting values."""
