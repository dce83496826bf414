"""Seeds faults into a subject's source, one at a time, and finds out which of them a gate catches."""
