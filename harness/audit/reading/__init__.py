"""Reads the source files of a package: their code with its roles, and the constants that occur for each name."""
