"""All faults of a package, and the list of those that change nothing."""
