"""A user's function, or class with fields, as a subject."""
