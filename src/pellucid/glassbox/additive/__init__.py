"""Additive models: sums of functions of one feature and, if they pay, of two."""
