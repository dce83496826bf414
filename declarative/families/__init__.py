"""Model families: one module each, with what it declares."""
