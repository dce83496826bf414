"""Makes the code that codemods write into a tree: expressions, imports, annotations, statements."""
