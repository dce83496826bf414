"""The dangers of moving a writer of a field: reads that would see another value, writes that would change order."""
