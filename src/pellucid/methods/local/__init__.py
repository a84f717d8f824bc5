"""Why this prediction, sparsely: simple models that hold near a row."""
