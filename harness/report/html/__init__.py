"""The HTML report: one page that opens from disk."""
