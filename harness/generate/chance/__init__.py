"""Random choices: the generator, its streams, and decks that deal evenly."""
