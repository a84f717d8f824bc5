"""Helpers of the measures: the dividends of a prediction, and a test of those of a model against the outcome."""
