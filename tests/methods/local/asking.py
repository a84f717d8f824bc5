"""Asking for local models, and the models they are asked of."""

import numpy as np

from pellucid import Explainer
from pellucid.methods.local.lime import lime


def explain(f, X, row=0, /, *, checks=False, explainer=None, **options):
    """LIME of a model, without diagnostics unless asked for."""
    ex = Explainer(f, X, checks=checks, progress=False, **(explainer or {}))
    return lime(ex.predictor, ex.data, row, background=ex.background, run=ex._run("lime"), **options)


def table(n=300, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) * (1.0 + np.arange(p)) + 10.0 * np.arange(p)


def line(slopes):
    return lambda X: np.asarray(X, dtype=float) @ np.asarray(slopes, dtype=float) + 3.0


def waves(X):
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 20
