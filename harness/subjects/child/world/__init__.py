"""What replaces the real machine while a case is resolved: stand-ins, answers, limits, and what a case leaves."""
