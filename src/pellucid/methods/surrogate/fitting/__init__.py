"""What surrogates share: the rows and their folds, trees on codes and their pruning, fidelity, where it is lost, what
it costs.
"""
