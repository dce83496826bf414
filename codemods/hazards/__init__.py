"""The dangers of moving one of a field's writers: what would see another value, and what would overtake what."""
