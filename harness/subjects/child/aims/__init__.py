"""Reads a tree's source for what matters in a case: the values it compares, the conditions to reach each place."""
