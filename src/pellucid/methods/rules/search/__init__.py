"""How an anchor is searched for: predicates, perturbed rows, bounds, the bandit and the beam."""
