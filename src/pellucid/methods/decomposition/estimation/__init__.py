"""Helpers of the decompositions: axes and components, the cells of trees, the uniform measure, and least squares."""
