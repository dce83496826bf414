"""A campaign: it plans, searches, minimises and judges, emits events, and prints nothing."""
