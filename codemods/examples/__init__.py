"""The examples of codemods that have many; a codemod's class refers to them."""
