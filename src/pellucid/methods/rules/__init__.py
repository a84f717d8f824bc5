"""Rules that fix a prediction: anchors, their search and their perturbations."""
