"""Linear, logistic and generalised linear models."""
