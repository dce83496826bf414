"""What a codemod is, which ones there are, and how one runs over a tree."""
