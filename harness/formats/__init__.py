"""What users write and read: cases and outcomes as JSON lines, launch lines."""
