"""Goals that a case is aimed at: the places in the source that it should reach."""
