"""What a subject did: the writes and decisions that ran, and which case was the first to reach them."""
