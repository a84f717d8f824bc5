"""Interaction indices: the definitions, what characterises them, and the same numbers from trees, models and games."""

from itertools import combinations
from math import comb
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import pellucid
from golden_files import masked
from pellucid import Explainer, shapley
from pellucid.methods.attribution.interaction_indices import index_weights
from reference.indices import (
    banzhaf,
    banzhaf_interaction,
    faithful_banzhaf,
    faithful_shapley,
    interaction_matrix,
    shapley_interaction,
    shapley_taylor,
)
from reference.indices import shapley as shapley_twin

INDICES = ("shapley", "taylor", "banzhaf", "faithful")
EFFICIENT = ("shapley", "taylor", "faithful")
TWINS = {"taylor": shapley_taylor, "faithful": faithful_shapley}
many = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def by_table(v):
    p = (len(v) - 1).bit_length()
    return lambda coalitions: v[coalitions.astype(int) @ (1 << np.arange(p))]


def game(seed, p, outputs=1):
    return np.random.default_rng(seed).normal(size=(2**p, outputs))


def found(v, index, order=2):
    return shapley(by_table(v), (len(v) - 1).bit_length(), order=order, index=index)


def unanimity(p, members):
    """Worth 1 where all members are there."""
    mask = sum(1 << i for i in members)
    return np.array([float(S & mask == mask) for S in range(2**p)])


# -- the definitions ---------------------------------------------------------------------------------


@many
@given(seeds, st.integers(1, 6), st.integers(1, 2))
def test_shapley_and_banzhaf_are_their_defining_sums(seed, p, outputs):
    v = game(seed, p, outputs)
    for index, values, sets in (
        ("shapley", shapley_twin, shapley_interaction),
        ("banzhaf", banzhaf, banzhaf_interaction),
    ):
        result = found(v, index, order=3)
        np.testing.assert_allclose(result.stacked()[0], values(v), atol=1e-10)
        np.testing.assert_allclose(result.stacked("interaction_values")[0].sum(axis=1), values(v), atol=1e-10)
        for (i, j), worth in sets(v, 2).items():
            for place in ((i, j), (j, i)):
                np.testing.assert_allclose(2 * result.stacked("interaction_values")[0][place], worth, atol=1e-10)
        for (i, j, k), worth in sets(v, 3).items():
            for place in ((i, j, k), (k, i, j), (j, i, k)):
                np.testing.assert_allclose(result.interactions.triples[0][place], np.squeeze(worth), atol=1e-10)
    np.testing.assert_allclose(found(v, "shapley").stacked("interaction_values")[0], interaction_matrix(v), atol=1e-10)


@many
@given(seeds, st.integers(2, 6), st.integers(2, 3), st.sampled_from(["taylor", "faithful"]))
def test_taylor_and_faithful_are_their_definitions_at_every_order(seed, p, order, index):
    if p < order:
        return
    v = game(seed, p)
    result = found(v, index, order)
    matrix = result.interaction_values[0]
    for members, (worth,) in TWINS[index](v, order).items():
        if len(members) == 1:
            assert matrix[members[0], members[0]] == pytest.approx(worth, abs=1e-8)
        elif len(members) == 2:
            assert 2 * matrix[members] == pytest.approx(worth, abs=1e-8)
        elif len(members) == 3:
            assert result.interactions.triples[0][members] == pytest.approx(worth, abs=1e-8)
    np.testing.assert_allclose(result.values[0], shapley_twin(v)[:, 0], atol=1e-10)


@many
@given(seeds, st.integers(2, 6))
def test_the_banzhaf_diagonal_belongs_to_the_nearest_polynomial(seed, p):
    """Hammer and Holzman 1992: least squares over all coalitions, with terms of one and two players."""
    v = game(seed, p)
    nearest = faithful_banzhaf(v, 2)
    matrix = found(v, "banzhaf").interaction_values[0]
    for i, j in combinations(range(p), 2):
        assert 2 * matrix[i, j] == pytest.approx(nearest[i, j][0], abs=1e-9)
    np.testing.assert_allclose(np.diag(matrix), [nearest[i,][0] for i in range(p)], atol=1e-9)


def faithful_closed_form(t, k, r):
    """Tsai et al. 2023, theorem 19, for a game in which r players together are worth 1, more than k of them."""
    return (-1) ** (k - t) * t / (k + t) * comb(k, t) * comb(r - 1, k) / comb(r + k - 1, k + t)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("r", [1, 2, 3, 4, 5, 6])
def test_players_who_are_worth_something_only_all_together(r, order):
    """Every index in closed form; the seventh player, and all sets that are not inside, have nothing."""
    v = unanimity(7, range(r))
    for index in INDICES:
        result = found(v, index, order)
        matrix = result.interaction_values[0]
        pair, triple = 2 * matrix[0, 1], result.interactions.triples[0, 0, 1, 2] if order == 3 else 0.0
        if index == "shapley":
            expected = {2: 1 / (r - 1) if r > 1 else 0.0, 3: 1 / (r - 2) if r > 2 else 0.0}
        elif index == "banzhaf":
            expected = {2: 0.5 ** (r - 2) if r > 1 else 0.0, 3: 0.5 ** (r - 3) if r > 2 else 0.0}
        elif index == "taylor":
            expected = {
                2: 1 / comb(r, 2) if order == 2 and r > 1 else float(r == 2),
                3: 1 / comb(r, 3) if r > 2 else 0.0,
            }
            assert matrix[0, 0] == pytest.approx(float(r == 1), abs=1e-12)
        else:
            expected = {
                t: faithful_closed_form(t, order, r) if r > order else float(r == t) for t in (1, 2, 3) if t <= order
            }
            assert matrix[0, 0] == pytest.approx(expected[1], abs=1e-12)
        assert pair == pytest.approx(expected[2], abs=1e-12)
        assert order == 2 or triple == pytest.approx(expected[3], abs=1e-12)
        np.testing.assert_allclose(matrix[6], 0, atol=1e-12)


def test_a_majority_of_three():
    """Two of three win: by Shapley-Taylor alone do pairs interact, because it has no other place for the triple."""
    votes = {index: shapley(lambda S: S.sum(axis=1) >= 2, 3, order=2, index=index) for index in INDICES}
    pairs = {index: 2 * result.interaction_values[0, 0, 1] for index, result in votes.items()}
    assert pairs == pytest.approx({"shapley": 0.0, "banzhaf": 0.0, "taylor": 1 / 3, "faithful": 0.0}, abs=1e-12)
    np.testing.assert_allclose(votes["banzhaf"].values, 1 / 2)
    np.testing.assert_allclose(votes["taylor"].interaction_values[0].diagonal(), 0, atol=1e-12)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_weights_of_the_derivatives_sum_to_one(index, order):
    """So that a set whose derivative is the same everywhere has it as its index."""
    for others in range(9):
        for size in range(1, order + 1):
            weights = index_weights(index, size, order, others)
            counts = [comb(others, s) for s in range(others + 1)]
            assert weights @ counts == pytest.approx(1)


# -- what characterises them -------------------------------------------------------------------------


@many
@given(seeds, st.integers(3, 6), st.sampled_from(EFFICIENT))
def test_efficiency(seed, p, index):
    v = game(seed, p)[:, 0]
    two, three = found(v, index), found(v, index, 3)
    np.testing.assert_allclose(two.interaction_values.sum(), v[-1] - v[0], atol=1e-10)
    np.testing.assert_allclose(two.interaction_values.sum(axis=2), two.values, atol=1e-10)
    if index != "shapley":
        third = three.interactions.triples.sum(axis=(2, 3)) / 6
        np.testing.assert_allclose(three.interaction_values.sum(axis=2) + third, three.values, atol=1e-10)


@many
@given(seeds, st.integers(3, 6), st.sampled_from(INDICES))
def test_a_dummy_has_its_own_worth_and_no_interaction(seed, p, index):
    v = game(seed, p - 1)[:, 0]
    with_dummy = np.concatenate([v, v + 2.5])  # the last player adds 2.5 to everybody
    without, result = found(v, index, 3), found(with_dummy, index, 3)
    np.testing.assert_allclose(result.interaction_values[0, -1, :-1], 0, atol=1e-9)
    assert result.interaction_values[0, -1, -1] == pytest.approx(2.5)
    assert result.values[0, -1] == pytest.approx(2.5)
    np.testing.assert_allclose(result.interactions.triples[0, -1], 0, atol=1e-9)
    np.testing.assert_allclose(result.interaction_values[:, :-1, :-1], without.interaction_values, atol=1e-9)
    np.testing.assert_allclose(result.interactions.triples[:, :-1, :-1, :-1], without.interactions.triples, atol=1e-9)


@many
@given(seeds, st.permutations(range(5)), st.sampled_from(INDICES))
def test_names_do_not_matter(seed, order, index):
    v = game(seed, 5)[:, 0]
    plain = found(v, index, 3)
    renamed = shapley(lambda S: by_table(v)(S[:, np.argsort(order)]), 5, order=3, index=index)
    np.testing.assert_allclose(renamed.values, plain.values[:, order], atol=1e-10)
    np.testing.assert_allclose(renamed.interaction_values, plain.interaction_values[:, order][:, :, order], atol=1e-10)
    np.testing.assert_allclose(
        renamed.interactions.triples, plain.interactions.triples[:, order][:, :, order][:, :, :, order], atol=1e-10
    )


@many
@given(seeds, st.floats(-3, 3), st.sampled_from(INDICES))
def test_linearity(seed, a, index):
    v, w = game(seed, 4, 2).T
    whole, first, second = (found(each, index, 3) for each in (v + a * w, v, w))
    for name in ("values", "interaction_values", "interactions.triples"):
        one, other, both = (attrgetter(name)(each) for each in (first, second, whole))
        np.testing.assert_allclose(both, one + a * other, atol=1e-9)


@many
@given(seeds, st.integers(2, 6))
def test_two_banzhaf_players_who_merge_keep_what_they_have(seed, p):
    """Lehrer 1988: in the game where the last two act as one, its value is the sum of theirs."""
    v = game(seed, p)[:, 0]
    together = v[: 2 ** (p - 2)].tolist() + v[3 * 2 ** (p - 2) :].tolist()
    apart, merged = found(v, "banzhaf", 1), found(np.array(together), "banzhaf", 1)
    assert merged.values[0, -1] == pytest.approx(apart.values[0, -2:].sum())
    assert apart.interaction_values is None


# -- the same numbers from trees, models and games ---------------------------------------------------


def scene(p=5, rows=80):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, p)).round(1)
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + (X[:, 3] > 0) * X[:, 0]


def as_game(predict, row, background):
    """The marginal game of one row, as a function of coalitions."""

    def value(coalitions):
        return np.array([predict(np.where(S, row, background)).mean(axis=0) for S in coalitions])

    return value


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("order", [{}, {"groups": {"both": ["a", "c"]}}])
def test_trees_equal_enumeration_and_the_game(index, order):
    X, y = scene()
    model = GradientBoostingRegressor(n_estimators=20, max_depth=4, random_state=0).fit(X, y)
    ex = Explainer(model, X, background=X[:12], feature_names=list("abcde"), **order)
    read, asked = ex.shap([0, 4, 9], interactions=index), ex.shap([0, 4, 9], interactions=index, method="exact")
    assert (read.method, asked.method) == ("tree", "exact")
    assert read.interactions.index == asked.interactions.index == index
    np.testing.assert_allclose(read.values, asked.values, atol=1e-9)
    np.testing.assert_allclose(read.interaction_values, asked.interaction_values, atol=1e-9)
    if not order:
        one = shapley(as_game(model.predict, X[4], X[:12]), 5, order=2, index=index)
        np.testing.assert_allclose(read.interaction_values[1], one.interaction_values[0], atol=1e-9)


@pytest.mark.parametrize("index", EFFICIENT)
def test_the_path_game_and_several_classes(index):
    X, y = scene()
    model = RandomForestClassifier(n_estimators=6, max_depth=4, random_state=0).fit(X, np.digitize(y, [-0.5, 0.5]))
    ex = Explainer(model, X, background=8)
    for game_name in ("path", "marginal"):
        result = ex.shap([0, 1], interactions=index, game=game_name)
        assert result.interaction_values.shape == (2, 5, 5, 3)
        np.testing.assert_allclose(result.interaction_values.sum(axis=2), result.values, atol=1e-9)


@pytest.mark.parametrize("index", INDICES)
def test_features_that_equal_the_background_take_no_part(index):
    """They are left out of the coalitions that are asked: as if they had been idle players of the whole game."""
    X, y = scene()
    model = KNeighborsRegressor(3).fit(X, y)
    row = np.where([True, True, False, True, False], X[0], X[7])
    result = Explainer(model, X, background=X[7:8]).shap(row, interactions=index)
    whole = shapley(as_game(model.predict, row, X[7:8]), 5, order=2, index=index)
    np.testing.assert_allclose(result.interaction_values, whole.interaction_values, atol=1e-10)
    np.testing.assert_array_equal(result.interaction_values[0, 2], 0)


@pytest.mark.parametrize("index", INDICES)
def test_a_sum_has_no_interactions_by_any_index(index):
    X, _ = scene()
    model = LinearRegression().fit(X, X @ [1.0, -2, 0.5, 0, 3])
    ex = Explainer(model, X)
    result = ex.shap([0, 1], interactions=index)
    assert result.method == "linear"
    np.testing.assert_allclose(result.interaction_values, result.values[:, :, None] * np.eye(5), atol=1e-12)
    given_known = ex.shap([0, 1], interactions=index, game="conditional")
    sums = given_known.interaction_values.sum(axis=2)
    assert np.allclose(sums, given_known.values) == (index != "banzhaf")


def test_true_is_the_shapley_index():
    X, y = scene()
    ex = Explainer(KNeighborsRegressor(3).fit(X, y), X, background=5)
    plain, named = ex.shap(0, interactions=True), ex.shap(0, interactions="shapley")
    np.testing.assert_array_equal(plain.interaction_values, named.interaction_values)
    assert plain.interactions.index == named.interactions.index == "shapley"
    assert ex.shap(0).interactions is None
    assert ex.shap(0, interactions=np.bool_(False)).interaction_values is None


# -- refusals ----------------------------------------------------------------------------------------


def many_features():
    X = np.random.default_rng(0).normal(size=(60, 16))
    return Explainer(lambda X: X[:, 0] * X[:, 1], X, background=20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interactions": "taylr"}, "did you mean 'taylor'"),
        ({"interactions": 2}, "interactions=2 is not known"),
        ({"interactions": None}, "interactions=None is not known"),
        (
            {"interactions": "taylor"},
            r"index 'taylor' is .* 16 players take .* groups of features .* use the index 'shapley'",
        ),
        ({"interactions": "faithful", "method": "kernel"}, "worked out from all coalitions"),
        ({"interactions": "banzhaf", "method": "permutation"}, "use method='exact' with interactions='banzhaf'"),
        ({"interactions": "taylor", "sparse": 2}, "not by interactions='taylor'"),
    ],
)
def test_refusals_name_the_remedy(options, message):
    with pytest.raises(pellucid.InputError, match=message):
        many_features().shap(0, **options)


def test_games_of_many_players_are_refused_unless_a_budget_covers_them():
    def value(S):
        return S[:, 0] * S[:, 1] * 1.0

    with pytest.raises(pellucid.InputError, match=r"triples .*15 players .*budget .*order=2"):
        shapley(value, 15, order=3)
    with pytest.raises(pellucid.InputError, match=r"index='shaply' .*'shapley'"):
        shapley(value, 3, index="shaply")
    assert shapley(value, 15, order=2).method == "kernel"
    assert shapley(value, 15, index="taylor").method == "kernel"  # of players it is the Shapley value
    covered = shapley(value, 15, order=2, index="taylor", budget=2**15)
    assert covered.method == "exact"
    assert covered.interaction_values[0, 0, 1] == pytest.approx(0.5)


# -- the result --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "name"), [("taylor", "Shapley-Taylor"), ("faithful", "faithful Shapley"), ("banzhaf", "Banzhaf")]
)
def test_results_and_charts_name_their_index(index, name, golden):
    X, y = scene()
    result = Explainer(KNeighborsRegressor(3).fit(X, y), X, background=5).shap(0, interactions=index)
    said = next(line for line in result.text().splitlines() if name in line)
    golden("attribution", f"interactions by the {name} index", masked(said))
    assert f"{name} interaction" in str(result.plot(kind="interactions").spec).replace("', '", " ")
    assert result.settings["interactions"] == index
    shapley_index = Explainer(KNeighborsRegressor(3).fit(X, y), X, background=5).shap(0, interactions=True)
    assert "index" not in shapley_index.text()


def test_banzhaf_values_say_that_they_need_not_add_up(golden):
    result = shapley(lambda S: S[:, 0] & S[:, 1] & S[:, 2], 3, index="banzhaf")
    golden("attribution", "Banzhaf values of a game", masked(result.text()))
    assert "Banzhaf" not in shapley(lambda S: S[:, 0] & S[:, 1], 2, index="faithful").text()


def test_views_and_files_keep_triples(tmp_path):
    v = game(0, 4, 2)
    result = found(v, "faithful", 3)
    assert result.interactions.triples.shape == (1, 4, 4, 4, 2)
    second = result.for_output("worth 1")
    np.testing.assert_array_equal(second.interactions.triples, result.interactions.triples[..., 1])
    np.testing.assert_array_equal(second.row(0).interactions.triples, second.interactions.triples)
    np.testing.assert_array_equal(second.contrast(0).interactions.triples, 0)
    assert second.sparse(2).interactions.triples is None
    result.save(tmp_path / "game.json")
    again = pellucid.load(tmp_path / "game.json")
    assert again.interactions.index == "faithful"
    np.testing.assert_array_equal(again.interactions.triples, result.interactions.triples)


def test_words_and_segments_have_the_same_indices():
    def sour(texts):
        return np.array([2.0 * ("not" in text and "good" in text) for text in texts])

    result = pellucid.TextExplainer(sour).shap("this is not good", interactions="taylor")
    assert result.interactions.index == "taylor"
    np.testing.assert_allclose(result.interaction_values[0, 2:, 2:], [[0, 1], [1, 0]], atol=1e-12)
    np.testing.assert_allclose(result.interaction_values.sum(axis=2), result.values, atol=1e-12)
    assert "Shapley-Taylor" in result.text()
