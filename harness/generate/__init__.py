"""Makes cases: which values inputs have, which goals cases aim at, and random choices."""
