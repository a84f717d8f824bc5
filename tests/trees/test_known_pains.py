"""What users of other libraries suffer from (wrong or unstable Shapley values of trees), one class per pain.

The numbers in the classes' names are those of the project's list of pains; the marginal game is decided by the
library's own predict over all coalitions, the path game by its trees walked node by node.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from pellucid.trees.convert import convert
from pellucid.trees.engine import attribute
from trees.twins import (
    assert_close,
    assert_is,
    ensemble_games,
    marginal_games,
    ours,
    path_games,
    rational_marginal_values,
    rational_path_values,
)

XGB = {"n_estimators": 5, "max_depth": 4, "n_jobs": 1, "random_state": 0}
LGB = {
    "n_estimators": 5, "num_leaves": 12, "min_child_samples": 5, "n_jobs": 1, "verbose": -1, "random_state": 0
}  # fmt: skip
FEW_ROWS = {"min_data_per_group": 1, "cat_smooth": 1.0, "max_cat_to_onehot": 1}
CAT = {"iterations": 5, "depth": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
HIST = {"max_iter": 5, "max_leaf_nodes": 10, "random_state": 0}


@pytest.fixture(autouse=True)
def one_thread():
    """Histogram boosting on busy cores waits for its own threads most of the time."""
    with threadpool_limits(1):
        yield


def codes_and_numbers(n_categories, n=600, seed=1):
    """A column of codes and two of numbers; a category has its own level and its own slope."""
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.arange(n) % n_categories)
    X = np.column_stack([code, rng.normal(size=(n, 2))])
    level = rng.normal(size=n_categories)
    return X, level[code] * (1 + X[:, 1]) + X[:, 2]


def framed(X, n_categories):
    frame = pd.DataFrame(X, columns=["code", "a", "b"])
    frame["code"] = pd.Categorical(X[:, 0].astype(int), categories=range(n_categories))
    return frame


def categorical_splits(model):
    return int(np.sum(convert(model).ensemble.nodes.set_words > 0))


def added_up(got):
    return got.base + got.values.sum(axis=1)


def assert_everything(model, predict, table, background, width=1e-9, float_width=1e-12):
    """Values and interactions of both games against enumeration, and their sums against the model's own scores."""
    known = convert(model)
    X, B = known.encode(table), known.encode(background)
    own = np.reshape(predict(table), (len(X), -1)).astype(float)
    path = ours(model, table, interactions=True)
    assert_is(path, path_games(known.ensemble, X), width)
    assert_close(added_up(path), own, float_width)
    marginal = ours(model, table, "marginal", background, interactions=True)
    assert_is(marginal, ensemble_games(known.ensemble, X, B), width)
    assert_close(added_up(marginal), own, float_width)
    absent = np.reshape(predict(background), (len(B), -1)).astype(float)
    assert_close(marginal.base, absent.mean(axis=0), float_width, scale=np.abs(absent).max())
    return path, marginal


class TestA1NativeCategoricalSplits:
    @pytest.mark.parametrize("n_categories", [5, 40, 100])
    @pytest.mark.parametrize("one_hot", [False, True])
    def test_xgboost(self, n_categories, one_hot):
        xgb = pytest.importorskip("xgboost")
        X, y = codes_and_numbers(n_categories)
        frame = framed(X, n_categories)
        kinds = {"enable_categorical": True, "max_cat_to_onehot": 1000 if one_hot else 1}
        model = xgb.XGBRegressor(**XGB, **kinds).fit(frame, y)
        assert categorical_splits(model) > 3
        assert_everything(model, model.predict, frame[:4], frame[100:106], float_width=1e-6)
        own = marginal_games(
            lambda mixed: model.predict(framed(mixed, n_categories)), X[:3], X[100:105]
        )  # without a look at the trees
        assert_is(ours(model, frame[:3], "marginal", frame[100:105], interactions=True), own, width=1e-6)

    @pytest.mark.parametrize("n_categories", [5, 33, 40, 65, 100, 200])
    def test_lightgbm(self, n_categories):
        lgb = pytest.importorskip("lightgbm")
        X, y = codes_and_numbers(n_categories)
        frame = framed(X, n_categories)
        model = lgb.LGBMRegressor(**LGB, **FEW_ROWS).fit(frame, y)
        assert categorical_splits(model) > 3
        assert_everything(model, model.predict, frame[:4], frame[100:106])
        own = marginal_games(lambda mixed: model.predict(framed(mixed, n_categories)), X[:3], X[100:105])
        assert_is(ours(model, frame[:3], "marginal", frame[100:105], interactions=True), own)

    @pytest.mark.parametrize("n_categories", [5, 40, 70])
    def test_hist_gradient_boosting(self, n_categories):
        X, y = codes_and_numbers(n_categories, n=2000)
        model = HistGradientBoostingRegressor(categorical_features=[0], **HIST).fit(X, y)
        assert categorical_splits(model) > 3
        X = np.concatenate([X[:4], [[n_categories + 20, 0.0, 0.0], [np.nan, 0.0, 0.0]]])  # unseen, missing
        assert_everything(model, model.predict, X, X[::-1])
        own = marginal_games(model.predict, X, X[::-1])
        assert_is(ours(model, X, "marginal", X[::-1], interactions=True), own)

    def test_hist_gradient_boosting_of_three_classes(self):
        X, y = codes_and_numbers(12)
        model = HistGradientBoostingClassifier(categorical_features=[0], **HIST)
        model.fit(X, np.digitize(y, [-0.5, 0.5]))
        assert categorical_splits(model) > 3
        assert_everything(model, model.decision_function, X[:4], X[100:106])

    def test_catboost(self):
        catboost = pytest.importorskip("catboost")
        X, y = codes_and_numbers(6)
        table = pd.DataFrame(X, columns=["code", "a", "b"]).astype({"code": int})
        model = catboost.CatBoostRegressor(cat_features=["code"], one_hot_max_size=10, **CAT).fit(table, y)
        assert categorical_splits(model) > 3
        assert_everything(model, model.predict, table[:4], table[100:106])


def huge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, 2e10 + 1e9 * (X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]))


class TestA2AdditivityForHugeTargets:
    """Targets of 2e10, as in the report of 2.0836667e10 against 2.0836690e10."""

    @pytest.mark.parametrize("game", ["path", "marginal"])
    @pytest.mark.parametrize(
        "model",
        [
            DecisionTreeRegressor(random_state=0),
            RandomForestRegressor(30, random_state=0, n_jobs=1),
            GradientBoostingRegressor(n_estimators=60, random_state=0),
            HistGradientBoostingRegressor(max_iter=60, random_state=0),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_scikit_learn_to_the_last_digits_of_a_double(self, model, game):
        X, y = huge()
        model.fit(X, y)
        got = ours(model, X, game, X[:60] if game == "marginal" else None)
        np.testing.assert_allclose(added_up(got)[:, 0], model.predict(X), rtol=1e-13)
        assert np.abs(got.values).max() > 1e8

    @pytest.mark.parametrize("game", ["path", "marginal"])
    def test_lightgbm_to_the_last_digits_of_a_double(self, game):
        lgb = pytest.importorskip("lightgbm")
        X, y = huge()
        model = lgb.LGBMRegressor(**{**LGB, "n_estimators": 60}).fit(X, y)
        got = ours(model, X, game, X[:60] if game == "marginal" else None)
        np.testing.assert_allclose(added_up(got)[:, 0], model.predict(X), rtol=1e-13)

    @pytest.mark.parametrize("game", ["path", "marginal"])
    def test_xgboost_leaves_only_what_its_sums_in_single_precision_lose(self, game):
        xgb = pytest.importorskip("xgboost")
        X, y = huge()
        model = xgb.XGBRegressor(**{**XGB, "n_estimators": 60}).fit(X, y)
        total = added_up(ours(model, X, game, X[:60] if game == "marginal" else None))[:, 0]
        own = model.predict(X)
        assert own.dtype == np.float32
        known = convert(model)
        np.testing.assert_allclose(total, known.ensemble.predict(known.encode(X))[:, 0], rtol=1e-13)
        # one rounding for each tree that is added, each of half a unit in the last of 24 bits
        assert np.abs(total - own).max() > 1e-9 * 2e10
        np.testing.assert_allclose(total, own, rtol=61 * 2.0**-24)
        # the same leaves added up in single precision, tree after tree, are XGBoost's own answer
        leaf = known.ensemble.leaves(known.encode(X))
        single = np.full(len(X), known.ensemble.base[0], dtype=np.float32)
        for values in known.ensemble.nodes.value[leaf, 0].T.astype(np.float32):
            single += values
        np.testing.assert_allclose(single, own, rtol=2.0**-22)


def one_hot_chain(depth, seed=0):
    """A tree on one-hot codes: every split cuts one category off, so that there is a path through all of them."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(depth + 1), 3)
    X = np.eye(depth + 1)[code]
    model = DecisionTreeRegressor(random_state=seed).fit(X, rng.normal(size=depth + 1)[code])
    assert model.get_depth() == depth
    return model, X


def chain_of_three(depth, seed=0):
    """A tree as deep on three columns only; weights that double make the heaviest row the next to be cut off."""
    rng = np.random.default_rng(seed)
    i = np.arange(depth + 1)
    X = np.zeros((depth + 1, 3))
    X[i, i % 3] = i + 1
    y = i % 2 + 0.1 * rng.random(depth + 1)
    model = DecisionTreeRegressor(random_state=seed).fit(X, y, sample_weight=2.0**i)
    assert model.get_depth() == depth
    return model, X


DEPTHS = [5, 20, 70, 120, 200]


class TestA3DeepAndLargeTrees:
    @pytest.mark.parametrize("depth", DEPTHS)
    @pytest.mark.parametrize("game", ["path", "marginal"])
    def test_one_player_per_category_is_additive(self, depth, game):
        model, X = one_hot_chain(depth)
        rows, background = X[:: max(1, len(X) // 12)], X[1::5] if game == "marginal" else None
        got = ours(model, rows, game, background, interactions=depth < 100)
        assert_close(added_up(got)[:, 0], model.predict(rows), 1e-12)
        assert np.abs(got.values).max() < 10  # not enormous numbers that cancel
        if got.interactions is not None:
            assert_close(got.interactions.sum(axis=2), got.values, 1e-12)

    @pytest.mark.parametrize("depth", DEPTHS)
    @pytest.mark.parametrize("game", ["path", "marginal"])
    def test_categories_as_four_players(self, depth, game):
        model, X = one_hot_chain(depth)
        ensemble = convert(model).ensemble
        players = np.arange(depth + 1) % 4
        rows, background = X[[0, len(X) // 2, -1]], X[1 :: depth // 2]
        options = {"players": players, "interactions": True}
        if game == "path":
            assert_is(attribute(ensemble, rows, game="path", **options), path_games(ensemble, rows, players))
        else:
            got = attribute(ensemble, rows, game="marginal", background=background, **options)
            assert_is(got, marginal_games(model.predict, rows, background, players=players))

    @pytest.mark.parametrize("depth", DEPTHS)
    def test_three_columns_that_come_again_and_again(self, depth):
        model, X = chain_of_three(depth)
        ensemble = convert(model).ensemble
        rows, background = X[:: max(1, depth // 4)], X[1 :: max(1, depth // 6)]
        path = ours(model, rows, interactions=True)
        assert_is(path, path_games(ensemble, rows))
        assert_close(added_up(path)[:, 0], model.predict(rows))
        marginal = ours(model, rows, "marginal", background, interactions=True)
        assert_is(marginal, marginal_games(model.predict, rows, background))
        assert_close(added_up(marginal)[:, 0], model.predict(rows))

    @pytest.mark.parametrize("depth", [20, 70])
    def test_each_category_in_rational_numbers(self, depth):
        model, X = one_hot_chain(depth)
        ensemble = convert(model).ensemble
        deepest = np.argmax(model.decision_path(X).sum(axis=1))
        rows, background = X[[deepest, 0]], X[1 :: depth // 4]
        exact = np.array([rational_path_values(ensemble, row) for row in rows])
        assert_close(ours(model, rows).values[..., 0], exact, 1e-12)
        exact = np.array([rational_marginal_values(ensemble, row, background) for row in rows])
        assert_close(ours(model, rows, "marginal", background).values[..., 0], exact, 1e-12)

    @pytest.mark.parametrize("game", ["path", "marginal"])
    def test_more_nodes_than_sixteen_bits_count(self, game):
        rng = np.random.default_rng(0)
        X = rng.random((18_000, 3))
        y = rng.normal(size=len(X))
        model = DecisionTreeRegressor(random_state=0).fit(X, y)
        ensemble = convert(model).ensemble
        assert len(ensemble.nodes.feature) > 33_000
        background = X[-8:] if game == "marginal" else None
        got = ours(model, X[:200], game, background)
        np.testing.assert_allclose(added_up(got)[:, 0], model.predict(X[:200]), rtol=0, atol=1e-9)
        few = X[[0, 7]]  # and their last leaves lie beyond the count
        got = ours(model, few, game, background, interactions=True)
        twins = path_games(ensemble, few) if background is None else marginal_games(model.predict, few, background)
        assert_is(got, twins)

    def test_a_forest_of_more_nodes_than_sixteen_bits_count(self):
        rng = np.random.default_rng(0)
        X = rng.random((3000, 4))
        model = RandomForestRegressor(10, random_state=0, n_jobs=1).fit(X, X[:, 0] + rng.normal(size=3000))
        assert len(convert(model).ensemble.nodes.feature) > 33_000
        for game, background in (("path", None), ("marginal", X[-20:])):
            got = ours(model, X[:100], game, background)
            np.testing.assert_allclose(added_up(got)[:, 0], model.predict(X[:100]), rtol=0, atol=1e-9)


class TestA4InteractionsOfTheMarginalGameAreNotZeros:
    def test_a_product_of_two_columns(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3))
        model = RandomForestRegressor(5, max_depth=5, random_state=0, n_jobs=1).fit(X, X[:, 0] * X[:, 1])
        rows, background = X[:5], X[50:62]
        got = ours(model, rows, "marginal", background, interactions=True)
        assert_is(got, marginal_games(model.predict, rows, background))
        pair = np.abs(got.interactions[:, 0, 1, 0])
        assert pair.min() > 1e-3
        assert pair.max() > 0.1

    def test_leaves_with_twenty_players(self):
        model, X = one_hot_chain(20)
        ensemble = convert(model).ensemble
        rows, background = X[[0, 30, -1]], X[1::9]
        square = ours(model, rows, "marginal", background, interactions=True).interactions[..., 0]
        for row, got in zip(rows, square, strict=True):
            # the index of a pair: what one is worth beside the other, less what it is worth without it
            i, j = np.unravel_index(np.argmax(np.abs(got - np.diag(np.diag(got)))), got.shape)
            there = background.copy()
            there[:, j] = row[j]
            with_j = rational_marginal_values(ensemble, row, there)[i]
            total = 0.0
            for one in background:
                without = row.copy()
                without[j] = one[j]
                total += rational_marginal_values(ensemble, without, one[None])[i]
            np.testing.assert_allclose(2 * got[i, j], with_j - total / len(background), atol=1e-9)
            assert abs(got[i, j]) > 1e-3


class TestA7WeightsOfTheBackground:
    WEIGHTS = np.array([3, 1, 0, 2, 1, 4, 0, 1, 2, 1])

    def scenes(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 4))
        forest = RandomForestRegressor(6, max_depth=5, random_state=0, n_jobs=1)
        yield forest.fit(X, X[:, 0] * X[:, 1] + X[:, 2]), X[:6], X[50:60]
        deep, hot = one_hot_chain(20)  # the other algorithm
        yield deep, hot[::10], hot[1::6][:10]

    def test_a_whole_weight_is_that_many_rows(self):
        for model, rows, background in self.scenes():
            weighted = ours(model, rows, "marginal", background, weights=self.WEIGHTS.astype(float), interactions=True)
            repeated = ours(model, rows, "marginal", np.repeat(background, self.WEIGHTS, axis=0), interactions=True)
            plain = ours(model, rows, "marginal", background)
            assert_close(weighted.values, repeated.values, 1e-12)
            assert_close(weighted.interactions, repeated.interactions, 1e-12)
            assert_close(weighted.base, repeated.base, 1e-12)
            assert np.abs(weighted.values - plain.values).max() > 1e-3  # they matter

    def test_weights_are_relative(self):
        for model, rows, background in self.scenes():
            once = ours(model, rows, "marginal", background, weights=self.WEIGHTS.astype(float))
            scaled = ours(model, rows, "marginal", background, weights=self.WEIGHTS * 0.37)
            assert_close(scaled.values, once.values, 1e-12)
            assert_close(scaled.base, once.base, 1e-12)

    def test_any_weights_against_enumeration(self):
        weights = np.random.default_rng(1).random(10)
        model, rows, background = next(self.scenes())
        got = ours(model, rows, "marginal", background, weights=weights, interactions=True)
        assert_is(got, marginal_games(model.predict, rows, background, weights))


def full_of_holes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])
    gone = rng.random(X.shape) < 0.25
    y += gone[:, 0] - 0.5 * gone[:, 2]  # that a value is missing says something
    X[gone] = np.nan
    rows = X[[0, 1, 2, 3, 4]].copy()
    rows[0] = np.nan
    background = X[50:58].copy()
    background[1] = np.nan
    assert np.isnan(rows).any(axis=0).all()
    assert np.isnan(background).any(axis=0).all()
    return X, y, rows, background


class TestA8MissingValues:
    """In rows, in the background, in both and in training; a whole row of nothing too."""

    def check(self, model, predict, float_width=1e-12):
        _, _, rows, background = full_of_holes()
        assert_everything(model, predict, rows, background, float_width=float_width)
        got = ours(model, rows, "marginal", background, interactions=True)
        assert_is(got, marginal_games(predict, rows, background), max(1e-9, float_width))
        full = np.nan_to_num(rows)
        assert np.abs(got.values - ours(model, full, "marginal", background).values).max() > 0.01

    def test_xgboost(self):
        xgb = pytest.importorskip("xgboost")
        model = xgb.XGBRegressor(**XGB).fit(*full_of_holes()[:2])
        self.check(model, model.predict, 1e-6)

    def test_lightgbm(self):
        lgb = pytest.importorskip("lightgbm")
        model = lgb.LGBMRegressor(**LGB).fit(*full_of_holes()[:2])
        self.check(model, model.predict)

    def test_catboost(self):
        catboost = pytest.importorskip("catboost")
        model = catboost.CatBoostRegressor(**CAT).fit(*full_of_holes()[:2])
        self.check(model, model.predict)

    @pytest.mark.parametrize(
        "model",
        [
            DecisionTreeRegressor(max_depth=5, random_state=0),
            RandomForestRegressor(5, max_depth=5, random_state=0, n_jobs=1),
            HistGradientBoostingRegressor(**HIST),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_scikit_learn(self, model):
        model.fit(*full_of_holes()[:2])
        self.check(model, model.predict)
