"""The search: which cases run, in what order and in which process, and what they reached."""
