"""How much the model relies on each feature."""
