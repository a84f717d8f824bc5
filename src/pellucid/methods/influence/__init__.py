"""Influence: which training rows shaped the model."""
