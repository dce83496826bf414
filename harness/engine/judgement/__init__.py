"""What a campaign's cases come to: totals, verdict, evidence."""
