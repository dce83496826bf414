"""The JSON result of a gate, and the files of shards: their formats, writing and reading."""
