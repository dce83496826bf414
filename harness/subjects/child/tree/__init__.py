"""A source tree of sglang as a subject: which of its modules are loaded, what is cut out of it, how it resolves."""
