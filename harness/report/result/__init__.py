"""The JSON result of a gate, and the files of shards."""
