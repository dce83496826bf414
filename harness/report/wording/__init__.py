"""The parts that several reports share: a result in words, the places to point at, and overviews by field."""
