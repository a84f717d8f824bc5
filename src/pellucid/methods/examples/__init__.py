"""Explaining by examples: typical rows, odd rows, like rows."""
