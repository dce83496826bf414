"""Goals: the places in the source that a case should reach, and the conditions on the way there."""
