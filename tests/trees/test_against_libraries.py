"""The engine's Shapley values beside those of XGBoost, LightGBM, CatBoost and shap.

Each comparison is to the width of the other library's numbers. Where another library is wrong, enumeration of all
coalitions decides: the test says so, shows that the engine agrees with it, and that the other library (up to the
version at hand) does not.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from pellucid.trees.convert import convert
from trees.twins import (
    as_values,
    assert_close,
    assert_is,
    ensemble_games,
    marginal_games,
    ours,
    path_games,
    quiet,
    rational_path_values,
)
from versions import needs

SINGLE = 2e-6  # sums of numbers with 24 bits
DOUBLE = 1e-9
N, P = 300, 5
XGB = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1, "random_state": 0}
LGB = {
    "n_estimators": 12, "num_leaves": 12, "min_child_samples": 5, "n_jobs": 1, "verbose": -1, "random_state": 0
}  # fmt: skip
CAT = {
    "iterations": 12, "depth": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False, "random_seed": 0
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    """Histogram boosting on busy cores waits for its own threads most of the time."""
    with threadpool_limits(1):
        yield


def rows(n=N, gaps=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    X[rng.random(X.shape) < gaps] = np.nan
    return X


def target(X):
    Z = np.nan_to_num(X)
    return np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.5 * Z[:, 3] - 0.4 * np.isnan(X[:, 0])


def classes(X):
    return np.digitize(target(X), [-0.5, 0.5])


def with_categories(n_categories, n=N, seed=1):
    """Numbers with gaps, a column of many categories (some missing) and one of four names."""
    rng = np.random.default_rng(seed)
    X = rows(n, gaps=0.1, seed=seed)
    code = rng.permutation(np.arange(n) % n_categories)
    y = target(X) + rng.normal(size=n_categories)[code] * (2 + np.nan_to_num(X[:, 0]))
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["many"] = pd.Categorical(code, categories=range(n_categories))
    frame["four"] = pd.Categorical([("x", "y", "z", "w")[i] for i in rng.integers(0, 4, n)])
    frame.loc[:20, "many"] = np.nan
    return frame, y


def still(library, version):
    """Whether the installed version is one that is known to be wrong: nothing is said about later ones."""
    numbers = [tuple(int(part) for part in text.split(".")[:2]) for text in (library.__version__, version)]
    return numbers[0] <= numbers[1]


def assert_differ(theirs, twin, by):
    assert np.abs(np.asarray(theirs) - np.asarray(twin)).max() > by


def added_up(got):
    return got.base + got.values.sum(axis=1)


class TestXGBoost:
    def assert_agree(self, xgb, model, table):
        """Contributions and interactions of the booster, ``(rows, outputs, players and base, ..)``."""
        data = xgb.DMatrix(table, enable_categorical=True)
        booster = model.get_booster()
        values, pairs = (
            np.moveaxis(booster.predict(data, strict_shape=True, **{kind: True}), 1, -1)
            for kind in ("pred_contribs", "pred_interactions")
        )
        got = ours(model, table, interactions=True)
        assert_close(got.values, values[:, :-1], SINGLE)
        assert_close(np.broadcast_to(got.base, values[:, -1].shape), values[:, -1], SINGLE, np.abs(values).max())
        assert_close(got.interactions, pairs[:, :-1, :-1], SINGLE)
        return got

    @pytest.mark.parametrize("gaps", [0.0, 0.15])
    @pytest.mark.parametrize(
        ("kind", "options", "y"),
        [
            ("XGBRegressor", {}, target),
            ("XGBRegressor", {"booster": "dart", "rate_drop": 0.5}, target),
            ("XGBRegressor", {"num_parallel_tree": 3, "subsample": 0.7}, target),
            ("XGBRegressor", {"grow_policy": "lossguide", "max_leaves": 9}, target),
            ("XGBRegressor", {"objective": "count:poisson"}, lambda X: np.exp(target(X)).round()),
            ("XGBRegressor", {}, lambda X: np.column_stack([target(X), target(X) ** 2])),
            ("XGBRFRegressor", {}, target),
            ("XGBClassifier", {}, lambda X: target(X) > 0),
            ("XGBClassifier", {}, classes),
        ],
        ids=["plain", "dart", "forests", "lossguide", "poisson", "two", "forest", "binary", "classes"],
    )
    def test_contributions_and_interactions(self, kind, options, y, gaps):
        xgb = pytest.importorskip("xgboost")
        X = rows(gaps=gaps)
        self.assert_agree(xgb, getattr(xgb, kind)(**XGB, **options).fit(X, y(X)), X[:40])

    @pytest.mark.parametrize("one_hot", [False, True])
    @pytest.mark.parametrize("n_categories", [6, 40, 100])
    def test_native_categories(self, n_categories, one_hot):
        xgb = pytest.importorskip("xgboost")
        frame, y = with_categories(n_categories)
        kinds = {"enable_categorical": True, "max_cat_to_onehot": 1000 if one_hot else 1}
        model = xgb.XGBRegressor(**XGB, **kinds).fit(frame, y)
        assert np.sum(convert(model).ensemble.nodes.set_words > 0) > 5
        self.assert_agree(xgb, model, frame[:50])

    def test_seventy_levels_are_too_deep_for_it(self):
        """XGBoost's own contributions no longer add up to its prediction; rational numbers decide."""
        xgb = pytest.importorskip("xgboost")
        X, y = one_hot(70)
        options = {"max_depth": 0, "grow_policy": "lossguide", "min_child_weight": 0, "reg_lambda": 0}
        model = xgb.XGBRegressor(n_estimators=1, learning_rate=1, n_jobs=1, **options).fit(X, y)
        ensemble, x = convert(model).ensemble, X[::70]
        got = ours(model, x)
        assert_close(got.values[..., 0], [rational_path_values(ensemble, row) for row in x])
        assert_close(added_up(got)[:, 0], model.predict(x), SINGLE)
        if still(xgb, "3.2"):
            theirs = model.get_booster().predict(xgb.DMatrix(x), pred_contribs=True)
            assert_differ(theirs.sum(axis=1), model.predict(x), 1.0)


def one_hot(depth):
    """Data whose trees cut off one category at each split."""
    code = np.repeat(np.arange(depth + 1), 4)
    return np.eye(depth + 1)[code], np.random.default_rng(0).normal(size=depth + 1)[code]


class TestLightGBM:
    def contributions(self, model, table, outputs):
        """``(rows, players and base, outputs)``."""
        found = model.predict(table, pred_contrib=True)
        return found.reshape(len(found), outputs, -1).transpose(0, 2, 1)

    def assert_agree(self, model, table):
        got = ours(model, table)
        theirs = self.contributions(model, table, len(got.base))
        assert_close(got.values, theirs[:, :-1], 1e-12)
        assert_close(np.broadcast_to(got.base, theirs[:, -1].shape), theirs[:, -1], 1e-12, np.abs(theirs).max())

    @pytest.mark.parametrize("gaps", [0.0, 0.15])
    @pytest.mark.parametrize(
        ("kind", "options", "y"),
        [
            ("LGBMRegressor", {}, target),
            ("LGBMRegressor", {"boosting_type": "dart"}, target),
            ("LGBMRegressor", {"zero_as_missing": True}, target),
            ("LGBMRegressor", {"use_missing": False}, target),
            ("LGBMRegressor", {"objective": "poisson"}, lambda X: np.exp(target(X)).round()),
            ("LGBMClassifier", {}, lambda X: target(X) > 0),
            ("LGBMClassifier", {}, classes),
            ("LGBMClassifier", {"objective": "multiclassova"}, classes),
        ],
        ids=["plain", "dart", "zero", "no missing", "poisson", "binary", "classes", "one-vs-rest"],
    )
    def test_contributions(self, kind, options, y, gaps):
        lgb = pytest.importorskip("lightgbm")
        X = rows(gaps=gaps)
        X[::7, 1] = 0.0
        model = getattr(lgb, kind)(**LGB, **options).fit(X, y(X))
        self.assert_agree(model, X[:40])

    @pytest.mark.parametrize("n_categories", [6, 31, 40, 64, 100])
    def test_native_categories(self, n_categories):
        lgb = pytest.importorskip("lightgbm")
        frame, y = with_categories(n_categories)
        model = lgb.LGBMRegressor(min_data_per_group=1, cat_smooth=1, **LGB).fit(frame, y)
        assert np.sum(convert(model).ensemble.nodes.set_words > 0) > 5
        self.assert_agree(model, frame[:50])

    def test_a_forest_is_a_mean_and_it_adds_up(self):
        """LightGBM's contributions of a random forest are those of the sum of its trees; it predicts their mean."""
        lgb = pytest.importorskip("lightgbm")
        X = rows(gaps=0.1)
        forest = {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}
        model = lgb.LGBMRegressor(**LGB, **forest).fit(X, target(X))
        got = ours(model, X[:20], interactions=True)
        assert_is(ours(model, X[:3], interactions=True), path_games(convert(model).ensemble, X[:3]))
        assert_close(added_up(got)[:, 0], model.predict(X[:20]), 1e-12)
        theirs = self.contributions(model, X[:20], 1)
        if still(lgb, "4.7"):
            assert_close(theirs[:, :-1], 12 * got.values, 1e-12)
            assert_differ(theirs.sum(axis=1)[:, 0], model.predict(X[:20]), 1.0)

    def test_seventy_levels_are_too_deep_for_it(self):
        """LightGBM's own contributions no longer add up to its prediction; rational numbers decide."""
        lgb = pytest.importorskip("lightgbm")
        X, y = one_hot(70)
        options = {"num_leaves": 71, "min_child_samples": 1, "min_data_in_bin": 1, "enable_bundle": False}
        model = lgb.LGBMRegressor(n_estimators=1, learning_rate=1.0, n_jobs=1, verbose=-1, **options).fit(X, y)
        ensemble, x = convert(model).ensemble, X[::70]
        got = ours(model, x)
        assert_close(got.values[..., 0], [rational_path_values(ensemble, row) for row in x])
        assert_close(added_up(got)[:, 0], model.predict(x), 1e-12)
        if still(lgb, "4.7"):
            everyone = model.predict(X, pred_contrib=True)
            assert_differ(everyone.sum(axis=1), model.predict(X), 0.1)


class TestCatBoost:
    """CatBoost has three games under one name.

    "Regular" is the path game. "Exact" is the marginal game with the training rows as the background: a tree keeps
    the weight of each of its leaves, which is all that it needs to know of them. `reference_data` is the marginal
    game with that background. ("Approximate" is no Shapley value and is not compared.)
    """

    CASES = pytest.mark.parametrize(
        ("kind", "y", "gaps"),
        [
            ("CatBoostRegressor", target, 0.0),
            ("CatBoostRegressor", target, 0.15),
            ("CatBoostClassifier", lambda X: (target(X) > 0).astype(int), 0.15),
            ("CatBoostClassifier", classes, 0.15),
        ],
        ids=["plain", "gaps", "binary", "classes"],
    )

    def assert_agree(self, got, theirs):
        theirs = theirs.reshape(len(theirs), len(got.base), -1).transpose(0, 2, 1)
        assert_close(got.values, theirs[:, :-1], DOUBLE)
        assert_close(np.broadcast_to(got.base, theirs[:, -1].shape), theirs[:, -1], DOUBLE, np.abs(theirs).max())

    def fitted(self, catboost, kind, y, gaps, **options):
        X = rows(gaps=gaps)
        return getattr(catboost, kind)(**CAT, **options).fit(X, y(X)), X, y(X)

    @CASES
    def test_regular_is_the_path_game(self, kind, y, gaps):
        catboost = pytest.importorskip("catboost")
        model, X, _ = self.fitted(catboost, kind, y, gaps)
        pool = catboost.Pool(X[:40])
        got = ours(model, X[:40], interactions=True)
        self.assert_agree(got, model.get_feature_importance(pool, type="ShapValues", shap_calc_type="Regular"))
        pairs = model.get_feature_importance(pool, type="ShapInteractionValues")
        pairs = pairs[..., None] if pairs.ndim == 3 else np.moveaxis(pairs, 1, -1)
        assert_close(got.interactions, pairs[:, :-1, :-1], DOUBLE)

    @CASES
    def test_exact_is_the_marginal_game_over_the_training_rows(self, kind, y, gaps):
        catboost = pytest.importorskip("catboost")
        model, X, _ = self.fitted(catboost, kind, y, gaps)
        theirs = model.get_feature_importance(catboost.Pool(X[:40]), type="ShapValues", shap_calc_type="Exact")
        self.assert_agree(ours(model, X[:40], "marginal", X), theirs)
        path = ours(model, X[:40])
        assert_differ(theirs.reshape(40, len(path.base), -1).transpose(0, 2, 1)[:, :-1], path.values, 1e-3)

    @CASES
    def test_reference_data_is_the_marginal_game(self, kind, y, gaps):
        catboost = pytest.importorskip("catboost")
        model, X, labels = self.fitted(catboost, kind, y, gaps)
        background = catboost.Pool(X[100:150], label=labels[100:150])
        theirs = model.get_feature_importance(
            catboost.Pool(X[:20], label=labels[:20]), type="ShapValues", reference_data=background
        )
        self.assert_agree(ours(model, X[:20], "marginal", X[100:150]), theirs)

    def test_categories_coded_one_by_one(self):
        catboost = pytest.importorskip("catboost")
        table = pd.DataFrame(rows(), columns=list("abcde"))
        table["name"] = [("red", "green", "blue", "grey", "black")[i % 5] for i in range(N)]
        y = target(rows()) + 2 * (table["name"] == "blue") * table["a"] - (table["name"] == "red")
        model = catboost.CatBoostRegressor(cat_features=["name"], one_hot_max_size=10, **CAT)
        model.fit(table, y)
        assert np.sum(convert(model).ensemble.nodes.set_words > 0) > 3
        pool = catboost.Pool(table[:40], cat_features=["name"])
        self.assert_agree(ours(model, table[:40]), model.get_feature_importance(pool, type="ShapValues"))
        exact = model.get_feature_importance(pool, type="ShapValues", shap_calc_type="Exact")
        self.assert_agree(ours(model, table[:40], "marginal", table), exact)

    @pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
    def test_full_trees_of_other_shapes(self, policy):
        catboost = pytest.importorskip("catboost")
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 3))
        options = {**CAT, "iterations": 1, "depth": 3, "grow_policy": policy}
        model = catboost.CatBoostRegressor(**options).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
        assert len(convert(model).ensemble.nodes.feature) == 15
        self.assert_agree(ours(model, X), model.get_feature_importance(catboost.Pool(X), type="ShapValues"))

    @pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
    def test_a_leaf_beside_the_first_split(self, policy):
        """CatBoost's contributions do not add up to its own prediction; enumeration decides.

        (Its `reference_data` ends the process for trees that are not symmetric, so it is not asked.)
        """
        catboost = pytest.importorskip("catboost")
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 3))
        y = np.where(X[:, 2] > 0, 3 + X[:, 0] * X[:, 1], 0.0)
        model = catboost.CatBoostRegressor(**{**CAT, "depth": 3, "grow_policy": policy}).fit(X, y)
        ensemble = convert(model).ensemble
        if ensemble.nodes.feature[ensemble.nodes.left[0]] >= 0:
            pytest.skip("this release of CatBoost grows another tree")
        games = path_games(ensemble, X[:8])
        assert_is(ours(model, X[:8], interactions=True), games)
        assert_is(
            ours(model, X[:5], "marginal", X[100:106], interactions=True),
            marginal_games(model.predict, X[:5], X[100:106]),
        )
        assert_close(added_up(ours(model, X[:40]))[:, 0], model.predict(X[:40]), DOUBLE)
        if still(catboost, "1.2"):
            theirs = model.get_feature_importance(catboost.Pool(X[:40]), type="ShapValues")
            assert_differ(theirs[:8, :-1], as_values(games)[0][..., 0], 0.1)
            assert_differ(theirs.sum(axis=1), model.predict(X[:40]), 0.1)


def coarse(gaps=0.0):
    """Multiples of 1/64: shap rounds thresholds to single precision, and here that changes nothing."""
    return np.round(rows(gaps=gaps) * 64) / 64


SKLEARN = {
    "tree": (DecisionTreeRegressor(max_depth=6, random_state=0), target),
    "tree of classes": (DecisionTreeClassifier(max_depth=6, random_state=0), classes),
    "forest": (RandomForestRegressor(8, max_depth=6, random_state=0, n_jobs=1), target),
    "forest of classes": (RandomForestClassifier(8, max_depth=6, random_state=0, n_jobs=1), classes),
    "extra": (ExtraTreesRegressor(8, max_depth=6, random_state=0, n_jobs=1), target),
    "extra of classes": (ExtraTreesClassifier(8, max_depth=6, random_state=0, n_jobs=1), classes),
    "boosting": (GradientBoostingRegressor(n_estimators=10, random_state=0), target),
    "binary boosting": (GradientBoostingClassifier(n_estimators=10, random_state=0), lambda X: target(X) > 0),
    "hist": (HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=10, random_state=0), target),
    "hist of classes": (HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=10, random_state=0), classes),
    "isolation": (IsolationForest(n_estimators=8, max_samples=64, random_state=0, n_jobs=1), target),
}
BOOSTERS = {
    "xgboost": ("XGBRegressor", XGB, target),
    "xgboost binary": ("XGBClassifier", XGB, lambda X: target(X) > 0),
    "lightgbm": ("LGBMRegressor", LGB, target),
    "lightgbm binary": ("LGBMClassifier", LGB, lambda X: target(X) > 0),
    "lightgbm classes": ("LGBMClassifier", LGB, classes),
}
GAPS_TOO = {"tree", "forest", "hist", "xgboost", "lightgbm"}
SCENES = [(name, gaps) for name in (*SKLEARN, *BOOSTERS) for gaps in (0.0, 0.15) if not gaps or name in GAPS_TOO]


def scene(name, gaps):
    X = coarse(gaps)
    if name in SKLEARN:
        model, y = SKLEARN[name]
        return model.fit(X, y(X)), X
    kind, options, y = BOOSTERS[name]
    library = pytest.importorskip(name.split()[0])
    return getattr(library, kind)(**options).fit(X, y(X)), X


def wide(theirs, dimensions):
    """With an axis of outputs."""
    theirs = np.asarray(theirs)
    return theirs[..., None] if theirs.ndim == dimensions else theirs


@pytest.fixture
def shap():
    with quiet():
        yield pytest.importorskip("shap")


class TestShap:
    def path(self, shap, model):
        return shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")

    def marginal(self, shap, model, background):
        masker = shap.maskers.Independent(background, max_samples=10**6)
        return shap.TreeExplainer(model, masker, feature_perturbation="interventional")

    def values(self, explainer, table):
        return wide(explainer.shap_values(table, check_additivity=False), 2)

    @pytest.mark.parametrize(("name", "gaps"), SCENES)
    def test_path_game(self, shap, name, gaps):
        model, X = scene(name, gaps)
        width = SINGLE if name.startswith("xgboost") else DOUBLE  # it hands XGBoost's models to XGBoost
        explainer = self.path(shap, model)
        got = ours(model, X[:30], interactions=True)
        assert_close(got.values, self.values(explainer, X[:30]), width)
        assert_close(got.interactions, wide(explainer.shap_interaction_values(X[:30]), 3), width)
        assert_close(got.base, np.ravel(explainer.expected_value), width, np.abs(got.base).max() + 1)

    @pytest.mark.parametrize(("name", "gaps"), SCENES)
    def test_marginal_game(self, shap, name, gaps):
        model, X = scene(name, gaps)
        explainer = self.marginal(shap, model, X[100:180])
        got = ours(model, X[:30], "marginal", X[100:180])
        assert_close(got.values, self.values(explainer, X[:30]), SINGLE)  # it keeps leaf values in single precision
        assert_close(got.base, np.ravel(explainer.expected_value), SINGLE, np.abs(got.base).max() + 1)

    # ---------------------------------------------------------------------- where it is wrong: enumeration decides

    @needs("scikit-learn", "1.8")
    def test_it_rounds_thresholds_in_the_marginal_game(self, shap):
        """Histogram boosting's thresholds are doubles, here values of the data: rounded, x <= x can be false."""
        X = rows(n=600)[:, :3]
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
        model = HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=10, random_state=0).fit(X, y)
        on = np.unique(convert(model).ensemble.nodes.threshold[convert(model).ensemble.nodes.feature == 0])
        x, background = X[np.isin(X[:, 0], on)][:5], X[100:110]
        assert len(x) == 5
        games = marginal_games(model.predict, x, background)
        assert_is(ours(model, x, "marginal", background, interactions=True), games)
        if still(shap, "0.51"):
            assert_differ(self.values(self.marginal(shap, model, background), x), as_values(games)[0], 1e-3)

    def test_it_forgets_scores_that_xgboost_starts_classes_from(self, shap):
        """Values agree; its base is off, so that values and base do not add up to the margins."""
        xgb = pytest.importorskip("xgboost", minversion="3.1")
        X = coarse()
        model = xgb.XGBClassifier(**XGB).fit(X, classes(X))
        explainer = self.marginal(shap, model, X[100:140])
        got = ours(model, X[:20], "marginal", X[100:140])
        margins = model.predict(X, output_margin=True)
        assert_close(got.values, self.values(explainer, X[:20]), SINGLE)
        assert_close(got.base, margins[100:140].mean(axis=0), SINGLE)
        assert_close(added_up(got), margins[:20], SINGLE)
        if still(shap, "0.51"):
            assert_differ(explainer.expected_value, got.base, 1e-2)

    @pytest.mark.parametrize("n_categories", [8, 40, 100])
    def test_categories_of_lightgbm(self, shap, n_categories):
        """Its path values are right (as LightGBM's own); its path interactions and marginal values are not."""
        lgb = pytest.importorskip("lightgbm")
        frame, y = with_categories(n_categories, n=600)
        frame = frame[["many", "a", "b"]]
        model = lgb.LGBMRegressor(min_data_per_group=1, cat_smooth=1, **LGB).fit(frame, y)
        known = convert(model)
        table, background = frame[30:36], frame[100:108]
        X, B = known.encode(table), known.encode(background)
        path_twin, marginal_twin = path_games(known.ensemble, X), ensemble_games(known.ensemble, X, B)
        path, marginal = (
            ours(model, table, game, other, interactions=True)
            for game, other in (("path", None), ("marginal", background))
        )
        assert_is(path, path_twin)
        assert_is(marginal, marginal_twin)
        assert_close(added_up(marginal)[:, 0], model.predict(table), 1e-12)
        assert_close(path.values, self.values(self.path(shap, model), table))
        if still(shap, "0.51"):
            pairs = wide(self.path(shap, model).shap_interaction_values(table), 3)
            assert_differ(pairs, path.interactions, 1e-2)
            assert_differ(pairs.sum(axis=2), path.values, 1e-2)  # nor do they add up to its own values
            assert_differ(self.values(self.marginal(shap, model, B), X), marginal.values, 1e-2)

    def test_categories_of_histogram_boosting(self, shap):
        """Both games wrong, without an error."""
        rng = np.random.default_rng(1)
        X = np.column_stack([rng.integers(0, 8, 600), rng.normal(size=(600, 2))])
        y = rng.normal(size=8)[X[:, 0].astype(int)] * (1 + X[:, 1]) + X[:, 2]
        model = HistGradientBoostingRegressor(
            max_iter=5, max_leaf_nodes=8, categorical_features=[0], random_state=0
        ).fit(X, y)
        x, background = X[:6], X[100:108]
        path, marginal = ours(model, x, interactions=True), ours(model, x, "marginal", background)
        assert_is(path, path_games(convert(model).ensemble, x))
        assert_is(marginal, marginal_games(model.predict, x, background))
        assert_close(added_up(path)[:, 0], model.predict(x), 1e-12)
        if still(shap, "0.51"):
            explainer = self.path(shap, model)
            assert_differ(self.values(explainer, x), path.values, 1e-2)
            assert_differ(
                explainer.expected_value + self.values(explainer, x).sum(axis=1)[:, 0], model.predict(x), 1e-2
            )
            assert_differ(self.values(self.marginal(shap, model, background), x), marginal.values, 1e-2)

    def test_interactions_of_the_marginal_game_are_all_zero(self, shap, capfd):
        X = coarse()[:, :3]
        model = RandomForestRegressor(5, max_depth=5, random_state=0, n_jobs=1).fit(X, X[:, 0] * X[:, 1])
        x, background = X[:4], X[100:110]
        got = ours(model, x, "marginal", background, interactions=True)
        assert_is(got, marginal_games(model.predict, x, background))
        assert np.abs(got.interactions[:, 0, 1]).max() > 0.05
        if still(shap, "0.51"):
            assert not np.any(self.marginal(shap, model, background).shap_interaction_values(x))
        capfd.readouterr()  # it tells the terminal, not the caller

    def test_seventy_levels_are_too_deep_for_its_path_game(self, shap):
        """Its polynomials of weights cancel: values of 1e14 at 120 levels. Rational numbers decide at 70."""
        X, y = one_hot(70)
        model = DecisionTreeRegressor(random_state=0).fit(X, y)
        assert model.get_depth() == 70
        ensemble, x = convert(model).ensemble, X[::70]
        assert_close(ours(model, x).values[..., 0], [rational_path_values(ensemble, row) for row in x], 1e-12)
        got, theirs = ours(model, X), self.values(self.path(shap, model), X)
        assert_close(added_up(got)[:, 0], y, 1e-12)
        if still(shap, "0.51"):
            assert_differ(theirs.sum(axis=(1, 2)) + got.base[0], y, 1.0)
        for depth in (20, 40):  # up to there it is right, with fewer and fewer digits
            X, y = one_hot(depth)
            model = DecisionTreeRegressor(random_state=0).fit(X, y)
            assert_close(self.values(self.path(shap, model), X), ours(model, X).values, 1e-7)

    def test_deep_trees_in_the_marginal_game_agree(self, shap):
        X, y = one_hot(120)
        model = DecisionTreeRegressor(random_state=0).fit(X, y)
        got = ours(model, X[::9], "marginal", X[1::9])
        assert_close(got.values, self.values(self.marginal(shap, model, X[1::9]), X[::9]), SINGLE)
