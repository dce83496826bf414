"""Differences: what differs in a case, what made it differ, and which differences belong to one bucket."""
