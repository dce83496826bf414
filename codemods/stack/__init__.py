"""The stack runner: one step after another on a work tree, each gated against the original and committed."""
