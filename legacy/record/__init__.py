"""The record without its handlers: its fields, and what follows from them."""
