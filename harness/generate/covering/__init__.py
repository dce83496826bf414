"""Covering arrays: cases in which every two options of two inputs occur together, and the count of those that did."""
