"""The commands, one in each module. Importing a module adds its command to ``app``."""
