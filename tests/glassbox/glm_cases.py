"""Tables for linear models; statsmodels 0.15 gave the numbers of statsmodels_glm.json for them."""

import numpy as np

NAMES = ("ols", "ols HC1", "ols HC3", "logit", "poisson", "gamma", "inverse_gaussian", "tweedie", "probit", "cloglog")


def features(n=60):
    i = np.arange(n)
    return np.column_stack([np.sin(1.7 * i), np.cos(0.9 * i * i), (i % 7 - 3) / 3])


def outcome(kind):
    """An outcome of the kind, from fixed formulas."""
    X = features()
    i = np.arange(len(X))
    eta, wave = 0.3 + X @ [0.5, -0.4, 0.1], np.sin(12.9898 * (i + 1)) * 43758.5453 % 1
    if kind.startswith("ols"):
        return eta + (1 + 0.5 * X[:, 0]) * (wave - 0.5)
    if kind in ("logit", "probit", "cloglog"):
        return (wave < 1 / (1 + np.exp(-eta))).astype(int)
    mean = np.exp(eta)
    if kind == "poisson":
        return np.floor(2 * mean * wave).astype(int)
    return np.where((kind == "tweedie") & (wave < 0.3), 0.0, mean * (0.2 + 1.6 * wave))
