"""Helpers of the estimators: what they give, which coalitions they ask, and the hypercube process between those."""
