"""The record without its handlers: its fields, and the methods that only read them."""
