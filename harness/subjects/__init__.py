"""Loads subjects, asks them in child processes, and decodes their answers."""
