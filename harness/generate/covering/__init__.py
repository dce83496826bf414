"""Covering arrays: all pairs and triples of inputs in few cases."""
