"""stackproof's core: it runs two subjects on the same cases and compares them. `harness.api` is the way in."""
