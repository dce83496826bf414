"""What codemods place in a target tree: standard library only, and importable here so that it can be tested."""
