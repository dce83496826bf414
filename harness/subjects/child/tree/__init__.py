"""A source tree of sglang as a subject: loads its modules, cuts the slice out, and resolves a case."""
