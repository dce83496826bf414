"""One command a module; importing the module adds the command to ``app``."""
