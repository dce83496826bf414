"""Reports of a result: for people, for other tools, and as data."""
