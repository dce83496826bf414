"""Covering arrays: few cases in which every two options of two inputs occur together, and the record of which did."""
