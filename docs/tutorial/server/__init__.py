"""A small web server's settings: what the tutorial gates."""
