"""Scenes of surrogates: each weakness with the number one expects, and a surrogate without it."""

import numpy as np

from methods.caveat_scenes import fires, sample, silent, times
from pellucid import Explainer


def line(X):
    return X[:, 0]


def explain(model, X, y=None):
    return Explainer(model, X, y, progress=False)


@fires("surrogate-misses")
def a_product_is_no_sum():
    return explain(times, sample(2000)).surrogate("linear"), (0.95, 1.05)


@silent("surrogate-misses")
def a_line_is_a_line():
    return explain(line, sample()).surrogate("linear")


def memory(X):
    """Another number for every row."""
    return np.sin(1e4 * X[:, 0])


@fires("flattered")
def a_large_tree_of_noise():
    return explain(memory, sample(400)).surrogate(size=32), (0.3, 1.2)


@silent("flattered")
def a_small_tree_of_a_step():
    return explain(lambda X: (X[:, 0] > 0).astype(float), sample(400)).surrogate(size=2)


@fires("fails-in-part")
def waves_on_one_side():
    X = sample(3000)
    return explain(lambda X: np.where(X[:, 1] > 1, 4 * np.sin(6 * X[:, 0]), X[:, 0]), X).surrogate("linear"), (1.8, 3.0)


@silent("fails-in-part")
def waves_everywhere():
    X = sample(3000)
    return explain(lambda X: X[:, 1] + np.sin(40 * X[:, 0]), X).surrogate("linear")


@fires("unstable-tree")
def many_copies_of_a_feature():
    draw = np.random.default_rng(0)
    x = draw.normal(size=300)
    X = x[:, None] + 0.3 * draw.normal(size=(300, 12))
    return explain(lambda X: X.sum(axis=1), X).surrogate(size=4), (0.5, 1.0)


@silent("unstable-tree")
def one_feature_matters():
    return explain(line, sample(300)).surrogate(size=4)
