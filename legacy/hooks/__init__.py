"""Functions that stand outside the record in the original too, and assign through ``server_args``."""
