"""Entries that are proposed for a ledger, and checks of its file."""
