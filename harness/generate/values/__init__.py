"""The values that an input can have, and the bit masks that stand for sets of them."""
