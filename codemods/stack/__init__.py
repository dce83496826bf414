"""The stack runner: does the steps of a stack on a work tree, gates each against the original, and commits it."""
