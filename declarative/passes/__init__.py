"""Passes that belong to no single family of models, one module for each topic."""
