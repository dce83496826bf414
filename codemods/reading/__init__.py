"""What is known of a target tree: modules, scopes, calls, the record and its fields."""
