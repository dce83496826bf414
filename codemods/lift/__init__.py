"""Lifting declarations out of handlers: blocks of a function, chains of conditions, and the passes they become."""
