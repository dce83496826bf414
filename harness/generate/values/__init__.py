"""Which values an input can have, and its options as numbers."""
