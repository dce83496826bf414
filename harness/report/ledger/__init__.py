"""Proposes entries for a ledger, and checks the file of a ledger."""
