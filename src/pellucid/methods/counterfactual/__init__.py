"""Counterfactuals: what would have to be different for the model to say something else."""
