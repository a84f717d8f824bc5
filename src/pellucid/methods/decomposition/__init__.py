"""The function in parts: a constant, effects of single features, and what sets of features add together."""
