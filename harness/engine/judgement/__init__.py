"""From answers to the result: totals, evidence, verdict."""
