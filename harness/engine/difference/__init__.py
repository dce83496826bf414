"""What differs in a case, where it came from, and which differences are one bucket."""
