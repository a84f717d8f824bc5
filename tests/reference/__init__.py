"""Slow, obvious twins of the estimators, written from their definitions.

A model is ``f(row) -> number``, a table is a list of rows (lists). Nothing here imports the library.
"""
