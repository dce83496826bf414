"""The branches of the model-specific adjustments (slot 8), one method a family."""
