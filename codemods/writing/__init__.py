"""How code is written into a tree: expressions, imports, annotations, statements."""
