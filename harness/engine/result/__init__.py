"""What a campaign reports: its events, its counts and its evidence, as types."""
