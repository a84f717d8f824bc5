"""What characterises Shapley values, as theorems: on random games and on models of many kinds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVR

from methods.attribution.scenes import one_hot, outcome, table, three_classes
from pellucid import Explainer
from pellucid.methods.attribution.estimation.estimate import Rounds
from pellucid.methods.attribution.shapley_exact import shapley_exact
from pellucid.methods.attribution.shapley_kernel import shapley_kernel
from pellucid.methods.attribution.shapley_permutation import shapley_permutation
from pellucid.runner import Run
from reference.indices import interaction_matrix, shapley
from reference.shapley import TableGame, additive_table, kernel_least_squares, shapley_by_orders

many = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 10_000)
LEVELS = 5.0  # standard errors: chance alone does not break a test in which hundreds of numbers are compared


def exact(*tables, interactions=False):
    found = shapley_exact(TableGame.of(*tables), interactions="shapley" if interactions else None)
    part = found.interactions[..., 0] if interactions else found.values[..., 0]
    return part[0] if len(tables) == 1 else part


def kernel(*tables, pairs=24, seed=0, interactions=False):
    game = TableGame.of(*tables)
    return shapley_kernel(game, Rounds(pairs, pairs), Run(seed=seed), interactions=interactions)


def permutation(*tables, draws=40, seed=0):
    return shapley_permutation(TableGame.of(*tables), Rounds(draws, draws), Run(seed=seed))


SAMPLED = {"kernel": kernel, "permutation": permutation}


def bit(masks, i):
    return masks >> i & 1


def swapped(masks, i, j):
    """The coalitions with i and j in each other's place."""
    differ = bit(masks, i) ^ bit(masks, j)
    return masks ^ (differ << i | differ << j)


def games(seed, p, n=1):
    return np.random.default_rng(seed).normal(size=(n, 2**p))


# -- the definition in its several forms -------------------------------------------------------------


@many
@given(seeds, st.integers(1, 6))
def test_all_forms_of_the_definition_agree(seed, p):
    v = games(seed, p)[0]
    found = exact(v)
    np.testing.assert_allclose(found, shapley(v), atol=1e-12)
    np.testing.assert_allclose(found, shapley_by_orders(v), atol=1e-12)
    if p > 1:
        np.testing.assert_allclose(found, kernel_least_squares(v), atol=1e-9)


@many
@given(seeds, st.integers(1, 6))
def test_interactions_run_over_all_coalitions_without_the_two(seed, p):
    v = games(seed, p)[0]
    found = exact(v, interactions=True)
    np.testing.assert_allclose(found, interaction_matrix(v), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), shapley(v), atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


@many
@given(seeds, st.integers(2, 6))
def test_a_game_of_one_pair_has_one_interaction(seed, p):
    rng = np.random.default_rng(seed)
    i, j = rng.choice(p, 2, replace=False)
    masks = np.arange(2**p)
    v = additive_table(rng.normal(size=p)) + 3.0 * (bit(masks, i) & bit(masks, j))
    found = exact(v, interactions=True)
    expected = np.zeros((p, p))
    expected[i, j] = expected[j, i] = 1.5
    np.testing.assert_allclose(found - np.diag(np.diag(found)), expected, atol=1e-12)


# -- axioms of the exact values ----------------------------------------------------------------------


@many
@given(seeds, st.integers(1, 7))
def test_efficiency(seed, p):
    v = games(seed, p)[0]
    assert exact(v).sum() == pytest.approx(v[-1] - v[0], abs=1e-12)
    assert exact(v, interactions=True).sum() == pytest.approx(v[-1] - v[0], abs=1e-12)


@many
@given(seeds, st.integers(2, 6), st.data())
def test_symmetry(seed, p, data):
    i, j = data.draw(st.permutations(range(p)))[:2]
    v, masks = games(seed, p)[0], np.arange(2**p)
    alike = v + v[swapped(masks, i, j)]
    phi, pairs = exact(alike), exact(alike, interactions=True)
    assert phi[i] == pytest.approx(phi[j], abs=1e-12)
    others = [k for k in range(p) if k not in (i, j)]
    np.testing.assert_allclose(pairs[i, others], pairs[j, others], atol=1e-12)


@many
@given(seeds, st.integers(1, 6), st.data())
def test_dummy(seed, p, data):
    """A player who always brings the same gets that, and interacts with nobody."""
    i = data.draw(st.integers(0, p - 1))
    masks = np.arange(2**p)
    v = games(seed, p)[0][masks & ~(1 << i)] + 0.7 * bit(masks, i)
    assert exact(v)[i] == pytest.approx(0.7, abs=1e-12)
    pairs = exact(v, interactions=True)[i]
    np.testing.assert_allclose(np.delete(pairs, i), 0, atol=1e-12)


@many
@given(seeds, st.integers(1, 6), st.booleans())
def test_additivity(seed, p, interactions):
    v, w = games(seed, p, 2)
    together, apart = exact(v + w, interactions=interactions), exact(v, w, interactions=interactions)
    np.testing.assert_allclose(together, apart.sum(axis=0), atol=1e-12)


@many
@given(seeds, st.integers(1, 6), st.floats(-100, 100), st.floats(-100, 100))
def test_scale_and_shift(seed, p, a, b):
    v = games(seed, p)[0]
    np.testing.assert_allclose(exact(a * v + b), a * exact(v), atol=1e-9)


@many
@given(seeds, st.integers(1, 6), st.data())
def test_consistency(seed, p, data):
    """If a player brings at least as much to every coalition as in another game, the value is no smaller."""
    i = data.draw(st.integers(0, p - 1))
    rng, masks = np.random.default_rng(seed), np.arange(2**p)
    v = rng.normal(size=2**p)
    more = rng.exponential(size=2**p)[masks & ~(1 << i)] * bit(masks, i)
    others = rng.normal(size=2**p)[masks & ~(1 << i)]
    assert exact(v + more + others)[i] >= exact(v)[i] - 1e-12


@many
@given(seeds, st.permutations(range(5)))
def test_names_do_not_matter(seed, names):
    """Player ``names[i]`` of the second game is player i of the first."""
    v, masks = games(seed, 5)[0], np.arange(32)
    renamed = np.empty(32)
    renamed[sum(bit(masks, i) << names[i] for i in range(5))] = v
    np.testing.assert_allclose(exact(renamed)[names], exact(v), atol=1e-12)


# -- axioms of the estimates -------------------------------------------------------------------------


@pytest.mark.parametrize("way", SAMPLED)
@many
@given(seeds, st.integers(6, 8))
def test_estimates_add_up_whatever_the_sample(way, seed, p):
    v = games(seed, p, 3)
    found = SAMPLED[way](*v, seed=seed)
    np.testing.assert_allclose(found.values[..., 0].sum(axis=1), v[:, -1] - v[:, 0], atol=1e-9)


@many
@given(seeds)
def test_estimated_interactions_add_up_to_the_values(seed):
    found = kernel(*games(seed, 7, 2), seed=seed, interactions=True)
    np.testing.assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-9)
    np.testing.assert_allclose(found.interactions, found.interactions.swapaxes(1, 2), atol=1e-12)


@pytest.mark.parametrize("way", SAMPLED)
@many
@given(seeds, st.floats(0.01, 100), st.booleans(), st.floats(-10, 10))
def test_estimates_scale_and_shift(way, seed, a, negative, b):
    v = games(seed, 6)[0]
    a = -a if negative else a
    one, other = SAMPLED[way](v, seed=seed), SAMPLED[way](a * v + b, seed=seed)
    np.testing.assert_allclose(other.values, a * one.values, rtol=1e-6, atol=1e-8 * (1 + abs(a)))
    np.testing.assert_allclose(other.se, abs(a) * one.se, rtol=1e-4, atol=1e-7 * (1 + abs(a) + abs(b)))


@pytest.mark.parametrize("way", SAMPLED)
def test_estimates_agree_with_the_axioms_within_their_errors(way):
    """Symmetric players, a dummy, and a sum of games, none of which the estimator knows."""
    rng, p, masks = np.random.default_rng(0), 8, np.arange(2**8)
    effects = rng.normal(size=p)
    size = sum(bit(masks, i) for i in range(p))
    v = np.tanh(additive_table(effects) / 2) + 0.1 * size * bit(masks, 0)
    w = np.cos(additive_table(rng.normal(size=p))) * size
    symmetric = v + v[swapped(masks, 2, 5)]
    idle = v[masks & ~(1 << 3)] + 0.7 * bit(masks, 3)
    estimate = {"kernel": lambda *t: kernel(*t, pairs=60), "permutation": lambda *t: permutation(*t, draws=300)}[way]
    found = estimate(v, w, v + w, symmetric, idle)
    phi, se = found.values[..., 0], found.se[..., 0]
    close = LEVELS * np.sqrt(np.square(se[:3]).sum(axis=0))
    assert (np.abs(phi[0] + phi[1] - phi[2]) <= close).all()
    assert abs(phi[3, 2] - phi[3, 5]) <= LEVELS * np.hypot(se[3, 2], se[3, 5])
    assert abs(phi[4, 3] - 0.7) <= LEVELS * se[4, 3] + 1e-12
    assert se.max() < 0.5 * np.abs(phi).max()


# -- models ------------------------------------------------------------------------------------------


def numbers(n=70):
    X = pd.DataFrame(np.random.default_rng(5).normal(size=(n, 4)), columns=list("abcd"))
    return X, np.sin(2 * X["a"]) * X["b"] + X["c"]


def classes():
    return three_classes(table())


NET = {"hidden_layer_sizes": (8,), "solver": "lbfgs", "max_iter": 3000, "random_state": 0, "alpha": 1.0}
MODELS = {
    "net": lambda: (MLPRegressor(**NET), *numbers()),
    "net of two": lambda: (MLPRegressor(**NET), numbers()[0], np.column_stack([numbers()[1], numbers()[0]["d"]])),
    "support vectors": lambda: (SVR(C=10.0), *numbers()),
    "forest": lambda: (RandomForestRegressor(8, random_state=0), *numbers()),
    "linear": lambda: (LinearRegression(), *numbers()),
    "one-hot net of classes": lambda: (one_hot(MLPClassifier(**NET)), table(), classes()),
    "one-hot logistic": lambda: (one_hot(LogisticRegression(max_iter=3000)), table(), classes()),
    "one-hot extra trees": lambda: (one_hot(ExtraTreesClassifier(8, random_state=0)), table(), classes()),
}  # fmt: skip


@pytest.fixture(scope="module", params=MODELS)
def scene(request):
    model, X, y = MODELS[request.param]()
    return model.fit(X, y), X


def explain(model, X, rows, **options):
    call = {name: options.pop(name) for name in ("method", "budget", "interactions") if name in options}
    return Explainer(model, X, progress=False, checks=False, **options).shap(rows, **call)


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("groups", [False, True])
def test_models_of_all_kinds_keep_the_axioms(scene, groups):
    model, X = scene
    names = list(X.columns)
    options = {"sample_weight": np.linspace(0.5, 2, len(X)), "groups": {"both": names[:2]} if groups else None}
    found = explain(model, X, [0, 3, 3], method="exact", interactions=True, **options)
    predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    predictions = np.asarray(predict(X), dtype=float)
    np.testing.assert_allclose(found.prediction, predictions[[0, 3, 3]], atol=1e-9)
    np.testing.assert_allclose(found.base, np.average(predictions, axis=0, weights=options["sample_weight"]), atol=1e-9)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction, atol=1e-9)
    np.testing.assert_allclose(found.interaction_values.sum(axis=2), found.values, atol=1e-9)
    np.testing.assert_allclose(
        found.values[1], found.values[2], rtol=0, atol=1e-14
    )  # products of matrices may add up otherwise
    sampled = explain(model, X, [0, 3], method="permutation", **options)
    assert (np.abs(sampled.values - found.values[:2]) <= LEVELS * sampled.se + 1e-9).all()
    np.testing.assert_allclose(sampled.base + sampled.values.sum(axis=1), sampled.prediction, atol=1e-9)


def test_linear_models_have_a_closed_form_whoever_estimates():
    X, y = numbers()
    X = pd.concat([X, X.add_suffix("2").sample(frac=1, random_state=0).reset_index(drop=True)], axis=1)
    model = LinearRegression().fit(X, y)
    expected = (X.iloc[:3] - X.mean()).to_numpy() * model.coef_
    scale = np.abs(expected).max()
    exactly = explain(model, X, X.iloc[:3], method="exact")
    np.testing.assert_allclose(exactly.values, expected, atol=1e-9)
    pairs = explain(model, X, X.iloc[:3], method="kernel", budget=3 * 2 * 30 * len(X))
    assert pairs.method == "kernel"
    np.testing.assert_allclose(pairs.values, expected, atol=1e-4 * scale)
    assert pairs.se.max() < 1e-4 * scale
    orders = explain(model, X, X.iloc[:3], method="permutation")
    np.testing.assert_allclose(orders.values, expected, atol=1e-9)
    contrast = explain(model, X, X.iloc[:3], method="permutation", background=X.iloc[[7]])
    np.testing.assert_allclose(contrast.values, (X.iloc[:3] - X.iloc[7]).to_numpy() * model.coef_, atol=1e-9)


def test_a_forest_is_the_mean_of_its_trees():
    X, y = numbers()
    forest = RandomForestRegressor(6, random_state=0).fit(X.to_numpy(), y)
    rows = X.to_numpy()[:4]
    for way in ("exact", "tree"):
        found = explain(forest, X.to_numpy(), rows, method=way, interactions=True)
        trees = [explain(tree, X.to_numpy(), rows, method=way, interactions=True) for tree in forest]
        np.testing.assert_allclose(found.values, np.mean([tree.values for tree in trees], axis=0), atol=1e-9)
        pairs = np.mean([tree.interaction_values for tree in trees], axis=0)
        np.testing.assert_allclose(found.interaction_values, pairs, atol=1e-9)


def test_classes_sum_to_nothing():
    """Probabilities add up to one, so that what one class gains another loses."""
    frame = table()
    model = one_hot(LogisticRegression(max_iter=3000)).fit(frame, three_classes(frame))
    np.testing.assert_allclose(explain(model, frame, range(5)).values.sum(axis=2), 0, atol=1e-12)


def test_a_group_is_worth_its_members_where_they_do_not_interact_with_others():
    frame = table()

    def f(Z):
        return np.asarray(outcome(pd.DataFrame(Z)) - outcome(pd.DataFrame(Z).assign(temp=0.0, hum=0.0)))

    def g(Z):
        return f(Z) * np.asarray(Z["temp"]) + np.asarray(Z["day"])

    apart = explain(g, frame, [0, 1]).values
    together = explain(g, frame, [0, 1], groups={"weather": ["temp", "hum"]})
    assert together.feature_names[0] == "weather"
    np.testing.assert_allclose(together.values[:, 0], apart[:, :2].sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(together.values[:, 1:], apart[:, 2:], atol=1e-9)


@pytest.mark.parametrize(
    ("way", "budget", "rounding"), [("exact", None, 0.0), ("kernel", 2 * 2 * 30 * 60, 0.0), ("permutation", None, 1e-8)]
)
def test_missingness_a_feature_that_is_the_same_everywhere_gets_exactly_nothing(way, budget, rounding):
    X = np.random.default_rng(2).normal(size=(30, 9))
    X[:, 3] = 2.0
    found = explain(lambda Z: np.tanh(Z.sum(axis=1)) + Z[:, 0] * Z[:, 3], X, [0, 1], method=way, budget=budget)
    assert found.method == way
    np.testing.assert_allclose(found.values[:, 3], 0.0, atol=rounding)
    np.testing.assert_allclose(found.se[:, 3], 0.0, atol=rounding)
