"""The ledger of intended differences: its entries, their conditions, and its upkeep."""
