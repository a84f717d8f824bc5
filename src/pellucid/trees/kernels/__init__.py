"""Compiled loops over trees: one algorithm per file, each with a slow twin in tests/reference."""
