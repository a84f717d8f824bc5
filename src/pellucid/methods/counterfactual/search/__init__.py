"""What all searches for counterfactuals share: the problem (target, choices, costs, relations), pools and polish."""
