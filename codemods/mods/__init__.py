"""One codemod a module; `codemods.frame.catalog` finds them by walking this package."""
