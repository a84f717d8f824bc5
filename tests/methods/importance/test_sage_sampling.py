"""SAGE from a sample of coalitions, rows and donors: without bias, and with intervals that hold what they promise."""

import os
from itertools import combinations

import numpy as np
import pytest

from pellucid import Explainer
from pellucid.games.loss_rows import Draw, RowLosses, donor_losses, draw, mean_and_noise
from pellucid.losses import find_loss
from pellucid.methods.attribution.estimation.hypercube_kernel import pair_weights
from pellucid.methods.attribution.estimation.pairs import PairDesign
from pellucid.methods.importance.sage import few_pairs, fewest_rows, plan, standing_for

SLOW = os.environ.get("PELLUCID_SLOW") == "1"
REPEATS = 150 if SLOW else 25
SQUARED = find_loss("mse", "regression").rows
LOG = find_loss("log_loss", "classification").rows


# -- rows and donors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_squared_loss_from_some_donors_is_right_on_average_over_all_of_them(k):
    """The jackknife takes off exactly what a noisy mean adds, here for every possible choice of k of 5 donors."""
    every, y = np.array([0.3, -1.0, 2.0, 4.0, 0.0]), np.array([[1.5]])
    found = []
    for chosen in combinations(range(5), k):
        drawn = Draw(np.zeros(1, dtype=np.intp), np.array(chosen)[:, None], np.ones(1), k / 5)
        found.append(donor_losses(every[list(chosen)][:, None, None], drawn, y, SQUARED, np.full(5, 0.2), probability=False).loss)  # fmt: skip
    assert np.mean(found) == pytest.approx((1.5 - every.mean()) ** 2)


@pytest.mark.parametrize("probability", [False, True])
def test_without_interactions_any_donors_give_the_exact_loss(probability):
    rng = np.random.default_rng(0)
    rows, size, k = 50, 40, 12
    if probability:  # a donor multiplies the chance of one class
        own, other = rng.uniform(0.1, 0.2, rows), rng.uniform(0.5, 1.5, size)
        one = own[:, None] * other / other.mean()
        table, loss = np.stack([one, 1 - one], axis=-1), LOG
        y = (rng.random(rows) < 0.5).astype(float)
    else:
        table = (rng.normal(size=(rows, 1)) + rng.normal(size=size))[..., None]
        y, loss = rng.normal(size=(rows, 1)), SQUARED
    drawn = draw(rng, np.ones(rows), np.ones(size), rows, k)
    asked = table[drawn.rows[None, :], drawn.donors]
    exact = loss(y, table.mean(axis=1))
    share = np.full(size, 1 / size)
    found = donor_losses(asked, drawn, y, loss, share, probability=probability).loss
    plain = loss(y, asked.mean(axis=0))
    if probability:
        assert np.abs(found - exact).mean() < np.abs(plain - exact).mean() / 3
    else:
        # The layout is solved by turns, which leaves a trace.
        assert np.abs(found - exact).max() < 0.005 * np.abs(plain - exact).max()


def test_all_donors_are_the_exact_loss():
    rng = np.random.default_rng(1)
    table, y = rng.dirichlet(np.ones(3), size=(30, 7)), rng.integers(0, 3, 30).astype(float)
    drawn = draw(rng, np.ones(30), np.ones(7), 30, 7)
    asked = table[drawn.rows[None, :], drawn.donors]
    found = donor_losses(asked, drawn, y, LOG, np.full(7, 1 / 7), probability=True)
    np.testing.assert_allclose(found.loss, LOG(y, table.mean(axis=1)), rtol=1e-12)
    assert mean_and_noise(found, found, drawn)[1] == 0


def test_donors_are_drawn_evenly_and_never_twice_by_a_row():
    drawn = draw(np.random.default_rng(0), np.ones(100), np.ones(30), 100, 6)
    assert all(len(set(column)) == 6 for column in drawn.donors.T)
    counts = np.bincount(drawn.donors.ravel(), minlength=30)
    assert counts.min() >= 6 * (100 // 30)
    assert counts.max() <= 6 * (100 // 30 + 1)


def test_rows_and_donors_are_drawn_as_often_as_they_count():
    weights, background = np.array([0.0, 1.0, 3.0, 6.0] * 25), np.array([1.0, 0.0, 4.0])
    counts, donors = np.zeros(100), np.zeros(3)
    for seed in range(300):
        drawn = draw(np.random.default_rng(seed), weights, background, 40, 4)
        counts += np.bincount(drawn.rows, minlength=100)
        donors += np.bincount(drawn.donors.ravel(), minlength=3)
    np.testing.assert_allclose(counts.reshape(25, 4).sum(axis=0) / counts.sum(), [0, 0.1, 0.3, 0.6], atol=0.01)  # fmt: skip
    np.testing.assert_allclose(donors / donors.sum(), [0.2, 0, 0.8], atol=0.01)


@pytest.mark.parametrize("m", [200, 50])
def test_the_noise_of_a_pair_is_what_repeating_it_shows(m):
    rng = np.random.default_rng(2)
    first, second = (rng.normal(size=(200, 40)) + 2 * rng.normal(size=(200, 1)) for _ in range(2))
    y, share = rng.normal(size=(200, 1)), np.full(40, 1 / 40)
    differences, noise = [], []
    for seed in range(300):
        drawn = draw(np.random.default_rng(seed), np.ones(200), np.ones(40), m, 8)
        both = [
            donor_losses(t[drawn.rows[None, :], drawn.donors][..., None], drawn, y[drawn.rows], SQUARED, share, probability=False)
            for t in (first, second)
        ]  # fmt: skip
        worth, variance = mean_and_noise(*both, drawn)
        differences.append(worth[0] - worth[1])
        noise.append(variance)
    assert np.mean(noise) == pytest.approx(np.var(differences), rel=0.3)


def test_noise_of_one_row_is_that_of_its_donors():
    same = RowLosses(np.ones(1), np.array([[1.0], [3.0]]))
    none = RowLosses(np.zeros(1), np.zeros((2, 1)))
    drawn = Draw(np.zeros(1, dtype=np.intp), np.array([[0], [1]]), np.ones(1), 0.5)
    assert mean_and_noise(same, none, drawn)[1] == pytest.approx((1 - 0.5) * 0.5 * 2)


# -- the plan ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize(("players", "rows", "donors"), [(2, 5, 3), (8, 300, 100), (30, 5_000, 200), (300, 40, 40)])  # fmt: skip
def test_a_plan_keeps_to_its_budget(players, rows, donors, read):
    least = fewest_rows(players, rows, donors, read=read)
    for budget in (least, 3 * least, 100 * least):
        made = plan(budget, players, rows, donors, read=read)
        each = made.effort.rows + donors if read else made.effort.rows * made.effort.donors
        assert 2 * made.pairs * each <= budget
        assert few_pairs(players) <= made.pairs <= 2 ** (players - 1) - 1
        assert 1 <= made.effort.rows <= rows
        assert 1 <= made.effort.donors <= donors


@pytest.mark.parametrize("players", [2, 5, 6])
def test_pairs_that_were_all_asked_stand_for_themselves(players):
    design = PairDesign(players, np.random.default_rng(0))
    halves = design.between(0, design.total)
    weights, share = standing_for(design, design.total, halves)
    np.testing.assert_allclose(weights, pair_weights(halves))
    np.testing.assert_array_equal(share, 1)


# -- the estimate ------------------------------------------------------------------------------------


def network(X):
    """Eight features through a layer of twelve."""
    rng = np.random.default_rng(5)
    inner, outer = rng.normal(size=(8, 12)), rng.normal(size=12)
    return np.tanh(np.asarray(X, dtype=float) @ inner * 0.7) @ outer / 2


def chances(X):
    p = 1 / (1 + np.exp(-2 * network(X)))
    return np.column_stack([1 - p, p])


def scene(kind, n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    if kind == "log_loss":
        return chances, X, (rng.random(n) < chances(X)[:, 1]).astype(int)
    return network, X, network(X) + rng.normal(size=n)


def estimates(kind, budget, repeats=REPEATS, **options):
    """The exact values, and estimates and standard errors over seeds."""
    model, X, y = scene(kind)

    def explainer(seed):
        return Explainer(model, X, y, background=X[:60], random_state=seed, checks=False, progress=False, **options)  # fmt: skip

    exact = explainer(0).importance(method="sage", loss=kind, budget=10**8)
    found = [explainer(seed).importance(method="sage", loss=kind, budget=budget) for seed in range(repeats)]
    assert exact.settings["estimator"] == "exact"
    assert found[0].settings["estimator"] == "pairs"
    return exact, np.array([r.values for r in found]), np.array([r.se for r in found])


@pytest.mark.parametrize(
    ("kind", "budget"), [("mse", 30_000), ("mse", 150_000), ("log_loss", 150_000), ("mae", 150_000)]
)
def test_intervals_hold_the_exact_value_and_values_are_not_off_to_one_side(kind, budget):
    exact, values, se = estimates(kind, budget)
    error = values - exact.values
    inside = np.abs(error) <= 1.96 * se
    allowed = 0.02 if SLOW else 0.045
    assert inside.mean() >= 0.95 - allowed
    # A small design leaves few degrees of freedom: its intervals are rather too wide.
    assert np.sqrt(np.mean(se**2)) < 2.2 * np.sqrt(np.mean(error**2))
    bias, spread = error.mean(axis=0), values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(bias) <= 4 * spread + 2e-3 * exact.joint).all()


def test_an_additive_model_is_known_almost_exactly_from_few_donors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    slopes = np.arange(1.0, 9.0)
    y = X @ slopes + rng.normal(size=300)
    errors = []
    for seed in range(5):
        ex = Explainer(
            lambda Z: np.asarray(Z) @ slopes, X, y, background=X[:50], random_state=seed, progress=False, checks=False
        )
        exact, found = (ex.importance(method="sage", budget=budget) for budget in (10**8, 60_000))
        errors.append(np.abs(found.values - exact.values).max() / exact.joint)
    assert np.median(errors) < 0.005  # one sample in some ten is off by up to 0.02


def test_more_budget_gives_narrower_intervals_and_smaller_errors():
    exact, small, small_se = estimates("mse", 30_000, repeats=10)
    _, large, large_se = estimates("mse", 300_000, repeats=10)
    assert np.square(large - exact.values).mean() < np.square(small - exact.values).mean() / 4
    assert np.square(large_se).mean() < np.square(small_se).mean() / 4


def test_a_tolerance_is_kept():
    model, X, y = scene("mse")
    ex = Explainer(model, X, y, background=X[:60], progress=False)
    exact = ex.importance(method="sage", budget=10**8)
    tolerance = 0.01 * exact.joint
    found = ex.importance(method="sage", budget=600_000, tolerance=tolerance)
    assert 1.96 * found.se.max() <= tolerance
    assert np.abs(found.values - exact.values).max() <= 2 * tolerance
    assert found.cost.model_rows < 600_000


def test_an_interruption_gives_what_is_known():
    model, X, y = scene("mse")
    calls = {"n": 0, "most": 10**9}

    def impatient(Z):
        calls["n"] += 1
        if calls["n"] > calls["most"]:
            raise KeyboardInterrupt
        return model(Z)

    ex = Explainer(impatient, X, y, background=X[:60], progress=False, checks=False)
    whole = ex.importance(method="sage", budget=400_000)
    asked, calls["n"] = calls["n"], 0
    calls["most"] = asked // 2
    part = Explainer(impatient, X, y, background=X[:60], progress=False)
    calls["n"] = 0
    found = part.importance(method="sage", budget=400_000)
    assert "partial" in {caveat.code for caveat in found.caveats}
    assert found.settings["coalitions"] < whole.settings["coalitions"]
    assert found.values.sum() == pytest.approx(whole.joint)
    calls["n"] = calls["most"]
    with pytest.raises(KeyboardInterrupt):
        part.importance(method="sage", budget=400_000)


def test_very_many_rows_are_sampled_and_the_intervals_say_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 8))
    y = network(X) + rng.normal(size=4_000)
    ex = Explainer(network, X, y, background=20, progress=False)
    exact = ex.importance(method="sage", budget=10**8)
    found = ex.importance(method="sage", budget=60_000)
    assert found.settings["rows"] < 1_000
    assert (np.abs(found.values - exact.values) <= 4 * found.se).all()
    assert np.abs(found.values - exact.values).max() < 0.1 * exact.joint
