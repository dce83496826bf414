"""Codemods: what the authors of a stacked refactor do by hand, done to any tree of this idiom, one field a step."""
