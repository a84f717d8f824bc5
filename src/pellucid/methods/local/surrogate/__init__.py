"""How a local surrogate model is made: samples, what they are compared by, weights, width, selection, fit, validity."""
