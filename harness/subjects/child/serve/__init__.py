"""The process of a subject as seen from its pipes: frames, operations, and the loop that answers them."""
