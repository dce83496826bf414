"""The results of the commands as text for a person at a terminal."""
