"""Seeds faults into a subject's source, one at a time, and says which of them a gate catches."""
