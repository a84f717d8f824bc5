"""Break-down: equal to the definition along every kind of order, and honest about the order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

import pellucid
from golden_files import masked
from methods.attribution.scenes import one_hot, outcome, table, three_classes
from pellucid import Explainer
from pellucid.methods.attribution.breakdown import ORDER_SHARE, breakdown
from reference.indices import shapley
from reference.shapley import greedy_order, ranges_over_orders, steps_with_pairs, walk
from reference.trees import marginal_game


def explained(f, X, row, *, checks=False, background=None, order=None, interactions=False, **options):
    ex = Explainer(f, X, progress=False, checks=checks, **options)
    return breakdown(
        ex.predictor,
        ex.data,
        row,
        background=background,
        order=order,
        interactions=interactions,
        run=ex._run("break-down"),
    )


def crooked(seed, p):
    """A model of several kinds of interaction, and a table."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=p), rng.normal(size=(p, p))
    X = rng.normal(size=(6, p))
    return (lambda Z: np.tanh(Z @ a) + 0.3 * np.einsum("ni,ij,nj->n", Z, b, Z)), X


def game_of(f, row, X):
    return marginal_game(lambda z: f(np.array([z]))[0], row, X)


many = settings(max_examples=25, deadline=None)


# -- the definition ----------------------------------------------------------------------------------


@many
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_greedy_order_equals_the_definition(seed, p):
    f, X = crooked(seed, p)
    found = explained(f, X, [0, 3])
    for i, row in enumerate((0, 3)):
        v = game_of(f, X[row], X)
        order = greedy_order(v)
        assert found.settings["order"][i] == [f"x{j}" for j in order]
        gains = walk(v, order)
        np.testing.assert_allclose(found.values[i], [gains[j] for j in range(p)], atol=1e-9)
        assert float(found.base) == pytest.approx(v[0])
        assert found.prediction[i] == pytest.approx(v[-1])


@many
@given(st.integers(0, 10_000), st.permutations(range(4)), st.booleans())
def test_a_given_order_equals_the_definition(seed, order, by_name):
    f, X = crooked(seed, 4)
    found = explained(f, X, 1, order=[f"x{j}" for j in order] if by_name else order)
    gains = walk(game_of(f, X[1], X), order)
    np.testing.assert_allclose(found.values[0], [gains[j] for j in range(4)], atol=1e-9)
    assert found.settings["order"] == [[f"x{j}" for j in order]]


@many
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_pairs_enter_as_their_definition_says(seed, p):
    f, X = crooked(seed, p)
    found = explained(f, X, 2, interactions=True)
    v = game_of(f, X[2], X)
    steps = steps_with_pairs(v)
    names = [":".join(f"x{j}" for j in step) for step in steps]
    assert found.settings["order"] == [names]
    assert set(found.feature_names) == set(names)
    known = 0
    for name, step in zip(names, steps, strict=True):
        joined = known | sum(1 << j for j in step)
        gain = found.values[0, found.feature_names.index(name)]
        assert gain == pytest.approx(v[joined] - v[known], abs=1e-9)
        known = joined


@many
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_all_orders_are_the_shapley_values(seed, p):
    f, X = crooked(seed, p)
    found = explained(f, X, 2, order="all", checks=True)
    np.testing.assert_allclose(found.values[0], shapley(game_of(f, X[2], X)), atol=1e-9)
    assert found.settings["order"] == "all"
    assert "order" not in {caveat.code for caveat in found.caveats}


def test_steps_of_several_features_enter_together():
    f, X = crooked(3, 4)
    found = explained(f, X, 0, order=["x2", ("x3", "x0"), ["x1"]])
    v = game_of(f, X[0], X)
    assert found.feature_names == ("x1", "x2", "x0:x3")
    expected = [v[15] - v[0b1101], v[0b0100] - v[0], v[0b1101] - v[0b0100]]
    np.testing.assert_allclose(found.values[0], expected, atol=1e-12)
    assert found.entries.members[2] == ("x0", "x3")
    assert found.settings["order"] == [["x2", "x0:x3", "x1"]]


def test_joint_steps_have_names_of_their_own():
    f, X = crooked(4, 4)
    frame = pd.DataFrame(X, columns=["a", "b", "a:b", "b:a:b"])
    model = lambda Z: f(np.asarray(Z))  # noqa: E731
    found = explained(model, frame, 0, order=[("a", "b"), "a:b", "b:a:b"], checks=True)
    assert found.feature_names == ("a:b", "b:a:b", "a:b (2)")
    assert found.settings["order"] == [["a:b (2)", "a:b", "b:a:b"]]
    v = game_of(f, X[0], X)
    np.testing.assert_allclose(found.values[0], [v[7] - v[3], v[15] - v[7], v[3] - v[0]], atol=1e-12)
    twins = explained(model, frame, 0, order=[("b", "a:b"), ("a", "b:a:b")])
    assert twins.feature_names == ("a:b:a:b", "b:a:b (2)")
    for row in range(6):
        pairs = explained(model, frame, row, interactions=True)
        assert len(set(pairs.feature_names)) == pairs.values.shape[1]
        assert set(pairs.settings["order"][0]) == set(pairs.feature_names)
    assert "a:b (2)" in found.text()


def test_two_joint_steps_of_one_name_are_told_apart():
    f, X = crooked(4, 4)
    frame = pd.DataFrame(X, columns=["a", "b:c", "a:b", "c"])
    found = explained(lambda Z: f(np.asarray(Z)), frame, 0, order=[("a:b", "c"), ("a", "b:c")])
    assert found.feature_names == ("a:b:c", "a:b:c (2)")
    assert found.entries.members == (("a", "b:c"), ("a:b", "c"))


# -- theorems ----------------------------------------------------------------------------------------


@many
@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from(["greedy", "given", "pairs"]))
def test_contributions_add_up(seed, p, way):
    f, X = crooked(seed, p)
    options = {"greedy": {}, "given": {"order": list(range(p))[::-1]}, "pairs": {"interactions": True}}[way]
    found = explained(f, X, [0, 1, 2], **options)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction, atol=1e-9)


@many
@given(st.integers(0, 10_000), st.permutations(range(4)), st.booleans())
def test_without_interactions_every_order_gives_the_shapley_values(seed, order, pairs):
    rng = np.random.default_rng(seed)
    X, b = rng.normal(size=(9, 4)), rng.normal(size=4)

    def f(Z):
        return np.sin(Z) @ b

    expected = (np.sin(X[0]) - np.sin(X).mean(axis=0)) * b
    asked = {"interactions": True} if pairs else {"order": order}
    found = explained(f, X, 0, checks=True, **asked)
    assert found.feature_names == ("x0", "x1", "x2", "x3")
    np.testing.assert_allclose(found.values[0], expected, atol=1e-9)
    assert "order" not in {caveat.code for caveat in found.caveats}


def test_linear_models_enter_by_the_size_of_their_effects():
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = LinearRegression().fit(X, X @ [1.0, -3.0, 2.0])
    row = X.mean(axis=0) + 1.0
    found = explained(model, X, row)
    np.testing.assert_allclose(found.values, [[1.0, -3.0, 2.0]], atol=1e-9)
    assert found.settings["order"] == [["x1", "x2", "x0"]]


def test_features_equal_to_the_background_contribute_exactly_nothing():
    X = np.random.default_rng(1).normal(size=(50, 4))
    X[:, 2] = 0.1
    found = explained(lambda Z: Z[:, 0] * Z[:, 1] + np.exp(Z[:, 2] * Z[:, 3]), X, [0, 1])
    np.testing.assert_array_equal(found.values[:, 2], 0.0)
    assert np.abs(found.values[:, [0, 1, 3]]).min() > 1e-6


def test_rounding_is_no_effect_and_no_interaction():
    X = np.random.default_rng(7).normal(size=(37, 6))
    b = np.array([0.1, 0.3, 0.7, 0.0, 0.0, 0.0])
    for row in range(8):
        for options in ({}, {"interactions": True}, {"order": [5, 4, 3, 2, 1, 0]}):
            found = explained(lambda Z: Z @ b + 1000.1, X, row, **options)
            assert found.feature_names == ("x0", "x1", "x2", "x3", "x4", "x5")
            np.testing.assert_array_equal(found.values[0, 3:], 0.0)


@pytest.mark.parametrize("level", [1e6, 1e9, 1e12])
def test_small_effects_on_a_high_level_are_no_rounding(level):
    X = np.random.default_rng(0).normal(size=(50, 2))
    plain = explained(lambda Z: Z[:, 0] * Z[:, 1], X, [0, 3], order=[0, 1])
    found = explained(lambda Z: Z[:, 0] * Z[:, 1] + level, X, [0, 3], order=[0, 1])
    assert np.abs(plain.values).min() > 0.01
    np.testing.assert_allclose(found.values, plain.values, atol=8 * np.spacing(level))


def test_effects_that_cancel_make_no_pairs():
    half = np.random.default_rng(9).normal(size=(20, 5))
    X = np.concatenate([half, -half])
    found = explained(lambda Z: Z @ [0.1, 0.3, 0.7, 1.1, 1.3] + 1000.1, X, np.zeros(5), interactions=True)
    assert found.feature_names == ("x0", "x1", "x2", "x3", "x4")
    np.testing.assert_array_equal(found.values, 0.0)


def test_features_equal_to_the_background_are_not_asked_about():
    X = np.random.default_rng(8).normal(size=(20, 5))
    X[:, [1, 3]] = 4.0
    found = explained(lambda Z: Z[:, 0] * Z[:, 2] + Z[:, 4], X, 0)
    assert found.cost.model_rows == (3 * 4 // 2 - 1) * 20 + 20 + 2
    assert found.settings["order"][0][3:] == ["x1", "x3"]


def test_a_pure_interaction_is_one_step_with_pairs_and_one_feature_without():
    """Exclusive or: alone neither feature says anything, together they decide."""
    X = np.array([[0.0, 0.0, 5.0], [0.0, 1.0, 6.0], [1.0, 0.0, 7.0], [1.0, 1.0, 8.0]])

    def f(Z):
        return np.not_equal(Z[:, 0], Z[:, 1]).astype(float)

    alone = explained(f, X, 1, checks=True)
    np.testing.assert_allclose(alone.values, [[0.0, 0.5, 0.0]], atol=1e-12)
    pair = explained(f, X, 1, interactions=True, checks=True)
    assert pair.feature_names == ("x2", "x0:x1")
    np.testing.assert_allclose(pair.values, [[0.0, 0.5]], atol=1e-12)
    caveat = next(caveat for caveat in alone.caveats if caveat.code == "order")
    assert caveat.value == pytest.approx(1.0)
    assert "order" not in {caveat.code for caveat in pair.caveats}


def test_a_model_that_is_not_steady_is_noticed():
    X, calls = np.random.default_rng(5).normal(size=(30, 3)), []

    def f(Z):
        calls.append(0)
        return Z.sum(axis=1) + 0.5 * len(calls)

    found = explained(f, X, 0, checks=True)
    assert np.abs(found.residual).max() > 0.1
    assert "not-additive" in {caveat.code for caveat in found.caveats}


# -- rows, outputs, tables ---------------------------------------------------------------------------


def test_each_row_has_its_own_order_and_pairs():
    X = np.random.default_rng(2).normal(size=(60, 3))

    def f(Z):
        return np.where(Z[:, 2] > 0, 5 * Z[:, 0], 0.1 * Z[:, 1]) + 4 * Z[:, 0] * Z[:, 1]

    rows = np.array([[2.0, 0.1, 1.0], [-0.02, 3.0, -1.0], [1.0, 1.5, 0.5]])
    for options in ({}, {"interactions": True}):
        together = explained(f, X, rows, **options)
        assert len(set(map(tuple, together.settings["order"]))) > 1
        for i, row in enumerate(rows):
            alone = explained(f, X, row, **options)
            assert alone.settings["order"] == [together.settings["order"][i]]
            mine = [together.feature_names.index(name) for name in alone.feature_names]
            np.testing.assert_allclose(together.values[i, mine], alone.values[0], atol=1e-12)
            others = np.delete(together.values[i], mine)
            np.testing.assert_array_equal(others, 0.0)


def test_of_several_outputs_the_one_that_changes_most_decides():
    X = np.random.default_rng(3).normal(size=(40, 2))
    row = X.mean(axis=0) + 1.0
    found = explained(lambda Z: np.column_stack([2 * Z[:, 0] + Z[:, 1], -Z[:, 0] - 9 * Z[:, 1]]), X, row)
    assert found.settings["order"] == [["x1", "x0"]]
    np.testing.assert_allclose(found.values[0], [[2.0, -1.0], [1.0, -9.0]], atol=1e-9)


def test_classes_groups_categories_and_weights():
    frame = table()
    model = one_hot(LogisticRegression(max_iter=2000)).fit(frame, three_classes(frame))
    weights = np.where(np.arange(len(frame)) % 4 == 0, 3.0, 1.0)
    groups = {"weather": ["temp", "hum"]}
    found = explained(model, frame, [0, 5], groups=groups, sample_weight=weights, interactions=True)
    again = explained(
        model,
        frame.loc[np.repeat(np.arange(len(frame)), weights.astype(int))].reset_index(drop=True),
        frame.iloc[[0, 5]],
        groups=groups,
        interactions=True,
        background=1000,
    )
    assert found.feature_names == again.feature_names
    np.testing.assert_allclose(found.values, again.values, atol=1e-9)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction, atol=1e-9)
    given = explained(model, frame, 0, groups=groups, order=["weather", "day", "work", "season"])
    weather = given.feature_names.index("weather")
    mixed = frame.assign(temp=frame["temp"][0], hum=frame["hum"][0])
    gain = model.predict_proba(mixed).mean(axis=0) - model.predict_proba(frame).mean(axis=0)
    np.testing.assert_allclose(given.values[0, weather], gain, atol=1e-12)
    assert given.label(weather, 0).startswith("weather: temp = ")


def test_the_background_can_be_one_row():
    f, X = crooked(5, 3)
    found = explained(f, X, 0, background=X[[4]], order=[2, 1, 0])
    assert float(found.base) == pytest.approx(f(X[[4]])[0])
    mixed = np.array([[X[4, 0], X[4, 1], X[0, 2]]])
    assert found.values[0, 2] == pytest.approx(f(mixed)[0] - f(X[[4]])[0])


def test_what_it_costs():
    f, X = crooked(6, 5)
    ends = len(X) + 2
    for options, coalitions in (({}, 5 * 6 // 2 - 1), ({"order": [4, 3, 2, 1, 0]}, 4), ({"order": "all"}, 2**5 - 2)):
        assert explained(f, X, 0, **options).cost.model_rows == coalitions * len(X) + ends
    checked = explained(f, X, 0, checks=True)
    assert checked.cost.model_rows == 14 * len(X) + ends
    assert checked.cost.check_rows == (2**5 - 2 - 14) * len(X)


def test_it_can_be_saved_and_spoken(tmp_path):
    found = explained(*crooked(8, 3), 0, interactions=True, checks=True)
    found.save(tmp_path / "steps.json")
    again = pellucid.load(tmp_path / "steps.json")
    assert again.settings["order"] == found.settings["order"]
    np.testing.assert_array_equal(again.values, found.values)
    assert "contributed" in found.text()
    assert len(found.frame()) == len(found.feature_names)


# -- the caveat --------------------------------------------------------------------------------------


@many
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_the_range_over_orders_is_that_of_all_orders(seed, p):
    f, X = crooked(seed, p)
    found = explained(f, X, 0, checks=True)
    ranges = ranges_over_orders(game_of(f, X[0], X))
    share = max(high - low for low, high in ranges) / np.abs(found.values).max()
    caveat = next((caveat for caveat in found.caveats if caveat.code == "order"), None)
    assert (caveat is None) == (share <= ORDER_SHARE)
    if caveat is not None:
        assert caveat.value == pytest.approx(share)
        low, high = ranges[int(caveat.feature[1:])]
        assert (high - low) / np.abs(found.values).max() == pytest.approx(share)
        assert "shap" in caveat.advice


def test_many_features_are_tried_in_some_orders(golden):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 12))

    def f(Z):
        return Z[:, 0] * Z[:, 1] * 2 + Z[:, 2:].sum(axis=1)

    row = np.ones(12)
    found = explained(f, X, row, checks=True)
    caveat = next(caveat for caveat in found.caveats if caveat.code == "order")
    assert caveat.feature in {"x0", "x1"}
    golden("caveats", "order: some orders of many features", masked(str(caveat).replace(caveat.feature, "x0")))
    # A product of two has two gains only: before and after the other.
    i = int(caveat.feature[1:])
    gains = [2 * (1 - X[:, i].mean()) * 1, 2 * ((1 - X[:, i]) * X[:, 1 - i]).mean()]
    assert caveat.value == pytest.approx(abs(gains[0] - gains[1]) / np.abs(found.values).max())
    again = explained(f, X, row, checks=True)
    assert again.caveats == found.caveats
    silent = explained(lambda Z: Z.sum(axis=1), X, row, checks=True)
    assert "order" not in {caveat.code for caveat in silent.caveats}


# -- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": ["temp", "hum"]}, r"order leaves out season, work and day; name every feature once\."),
        ({"order": ["temp", "temp"]}, "order names 'temp' twice"),
        ({"order": ["tmp"]}, "did you mean 'temp'"),
        ({"order": [9]}, "position 9 is out of range; there are 5 features"),
        ({"order": [True]}, "there is no feature or group True"),
        ({"order": "temp"}, "order='temp' is no order; give a list of all features, 'all' or None"),
        ({"order": 3}, "order=3 is no order"),
        ({"order": "all", "interactions": True}, r"shap\(interactions=True\)"),
        ({"order": [0, 1, 2, 3, 4], "interactions": True}, "a pair as one entry of order="),
    ],
)
def test_refusals_name_the_remedy(options, message):
    frame = table()
    with pytest.raises(pellucid.InputError, match=message):
        explained(lambda Z: outcome(pd.DataFrame(Z)).to_numpy(), frame, 0, **options)


def test_members_of_a_group_do_not_enter_alone():
    with pytest.raises(pellucid.InputError, match=r"no feature or group 'x0'.*'both'"):
        explained(*crooked(1, 3), 0, groups={"both": [0, 1]}, order=["x0", "x1", "x2"])


def test_all_orders_of_many_features_are_refused():
    X = np.random.default_rng(0).normal(size=(10, 9))
    with pytest.raises(pellucid.InputError, match=r"at most 8 features.*9; use shap"):
        explained(lambda Z: Z[:, 0], X, 0, order="all")


def test_inputs_are_not_modified():
    f, X = crooked(9, 3)
    order, kept = [2, ("x0", "x1")], X.copy()
    explained(f, X, X[:2], order=order)
    np.testing.assert_array_equal(X, kept)
    assert order == [2, ("x0", "x1")]
