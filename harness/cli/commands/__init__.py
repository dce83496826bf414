"""One command a module; each puts itself into ``app``."""
