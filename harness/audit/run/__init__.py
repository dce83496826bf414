"""Runs a package with one fault at a time over the cases of a gate, and judges what comes out."""
