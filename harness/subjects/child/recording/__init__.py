"""Records what a subject does: the writes and decisions that ran, and which case was the first to reach them."""
