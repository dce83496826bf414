"""One codemod a module; `codemods.catalog` finds them by walking this package."""
