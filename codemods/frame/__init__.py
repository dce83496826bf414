"""The base class of codemods, and the driver that applies codemods to a tree."""
