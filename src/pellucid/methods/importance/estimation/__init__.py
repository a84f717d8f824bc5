"""Helpers of the measures: who gives values to whom, losses, independent inputs, and pairs of coalitions."""
