"""What of a case a tree asks: its source is read for the values that matter, and for what leads to each place."""
