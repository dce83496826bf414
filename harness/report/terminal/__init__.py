"""Text for a person at a terminal."""
