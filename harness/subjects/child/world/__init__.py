"""Replaces the real machine while a case is resolved: stand-ins, answers, limits; and undoes what a case leaves."""
