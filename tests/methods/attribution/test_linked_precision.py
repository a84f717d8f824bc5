"""Shapley values of probabilities of 30 and 100 features: against the truth, where that is known in closed form.

Trees that split on two features at most, each with its own partner, make log-odds that are a sum of functions of pairs.
The truth then is the integral of `pellucid.methods.attribution.estimation.linked_sums`, with a pair's four states in
place of a player's two, written out here in plain numpy.
"""

from functools import cache

import numpy as np
import pytest
import xgboost

from pellucid import Explainer

FEATURES, BACKGROUND = 30, 20
ROWS = (0, 3, 8)


@cache
def scene(features=FEATURES):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, features))
    sums = (X[:, ::2] * X[:, 1::2]).sum(axis=1) / 3 + X @ np.linspace(1.0, 0.1, features) / 3
    y = (sums + 0.5 * rng.normal(size=1200) > 0).astype(int)
    pairs = str([[j, j + 1] for j in range(0, features, 2)])
    model = xgboost.XGBClassifier(
        n_estimators=100, max_depth=2, learning_rate=0.2, interaction_constraints=pairs, n_jobs=1
    ).fit(X, y)
    return model, X, Explainer(model, X, background=X[-BACKGROUND:], progress=False, checks=False)


def states(model, row, background):
    """``(background, pairs, first present, second present)``: what each state of a pair adds to the log-odds."""
    found = np.zeros((len(background), len(row) // 2, 2, 2))
    alone = model.predict(background, output_margin=True).astype(float)
    for k in range(len(row) // 2):
        for present in ([0], [1], [0, 1]):
            mixed = background.copy()
            columns = [2 * k + j for j in present]
            mixed[:, columns] = row[columns]
            place = int(0 in present), int(1 in present)
            found[:, k, *place] = model.predict(mixed, output_margin=True) - alone
    return alone, found


def truth(model, row, background):
    """``(features,)``: sigmoid(x) = 1/2 + the integral over w > 0 of sin(w x) / sinh(pi w), taken wave by wave."""
    alone, added = states(model, row, background)
    nodes, weights = np.polynomial.legendre.leggauss(len(row) // 2 + 1)
    t, weights = (nodes[:, None] + 1) / 2, weights / 2
    reach = np.abs(alone).max() + np.abs(added).max(axis=(2, 3)).sum(axis=1).max()
    distance = 2 * np.pi / (reach + 25)
    w = distance * np.arange(1, int(8 / distance))[:, None, None, None]
    chance = np.concatenate([1 - t, t], axis=1)  # (times, absent or present)
    total = np.zeros(len(row))
    for start, f in zip(alone, added, strict=True):
        turn = np.exp(1j * w * f)  # (waves, pairs, 2, 2)
        mean = np.einsum("qi,qj,wkij->wqk", chance, chance, turn)
        others = np.prod(mean, axis=2, keepdims=True) / mean
        first = np.einsum("qj,wkj->wqk", chance, turn[:, :, 1] - turn[:, :, 0])
        second = np.einsum("qi,wki->wqk", chance, turn[..., 1] - turn[..., 0])
        gains = np.einsum("q,wqkj->wkj", weights, np.stack([first * others, second * others], axis=-1))
        waves = distance / np.sinh(np.pi * w[:, 0, 0, 0]) * np.exp(1j * w[:, 0, 0, 0] * start)
        total += np.einsum("w,wkj->kj", waves, gains).imag.ravel()
        # The wave of length infinity is a straight line.
        steps = np.stack([(f[:, 1] - f[:, 0]).mean(axis=1), (f[:, :, 1] - f[:, :, 0]).mean(axis=1)], axis=-1)
        total += steps.ravel() * distance / (2 * np.pi)
    return total / len(background)


@cache
def known(features=FEATURES, rows=ROWS):
    model, X, _ = scene(features)
    return np.array([truth(model, X[i], X[-BACKGROUND:]) for i in rows])


def test_the_truth_adds_up():
    model, X, ex = scene()
    probability = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(
        known().sum(axis=1), probability[list(ROWS)] - probability[-BACKGROUND:].mean(), atol=1e-6
    )
    assert float(ex.shap(0).base) == pytest.approx(probability[-BACKGROUND:].mean(), abs=1e-6)


@pytest.mark.parametrize("share", [0.01, 0.004])
def test_errors_are_as_small_a_share_of_the_spread_as_is_wanted(share):
    model, X, ex = scene()
    spread = model.predict_proba(X)[:, 1].std()
    found = ex.shap(list(ROWS), tolerance=share * spread)
    assert found.method == "tree"
    assert (found.se > 0).any()  # estimated, not gone through
    assert (1.96 * found.se).max() <= share * spread
    assert np.abs(found.values - known()).max() <= share * spread


@pytest.mark.parametrize(("features", "rows"), [(FEATURES, ROWS), (100, tuple(range(6)))])
def test_the_intervals_of_the_default_cover(features, rows):
    found = scene(features)[2].shap(list(rows))
    assert (found.se > 0).any()
    errors = found.values - known(features, rows)
    assert (np.abs(errors) <= 1.96 * found.se + 1e-7).mean() >= 0.93
    assert np.sqrt(np.mean(errors**2)) <= 0.01
