"""Differences that are meant: the entries of a ledger file, and its upkeep."""
