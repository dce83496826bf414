"""Reads the source of a tree: what it writes, reads, calls and decides.

It uses the standard library alone and imports nothing else of ``harness``, since it also runs in the child process
of a tree, where any interpreter from Python 3.10 on may run it and nothing of ours is on the module path.
"""
