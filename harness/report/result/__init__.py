"""The JSON result and what is made from it: shards, saved results."""
