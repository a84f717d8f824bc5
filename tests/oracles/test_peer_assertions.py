"""What the test suites of other libraries assert of their own answers, asked of ours: facts that any answer must meet.

Sections are named after the library whose suite makes the assertion; data, models and words are our own.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer, TextExplainer, shapley

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
SLOPES = np.array([3.0, -2.0, 0.5, 0.0])


def linear(rows):
    return np.asarray(rows) @ SLOPES + 1.0


def curved(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2])


def quiet(model, X, y=None, **options):
    return Explainer(model, X, y, checks=False, progress=False, **options)


# -- scikit-learn, inspection ------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["shuffle", "pairs"])
def test_importance_of_a_linear_model_is_twice_its_squared_slopes(scheme):
    Z = StandardScaler().fit_transform(X)
    found = quiet(linear, Z, linear(Z)).importance(scheme=scheme, repeats=100)
    assert found.values == pytest.approx(2 * SLOPES**2 * (80 / 79 if scheme == "pairs" else 1), rel=0.06, abs=1e-12)


def test_the_outcome_itself_among_the_features_matters_most():
    y = X[:, 0] + RNG.normal(size=80)
    Z = np.column_stack([X, y + 0.001 * RNG.normal(size=80)])
    model = RandomForestRegressor(20, random_state=0).fit(Z, y)
    assert np.argmax(quiet(model, Z, y).importance().values) == 4


def test_words_and_missing_values_are_permuted_like_numbers():
    table = pd.DataFrame({"size": [*RNG.normal(size=59), np.nan], "kind": RNG.choice(["a", "b"], 60)})
    y = (table["kind"] == "a").astype(float)
    found = quiet(lambda rows: (rows["kind"] == "a").astype(float), table, y).importance()
    assert found.values[0] == 0.0
    assert found.values[1] > 0.3


def test_weights_decide_which_rows_importance_is_about():
    """The first feature predicts the first half of the rows, the second the other half."""
    half = np.arange(80) < 40
    y = np.where(half, X[:, 0], X[:, 1])

    def model(rows):
        return np.where(rows[:, 3] > 0, rows[:, 0], rows[:, 1])

    Z = np.column_stack([X[:, :3], np.where(half, 1.0, -1.0)])
    even = quiet(model, Z, y).importance(scheme="pairs").values
    ones = quiet(model, Z, y, sample_weight=np.ones(80)).importance(scheme="pairs").values
    first = quiet(model, Z, y, sample_weight=np.where(half, 1.0, 0.0)).importance(scheme="pairs").values
    assert ones == pytest.approx(even)
    assert first[1] == 0.0
    assert first[0] > 1.5 * even[0]


@pytest.mark.parametrize("power", [1, 2])
def test_the_shape_of_an_easy_target_is_found(power):
    y = X[:, 0] ** power
    found = quiet(DecisionTreeRegressor(random_state=0).fit(X, y), X).pdp(0, grid=15)
    assert np.corrcoef(found.values, found.grid**power)[0, 1] > 0.95


def test_one_row_of_great_weight_is_the_average():
    weights = np.ones(80)
    weights[7] = 1e12
    heavy = quiet(curved, X, sample_weight=weights).pdp(0, at=[-1, 0, 1])
    alone = quiet(curved, X).ice(0, rows=[7], at=[-1, 0, 1])
    assert heavy.values == pytest.approx(alone.values[0])


def test_steps_before_the_model_do_not_change_its_effects():
    y = linear(X)
    scaled = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    assert quiet(scaled, X).pdp(1).values == pytest.approx(quiet(LinearRegression().fit(X, y), X).pdp(1).values)


def test_lists_arrays_and_tables_have_the_same_effect():
    table = pd.DataFrame(X, columns=list("abcd"))
    wanted = quiet(curved, X).pdp(0).values
    assert quiet(lambda rows: curved(rows.to_numpy()), table).pdp("a").values == pytest.approx(wanted)
    assert quiet(lambda rows: curved(np.asarray(rows)), X.tolist()).pdp(0).values == pytest.approx(wanted)


# -- shap --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation", "linear"])
def test_values_of_a_linear_model_are_slopes_times_distances_from_the_mean(method):
    model = LinearRegression().fit(X, linear(X))
    asked = model if method == "linear" else model.predict
    found = quiet(asked, X).shap([0, 5], method=method)
    assert found.values == pytest.approx(SLOPES * (X[[0, 5]] - X.mean(axis=0)))


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation"])
def test_a_model_that_says_nothing_gives_nothing(method):
    found = quiet(lambda rows: np.zeros(len(rows)), X).shap([0, 1], method=method)
    assert not found.values.any()
    assert not found.se.any()


FOREST, LONELY = RandomForestRegressor(10, random_state=0), IsolationForest(n_estimators=10, random_state=0)


@pytest.mark.parametrize(("model", "game"), [(FOREST, "path"), (FOREST, "marginal"), (LONELY, "marginal")])
def test_values_and_base_add_up_to_the_prediction(model, game):
    ex = quiet(model.fit(X, curved(X)), X)
    found = ex.shap(range(6), game=game)
    assert found.base + found.values.sum(axis=1) == pytest.approx(np.asarray(ex.predict(range(6))).ravel())


def test_interactions_of_a_row_add_up_to_its_values():
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, curved(X))
    found = quiet(model, X).shap(range(3), interactions=True)
    pairs = found.interaction_values
    assert pairs.sum(axis=2) == pytest.approx(found.values)
    assert pairs == pytest.approx(pairs.transpose(0, 2, 1))


@pytest.mark.parametrize(
    ("gate", "values"),
    [(np.logical_and, (0.375, 0.375)), (np.logical_or, (0.125, 0.125)), (np.logical_xor, (-0.25, -0.25))],
)
def test_gates_of_two_switches_that_are_on(gate, values):
    table = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = quiet(lambda rows: gate(rows[:, 0] > 0, rows[:, 1] > 0).astype(float), table).shap(3, method="exact")
    assert found.values[0] == pytest.approx(values)


def test_columns_that_repeat_each_other_share_by_their_slopes():
    twins = np.column_stack([X[:, 0], X[:, 0]])
    found = quiet(lambda rows: rows[:, 0] + 3 * rows[:, 1], twins).shap(0)
    assert found.values[0, 1] == pytest.approx(3 * found.values[0, 0])


# -- shapiq ------------------------------------------------------------------------------------------

PLAYERS, PAIR = 7, [1, 4]


def even_shares_and_a_pair(coalitions):
    """A seventh for each who is there, and one for the two of the pair together."""
    return coalitions.mean(axis=1) + coalitions[:, PAIR].all(axis=1)


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation"])
def test_a_pair_shares_what_it_earns_together(method):
    found = shapley(even_shares_and_a_pair, PLAYERS, method=method)
    wanted = np.full(PLAYERS, 1 / PLAYERS)
    wanted[PAIR] += 0.5
    assert found.values.ravel() == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("index", ["shapley", "taylor", "faithful", "banzhaf"])
def test_the_only_interaction_is_found_by_every_index(index):
    found = shapley(even_shares_and_a_pair, PLAYERS, order=2, index=index)
    pairs = np.squeeze(found.interaction_values)
    off = pairs - np.diag(np.diag(pairs))
    one = off[PAIR[0], PAIR[1]]
    assert one in (pytest.approx(0.5), pytest.approx(1.0))
    assert np.abs(off).sum() == pytest.approx(2 * one)


def test_a_left_and_two_right_gloves():
    found = shapley(lambda c: (c[:, 0] & (c[:, 1] | c[:, 2])).astype(float), 3)
    assert found.values.ravel() == pytest.approx([2 / 3, 1 / 6, 1 / 6])


def test_a_sum_of_unanimity_games_shares_each_among_its_members():
    members = [(0,), (1, 2), (0, 3, 4), (2, 3, 4, 5)]
    weights = [1.0, -2.0, 0.5, 3.0]
    found = shapley(
        lambda c: sum(w * c[:, list(some)].all(axis=1) for w, some in zip(weights, members, strict=True)), 6
    )
    wanted = [sum(w / len(m) for w, m in zip(weights, members, strict=True) if i in m) for i in range(6)]
    assert found.values.ravel() == pytest.approx(wanted)


# -- alibi -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [4, 40])
def test_accumulated_effects_of_a_linear_model_have_its_slopes(bins):
    ex = quiet(linear, X)
    for j, slope in enumerate(SLOPES):
        found = ex.ale(j, bins=bins)
        assert np.diff(found.values) == pytest.approx(slope * np.diff(found.grid))


def test_accumulated_effects_of_classes_add_up_to_nothing():
    Z, labels = make_classification(100, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    found = quiet(LogisticRegression().fit(Z, labels), Z).ale(0)
    assert found.values.sum(axis=-1) == pytest.approx(np.zeros(len(found.grid)), abs=1e-12)


def test_a_constant_feature_has_no_accumulated_effect():
    Z = np.column_stack([X, np.ones(80)])
    assert not quiet(linear_of_first, Z).ale(4).values.any()


def linear_of_first(rows):
    return np.asarray(rows)[:, :4] @ SLOPES


def test_importance_by_partial_dependence_goes_by_slope_and_spread():
    found = quiet(linear, X).importance(method="pdp", at=[[-1, 1]] * 4)
    assert found.values == pytest.approx(np.abs(SLOPES) * np.std([-1, 1], ddof=1))


def test_an_anchor_of_iris_holds_where_it_applies():
    flowers = load_iris(as_frame=True)
    model = RandomForestClassifier(20, random_state=0).fit(flowers.data, flowers.target)
    ex = quiet(model, flowers.data)
    rule = ex.anchor(0, precision=0.95)
    assert rule.reached
    applies = ex.check_rule(rule, flowers.data)
    assert applies.precision >= 0.95
    assert 0 < rule.coverage < 1


def test_groups_of_columns_are_worth_the_sum_of_theirs_in_a_linear_model():
    table = pd.DataFrame(X, columns=list("abcd"))
    apart = quiet(linear, table).shap(0)
    together = quiet(linear, table, groups={"ab": ["a", "b"]}).shap(0)
    values = dict(zip(together.feature_names, together.values[0], strict=True))
    assert values["ab"] == pytest.approx(apart.values[0, :2].sum())


# -- SALib -------------------------------------------------------------------------------------------


def ishigami(rows):
    return np.sin(rows[:, 0]) + 7 * np.sin(rows[:, 1]) ** 2 + 0.1 * rows[:, 2] ** 4 * np.sin(rows[:, 0])


def test_indices_of_the_ishigami_function():
    box = {j: (-np.pi, np.pi) for j in range(3)}
    found = quiet(ishigami, X[:, :3]).importance(method="sobol", ranges=box)
    assert found.first == pytest.approx([0.3139, 0.4424, 0.0], abs=0.03)
    assert found.values == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.03)


def test_indices_of_the_g_function():
    a = np.array([0.0, 1.0, 4.5, 9.0])
    parts = 1 / 3 / (1 + a) ** 2
    total = np.prod(1 + parts) - 1

    def g(rows):
        return np.prod((np.abs(4 * np.asarray(rows) - 2) + a) / (1 + a), axis=1)

    found = quiet(g, X).importance(method="sobol", ranges={j: (0, 1) for j in range(4)})
    rest = [np.prod(np.delete(1 + parts, j)) for j in range(4)]
    assert found.first == pytest.approx(parts / total, abs=0.03)
    assert found.values == pytest.approx(parts * rest / total, abs=0.03)


# -- lime --------------------------------------------------------------------------------------------


def test_the_columns_of_a_sparse_linear_model_are_chosen():
    Z, y = make_regression(200, 10, n_informative=2, random_state=1)
    model = LinearRegression().fit(Z, y)
    found = quiet(model.predict, Z).lime(0, features=2)
    informative = set(np.flatnonzero(np.abs(model.coef_) > 1))
    assert set(np.flatnonzero(found.values.ravel())) == informative


def test_the_seed_decides_about_the_samples():
    first, same, other = (quiet(curved, X, random_state=seed).lime(0, samples=200).values for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_the_word_that_decides_has_the_weight():
    ex = TextExplainer(lambda texts: [float("good" in text.split()) for text in texts], progress=False)
    found = ex.lime("a good film and a long one")
    assert found.feature_names[int(np.argmax(found.values[0]))].startswith("good")


# -- dalex -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [None, ["x2", "x0", "x1", "x3"]])
def test_steps_of_a_break_down_lead_to_the_prediction(order):
    found = quiet(curved, X).breakdown(3, order=order)
    assert found.base + found.values.sum() == pytest.approx(curved(X[[3]])[0])


def test_a_profile_passes_through_the_prediction():
    found = quiet(curved, X).ice(0, rows=[3], at=[float(X[3, 0]), 5.0])
    assert found.values[0, 0] == pytest.approx(curved(X[[3]])[0])


def test_the_mean_of_profiles_is_partial_dependence():
    ex = quiet(curved, X)
    assert ex.ice(1, at=[-1, 0, 1]).values.mean(axis=0) == pytest.approx(ex.pdp(1, at=[-1, 0, 1]).values)


def test_a_group_is_worth_at_least_its_better_half_without_correlation():
    table = pd.DataFrame(X, columns=list("abcd"))
    apart = quiet(linear, table, linear(X)).importance(scheme="pairs").values
    group = quiet(linear, table, linear(X), groups={"ab": ["a", "b"]}).importance(scheme="pairs")
    values = dict(zip(group.feature_names, group.values, strict=True))
    assert values["ab"] >= max(apart[:2])
