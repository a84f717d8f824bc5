"""XGBoost's trees: their sum is the model's own margin, on every kind of model and on the corners of rows."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pellucid.errors import InputError
from pellucid.trees.convert import Unsupported, convert
from pellucid.trees.convert.xgboost import base_scores, read, stored_levels
from pellucid.trees.convert.xgboost_trees import model_of, tree_ensemble
from versions import has, needs

xgb = pytest.importorskip("xgboost")

N, P = 400, 5
FAST = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1}


def rows(seed=0, n=N, gaps=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    X[rng.random(X.shape) < gaps] = np.nan
    return X


def target(X, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.nan_to_num(X)
    return np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.1 * rng.normal(size=len(X))


def stored(model):
    booster = model.get_booster() if isinstance(model, xgb.XGBModel) else model
    return json.loads(bytes(booster.save_raw(raw_format="json")))


def gradient_booster(model):
    booster = stored(model)["learner"]["gradient_booster"]
    return booster.get("gbtree", booster)["model"]


def corners(model, X, seed=1):
    """Rows with a value on a threshold, a single or a double beside it, or on the tie between singles."""
    rng = np.random.default_rng(seed)
    pairs = {
        (feature, threshold)
        for tree in gradient_booster(model)["trees"]
        for feature, threshold, left, kind in zip(
            tree["split_indices"], tree["split_conditions"], tree["left_children"], tree["split_type"], strict=True
        )
        if left >= 0 and kind == 0
    }
    out = []
    for feature, threshold in sorted(pairs):
        t = np.float32(threshold)
        below, above = (np.nextafter(t, np.float32(s)) for s in (-np.inf, np.inf))
        middle = (np.float64(below) + np.float64(t)) / 2
        for value in (t, below, above, middle, np.nextafter(middle, -9e9), np.nextafter(middle, 9e9)):
            row = X[rng.integers(len(X))].copy()
            row[feature] = value
            out.append(row)
        for value in (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, -0.0):
            row = X[rng.integers(len(X))].copy()
            row[feature] = value
            out.append(row)
    return np.array(out)


def margins(model, table, **options):
    """The model's own scores, always with a column per output; a Booster refuses infinities in a DMatrix."""
    if isinstance(model, xgb.Booster):
        raw = model.inplace_predict(table, predict_type="margin", validate_features=False)
    else:
        raw = model.predict(table, output_margin=True, **options)
    raw = np.asarray(raw, dtype=np.float64)
    return raw.reshape(len(raw), -1)


def assert_same(model, table, own=None):
    known = convert(model)
    raw = known.ensemble.predict(known.encode(table))
    own = margins(model, table) if own is None else own
    assert raw.shape == own.shape
    np.testing.assert_allclose(raw, own, rtol=1e-5, atol=1e-5 * max(1, np.abs(own).max()))
    return known


def assert_equal_everywhere(model, X):
    known = assert_same(model, X)
    assert_same(model, corners(model, X))
    return known


class TestMargins:
    def test_regression(self):
        X = rows()
        known = assert_equal_everywhere(xgb.XGBRegressor(**FAST).fit(X, target(X)), X)
        assert (known.link, known.scale) == ("identity", "response")
        assert np.isnan(known.fill)
        assert known.source.tolist() == list(range(P))

    @pytest.mark.parametrize(
        ("objective", "link", "scale"),
        [
            ("reg:squaredlogerror", "identity", "response"),
            ("reg:absoluteerror", "identity", "response"),
            ("reg:pseudohubererror", "identity", "response"),
            ("reg:logistic", "logistic", "log-odds"),
            ("binary:logistic", "logistic", "log-odds"),
            ("binary:logitraw", "identity", "log-odds"),
            ("binary:hinge", "other", "score"),
            ("count:poisson", "exp", "score"),
            ("reg:gamma", "exp", "score"),
            ("reg:tweedie", "exp", "score"),
            ("survival:cox", "exp", "score"),
            ("rank:pairwise", "identity", "score"),
        ],
    )
    @pytest.mark.parametrize("base_score", [None, 0.3])
    def test_objectives(self, objective, link, scale, base_score):
        X = rows(2)
        y = (target(X) > 0.4).astype(float) + (1.0 if objective == "reg:gamma" else 0.0)
        data = xgb.DMatrix(X, y)
        if objective.startswith("rank"):
            data.set_group([40] * 10)
        params = {"objective": objective, "max_depth": 3, "nthread": 1}
        if base_score is not None:
            params["base_score"] = base_score
        model = xgb.train(params, data, 5)
        known = assert_equal_everywhere(model, X)
        assert (known.link, known.scale) == (link, scale)
        links = {
            "identity": lambda s: s,
            "exp": np.exp,
            "logistic": lambda s: 1 / (1 + np.exp(-s)),
            "other": lambda s: s > 0,
        }
        predicted = links[link](known.ensemble.predict(known.encode(X))[:, 0])
        np.testing.assert_allclose(predicted, model.predict(xgb.DMatrix(X)), rtol=1e-4, atol=1e-6)

    def test_survival_times(self):
        X = rows(2)
        data = xgb.DMatrix(X)
        times = np.exp(target(X))
        data.set_float_info("label_lower_bound", times)
        data.set_float_info("label_upper_bound", times)
        known = assert_equal_everywhere(xgb.train({"objective": "survival:aft", "max_depth": 3}, data, 5), X)
        assert (known.link, known.scale) == ("exp", "score")

    def test_quantiles_are_outputs(self):
        """Since 3.4 those that cross are sorted, so that predictions are no sums."""
        X = rows(3)
        model = xgb.XGBRegressor(**FAST, objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9])
        model.fit(X, target(X))
        if has("xgboost", "3.4"):
            with pytest.raises(Unsupported, match="several quantiles"):
                convert(model)
        else:
            assert assert_equal_everywhere(model, X).ensemble.n_outputs == 3

    def test_one_quantile(self):
        X = rows(3)
        model = xgb.XGBRegressor(**FAST, objective="reg:quantileerror", quantile_alpha=0.9)
        assert_equal_everywhere(model.fit(X, target(X)), X)

    @pytest.mark.parametrize("n_classes", [3, 12])
    def test_classes(self, n_classes):
        X = rows(4)
        y = pd.qcut(target(X), n_classes, labels=False)
        model = xgb.XGBClassifier(**FAST).fit(X, y)
        known = assert_equal_everywhere(model, X)
        assert (known.link, known.scale) == ("softmax", "score")
        raw = np.exp(known.ensemble.predict(known.encode(X)))
        np.testing.assert_allclose(raw / raw.sum(axis=1, keepdims=True), model.predict_proba(X), rtol=1e-4)

    def test_several_labels_are_one_log_odds_each(self):
        X = rows(5)
        Y = np.column_stack([target(X) > 0, np.nan_to_num(X[:, 1]) > 0.3]).astype(int)
        known = assert_equal_everywhere(xgb.XGBClassifier(**FAST).fit(X, Y), X)
        assert (known.link, known.scale) == ("one-vs-rest", "log-odds")

    def test_several_targets(self):
        X = rows(6)
        Y = np.column_stack([target(X), np.nan_to_num(X[:, 1]), target(X) * 3])
        assert assert_equal_everywhere(xgb.XGBRegressor(**FAST).fit(X, Y), X).ensemble.width == 1

    @needs("xgboost", "3.2")
    @pytest.mark.parametrize("kind", ["targets", "classes"])
    def test_vector_leaves(self, kind):
        X = rows(7)
        if kind == "targets":
            y = np.column_stack([target(X), np.nan_to_num(X[:, 1]), target(X) * 3])
        else:
            y = pd.qcut(target(X), 4, labels=False)
        make = xgb.XGBRegressor if kind == "targets" else xgb.XGBClassifier
        model = make(**FAST, multi_strategy="multi_output_tree", tree_method="hist").fit(X, y)
        known = assert_equal_everywhere(model, X)
        assert known.ensemble.width == known.ensemble.n_outputs == (3 if kind == "targets" else 4)
        one = known.ensemble.select(np.array([2]))
        np.testing.assert_allclose(one.predict(X)[:, 0], margins(model, X)[:, 2], rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("make", ["XGBRFRegressor", "XGBRFClassifier"])
    def test_forests(self, make):
        X = rows(8)
        y = target(X) if make == "XGBRFRegressor" else pd.qcut(target(X), 3, labels=False)
        assert_equal_everywhere(getattr(xgb, make)(n_estimators=9, max_depth=4).fit(X, y), X)

    def test_boosted_forests_of_classes(self):
        X = rows(8)
        model = xgb.XGBClassifier(**FAST, num_parallel_tree=3, subsample=0.6)
        assert_equal_everywhere(model.fit(X, pd.qcut(target(X), 3, labels=False)), X)

    @pytest.mark.parametrize("options", [{}, {"n_classes": 3}])
    def test_dart(self, options):
        X = rows(9)
        y = pd.qcut(target(X), 3, labels=False) if options else target(X)
        make = xgb.XGBClassifier if options else xgb.XGBRegressor
        model = make(**FAST, booster="dart", rate_drop=0.5, skip_drop=0.0, random_state=1).fit(X, y)
        _, weights = model_of(stored(model)["learner"]["gradient_booster"])
        assert len(np.unique(weights)) > 2
        assert_equal_everywhere(model, X)

    @needs("xgboost", "3.4")
    def test_dropout_without_dart(self):
        X = rows(9)
        model = xgb.XGBRegressor(**FAST, rate_drop=0.5, num_parallel_tree=2, subsample=0.7)
        model.fit(X, target(X))
        assert len(model_of(stored(model)["learner"]["gradient_booster"])[1]) == 2 * FAST["n_estimators"]
        assert_equal_everywhere(model, X)

    def test_monotone(self):
        X = rows(10)
        model = xgb.XGBRegressor(**FAST, monotone_constraints=(1, 0, -1, 0, 0))
        assert_equal_everywhere(model.fit(X, target(X)), X)

    def test_columns_that_no_tree_uses(self):
        X = rows(11)
        model = xgb.XGBRegressor(**FAST).fit(X, np.nan_to_num(X[:, 2]))
        known = assert_equal_everywhere(model, X)
        assert known.ensemble.n_features == P

    def test_single_leaves(self):
        X = rows(12)
        model = xgb.XGBRegressor(n_estimators=3, gamma=1e9).fit(X, target(X) + 5)
        assert (assert_same(model, X).ensemble.nodes.feature == -1).all()

    def test_pruned_trees_keep_only_what_is_reached(self):
        X = rows(13)
        model = xgb.XGBRegressor(**FAST, tree_method="exact", gamma=0.5).fit(X, target(X))
        cut = sum(int(tree["tree_param"]["num_deleted"]) for tree in gradient_booster(model)["trees"])
        assert cut > 0
        nodes = assert_equal_everywhere(model, X).ensemble.nodes
        inner = np.flatnonzero(nodes.feature >= 0)
        assert (nodes.left[inner] > inner).all()
        assert (nodes.right[inner] > inner).all()
        children = np.sort(np.concatenate([nodes.left[inner], nodes.right[inner]]))
        assert len(children) + FAST["n_estimators"] == len(nodes.feature)

    def test_large_targets(self):
        X = rows(14)
        assert_same(xgb.XGBRegressor(**FAST).fit(X, 1e6 + 1e5 * target(X)), X)

    def test_own_objective(self):
        X, y = rows(15), target(rows(15))
        model = xgb.train(
            {"max_depth": 3, "base_score": 0.0}, xgb.DMatrix(X, y), 5, obj=lambda p, d: (p - y, np.ones_like(p))
        )
        assert_equal_everywhere(model, X)


class TestRounds:
    def early(self, make, y, **options):
        X = rows(20)
        noise = np.random.default_rng(3).permutation(y)
        model = make(n_estimators=60, max_depth=4, learning_rate=0.5, early_stopping_rounds=3, **options)
        model.fit(X[:200], y[:200], eval_set=[(X[200:], noise[200:])], verbose=False)
        assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
        return model, X

    @pytest.mark.parametrize("options", [{}, {"num_parallel_tree": 2}, {"booster": "dart", "rate_drop": 0.3}])
    def test_an_estimator_stops_at_its_best(self, options):
        model, X = self.early(xgb.XGBRegressor, target(rows(20)), **options)
        known = assert_equal_everywhere(model, X)
        assert len(known.ensemble.roots) == (model.best_iteration + 1) * options.get("num_parallel_tree", 1)

    def test_classes_stop_at_their_best(self):
        model, X = self.early(xgb.XGBClassifier, pd.qcut(target(rows(20)), 3, labels=False))
        assert len(assert_equal_everywhere(model, X).ensemble.roots) == 3 * (model.best_iteration + 1)

    def test_its_booster_does_not(self):
        model, X = self.early(xgb.XGBRegressor, target(rows(20)))
        booster = model.get_booster()
        assert len(assert_same(booster, X).ensemble.roots) == booster.num_boosted_rounds()

    def test_rounds_without_an_index_of_rounds(self):
        """Before 2.0 the trees of a round are counted."""
        model, _ = self.early(xgb.XGBClassifier, pd.qcut(target(rows(20)), 3, labels=False), num_parallel_tree=2)
        learner = stored(model)["learner"]
        new = tree_ensemble(learner, 2)
        del learner["gradient_booster"]["model"]["iteration_indptr"]
        assert len(tree_ensemble(learner, 2).roots) == len(new.roots) == 12

    def test_continued_training(self):
        X = rows(21)
        first = xgb.XGBRegressor(**FAST).fit(X, target(X))
        second = xgb.XGBRegressor(**FAST).fit(X, target(X) * 2, xgb_model=first.get_booster())
        known = assert_equal_everywhere(second, X)
        assert len(known.ensemble.roots) == 2 * FAST["n_estimators"]


CODES = [0, 1, 2, 3, 0.5, -0.5, -1, -7, 1.5, 2.9, 2.999999999, 31, 32, 63, 64, 64.5, 65, 90, 99, 100, 127, 128]
CODES += [1e9, 2.0**24, 2.0**24 + 1, 3e38, 1e300, np.nan, np.inf, -np.inf]


class TestCategories:
    def coded(self, n_categories=100, max_cat_to_onehot=1, **options):
        """A matrix with a column of codes, and rows with every odd code."""
        rng = np.random.default_rng(30)
        X = rows(30, 1500)
        X[:, 2] = rng.integers(0, n_categories, len(X))
        X[rng.random(len(X)) < 0.1, 2] = np.nan
        effect = rng.normal(size=n_categories + 1)
        y = np.nan_to_num(X[:, 0]) + effect[np.nan_to_num(X[:, 2], nan=n_categories).astype(int)]
        model = xgb.XGBRegressor(
            **FAST,
            enable_categorical=True,
            feature_types=["q", "q", "c", "q", "q"],
            max_cat_to_onehot=max_cat_to_onehot,
            **options,
        ).fit(X, y)
        odd = np.repeat(X[:20], len(CODES), axis=0)
        odd[:, 2] = CODES * 20
        return model, X, odd

    @pytest.mark.parametrize("n_categories", [2, 32, 64, 65, 100, 300])
    @pytest.mark.parametrize("onehot", [1, 1000])
    def test_codes(self, n_categories, onehot):
        model, X, odd = self.coded(n_categories, onehot)
        known = assert_equal_everywhere(model, X)
        assert (known.ensemble.nodes.set_start >= 0).any()
        assert_same(model, odd)

    def frame(self, n=N):
        rng = np.random.default_rng(32)
        frame = pd.DataFrame(rows(32, n)[:, :2], columns=["a", "b"])
        frame["word"] = pd.Categorical(rng.choice(["red", "green", "blue", None], n))
        frame["number"] = pd.Categorical(rng.choice([5, -3, 1000], n))
        frame["whole"] = pd.array(rng.integers(0, 9, n), dtype="Int64")
        frame.loc[3, "whole"] = pd.NA
        frame["flag"] = rng.random(n) < 0.5
        y = np.nan_to_num(frame["a"]) + (frame["word"] == "red") - 2 * (frame["number"] == 5).astype(float)
        return frame, y + frame["whole"].fillna(0).astype(float)

    @pytest.mark.parametrize("as_booster", [False, True])
    def test_frames(self, as_booster):
        frame, y = self.frame()
        model = xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y)
        model = model.get_booster() if as_booster else model
        known = assert_same(model, frame)
        assert set(known.encode.categorical) == {2, 3}
        before = frame.copy(deep=True)
        known.encode(frame)
        pd.testing.assert_frame_equal(frame, before)

    @needs("xgboost", "3.1")
    def test_levels_in_another_order_mean_the_same(self):
        frame, y = self.frame()
        model = xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y)
        other = frame.copy()
        other["word"] = other["word"].cat.set_categories(["red", "blue", "green"])
        other["number"] = other["number"].cat.set_categories([1000, 5, -3])
        known = assert_same(model, other)
        np.testing.assert_array_equal(known.encode(other), known.encode(frame))

    @needs("xgboost", "3.1")
    def test_an_unseen_level_that_no_row_has_changes_nothing(self):
        """XGBoost itself refuses such a table since 3.4."""
        frame, y = self.frame()
        known = convert(xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y))
        other = frame.assign(word=frame["word"].cat.set_categories(["never", "red", "blue", "green"]))
        np.testing.assert_array_equal(known.encode(other), known.encode(frame))

    @needs("xgboost", "3.1")
    def test_without_stored_levels_the_frame_has_its_own_codes(self):
        """Before 3.1 XGBoost kept no levels."""
        frame, y = self.frame()
        learner = stored(xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y))["learner"]
        assert stored_levels(learner, (3, 1))[2:4] == (("blue", "green", "red"), (-3, 5, 1000))
        del learner["gradient_booster"]["model"]["cats"]
        assert stored_levels(learner, (3, 1)) == ()
        known = convert(xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y))
        own = type(known.encode)(missing=np.nan, levels=(), categorical=known.encode.categorical)
        other = frame.assign(word=frame["word"].cat.set_categories(["red", "green", "blue"]))
        codes = other["word"].cat.codes.to_numpy().astype(float)
        np.testing.assert_array_equal(own(other)[:, 2], np.where(codes < 0, np.nan, codes))

    @needs("xgboost", "3.1")
    @pytest.mark.parametrize("level", ["zebra", "purple"])
    def test_an_unseen_level_is_refused(self, level):
        """XGBoost 3.2 refuses the first and takes the second for "red", the next of its levels."""
        frame, y = self.frame()
        model = xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y)
        other = frame.assign(word=pd.Categorical([level, *["red"] * (N - 1)]))
        with pytest.raises(InputError, match=rf"'word' has the category '{level}'"):
            convert(model).encode(other)

    @needs("xgboost", "3.1")
    def test_letters_beyond_ascii(self):
        """XGBoost stores them whole since 3.4."""
        frame, y = self.frame()
        frame["word"] = frame["word"].cat.rename_categories({"green": "gr\u00fcn", "red": "\u8d64"})
        model = xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y)
        if not has("xgboost", "3.4"):
            with pytest.raises(Unsupported, match="beyond ASCII"):
                convert(model)
            return
        other = frame.assign(word=frame["word"].cat.reorder_categories(["\u8d64", "blue", "gr\u00fcn"]))
        np.testing.assert_array_equal(assert_same(model, other).encode(other), convert(model).encode(frame))

    def test_codes_in_a_matrix(self):
        frame, y = self.frame()
        model = xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y)
        known = convert(model)
        matrix = known.encode(frame)
        np.testing.assert_allclose(known.ensemble.predict(known.encode(matrix)), margins(model, frame), atol=1e-5)


class TestMissing:
    @pytest.mark.parametrize("missing", [-999, -999.1, 0.0, np.inf])
    def test_the_number_that_stands_for_missing(self, missing):
        X = rows(40)
        X[np.isnan(X)] = missing
        model = xgb.XGBRegressor(**FAST, missing=missing).fit(X, target(rows(40)))
        X[::7, 1] = np.nan
        before = X.copy()
        known = assert_same(model, X)
        np.testing.assert_array_equal(X, before)
        assert np.isnan(known.encode(X)[missing == X]).all()
        assert_same(model, X.astype(np.float32))
        assert_same(model, pd.DataFrame(X))
        assert_same(model.get_booster(), X)  # does not know of the estimator's number

    def test_codes_that_stand_for_missing(self):
        frame, y = TestCategories().frame()
        model = xgb.XGBRegressor(**FAST, enable_categorical=True, missing=1.0).fit(frame, y)
        assert_same(model, frame)

    def test_absent_cells_are_missing(self):
        X = rows(41)
        stored_cells = sparse.csr_matrix(np.nan_to_num(X.round()))
        model = xgb.XGBRegressor(**FAST).fit(stored_cells, target(X))
        known = assert_same(model, stored_cells)
        encoded = known.encode(stored_cells)
        assert encoded.dtype == np.float64
        assert np.isnan(encoded[stored_cells.toarray() == 0]).all()

    def test_cells_of_a_sparse_matrix_that_stand_for_missing(self):
        X = rows(42)
        X[np.isnan(X)] = -999
        cells = sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0, X))
        model = xgb.XGBRegressor(**FAST, missing=-999).fit(cells, target(X))
        assert_same(model, cells)


class TestDoors:
    @pytest.mark.parametrize("ending", ["json", "ubj"])
    @pytest.mark.parametrize("make", ["Booster", "XGBClassifier"])
    def test_files(self, tmp_path, ending, make):
        X = rows(50)
        model = xgb.XGBClassifier(**FAST).fit(X, pd.qcut(target(X), 3, labels=False))
        model.save_model(tmp_path / f"model.{ending}")
        loaded = getattr(xgb, make)()
        loaded.load_model(tmp_path / f"model.{ending}")
        known = assert_equal_everywhere(loaded, X)
        np.testing.assert_array_equal(known.ensemble.nodes.value, convert(model).ensemble.nodes.value)

    def test_a_booster_trained_with_names(self):
        X = rows(51)
        data = xgb.DMatrix(X, target(X), feature_names=list("vwxyz"))
        assert_equal_everywhere(xgb.train({"max_depth": 4}, data, 8), X)

    def test_whole_numbers(self):
        X = np.random.default_rng(52).integers(-(2**40), 2**40, size=(N, P))
        assert_same(xgb.XGBRegressor(**FAST).fit(X, X[:, 0] / 2**40), X)

    def test_it_can_be_pickled(self):
        X = rows(53)
        known = convert(xgb.XGBRegressor(**FAST, missing=-1).fit(X, target(X)))
        again = pickle.loads(pickle.dumps(known))
        np.testing.assert_array_equal(again.encode(X), known.encode(X))

    def test_the_model_is_not_changed(self):
        X = rows(54)
        model = xgb.XGBRegressor(**FAST).fit(X, target(X))
        before = stored(model)
        convert(model)
        assert stored(model) == before


def test_cover_is_the_sum_of_hessians():
    X = rows(60)
    model = xgb.XGBClassifier(**FAST).fit(X, target(X) > 0)
    table = model.get_booster().trees_to_dataframe()
    nodes = convert(model).ensemble.nodes
    np.testing.assert_allclose(nodes.cover, table["Cover"], rtol=1e-5)
    inner = nodes.feature >= 0
    both = nodes.cover[nodes.left[inner]] + nodes.cover[nodes.right[inner]]
    np.testing.assert_allclose(nodes.cover[inner], both, rtol=1e-5)


def test_expected_value_along_covers_is_xgboosts_bias():
    X = rows(61)
    model = xgb.train({"max_depth": 4}, xgb.DMatrix(X, target(X)), 10)
    bias = model.predict(xgb.DMatrix(X[:1]), pred_contribs=True)[0, -1]
    ensemble = convert(model).ensemble
    nodes = ensemble.nodes
    value = nodes.value[:, 0].copy()
    for i in np.flatnonzero(nodes.feature >= 0)[::-1]:
        a, b = nodes.left[i], nodes.right[i]
        value[i] = (nodes.cover[a] * value[a] + nodes.cover[b] * value[b]) / nodes.cover[i]
    assert value[ensemble.roots].sum() + ensemble.base[0] == pytest.approx(bias, rel=1e-4, abs=1e-5)


class TestFormats:
    @pytest.mark.parametrize(
        ("text", "n", "expected"),
        [
            ("5E-1", 1, [0.5]),
            ("5E-1", 3, [0.5, 0.5, 0.5]),
            ("[5E-1]", 1, [0.5]),
            ("[5E-1]", 2, [0.5, 0.5]),
            ("[1E0,-2.5E0,0E0]", 3, [1, -2.5, 0]),
            ("-1.25", 1, [-1.25]),
            ([0.5, 1.0], 2, [0.5, 1.0]),
        ],
    )
    def test_base_scores(self, text, n, expected):
        assert base_scores(text, n).tolist() == expected

    def test_base_scores_are_singles(self):
        assert base_scores("3E-1", 1)[0] == np.float32(0.3)

    @pytest.mark.parametrize(("text", "n"), [("[1E0,2E0]", 3), ("half", 1), ("[1E0,", 1)])
    def test_unknown_base_scores(self, text, n):
        with pytest.raises(Unsupported, match="base score"):
            base_scores(text, n)

    @pytest.mark.parametrize("objective", ["binary:logistic", "count:poisson", "reg:squarederror"])
    def test_a_scalar_base_score_of_earlier_versions_loads(self, objective):
        X = rows(70)
        params = {"objective": objective, "base_score": 0.25, "max_depth": 3}
        document = stored(xgb.train(params, xgb.DMatrix(X, (target(X) > 0).astype(float)), 4))
        document["learner"]["learner_model_param"]["base_score"] = "2.5E-1"
        document["version"] = [1, 7, 6]
        loaded = xgb.Booster(model_file=bytearray(json.dumps(document).encode()))
        assert_equal_everywhere(loaded, X)

    def test_trees_of_earlier_versions(self):
        """Without categories, with truth values, and with a leaf width of 0 for a number."""
        X = rows(71)
        model = xgb.XGBRegressor(**FAST).fit(X, target(X))
        learner = stored(model)["learner"]
        new = tree_ensemble(copy.deepcopy(learner))
        for tree in learner["gradient_booster"]["model"]["trees"]:
            tree["tree_param"]["size_leaf_vector"] = "0"
            tree["default_left"] = [bool(x) for x in tree["default_left"]]
            for key in [key for key in tree if key.startswith("categories")]:
                del tree[key]
        del learner["learner_model_param"]["num_target"]
        old = tree_ensemble(learner)
        np.testing.assert_array_equal(old.predict(X), new.predict(X))
        np.testing.assert_array_equal(old.nodes.missing_left, new.nodes.missing_left)

    @needs("xgboost", "3.1")
    def test_json_and_ubjson_are_the_same_document(self):
        frame, y = TestCategories().frame()
        booster = xgb.XGBRegressor(**FAST, enable_categorical=True).fit(frame, y).get_booster()
        binary = read(bytes(booster.save_raw(raw_format="ubj")))
        text = json.loads(bytes(booster.save_raw(raw_format="json")))

        def plain(value):
            if isinstance(value, dict):
                return {key: plain(item) for key, item in value.items()}
            if isinstance(value, list | np.ndarray):
                return [plain(item) for item in value]
            return float(np.float32(value)) if isinstance(value, float | np.floating) else value

        assert plain(binary) == plain(text)

    def test_ubjson_by_hand(self):
        data = b"{i\x01aSi\x02hii\x01b[TFZ]i\x01c[#i\x02U\xffI\x01\x00i\x01d[$I#i\x02\x00\x01\xff\xffi\x01e{}}"
        value = read(data)
        assert value.pop("d").tolist() == [1, -1]
        assert value == {"a": "hi", "b": [True, False, None], "c": [255, 256], "e": {}}
        with pytest.raises(Unsupported, match="marker 'H'"):
            read(b"Hi\x0212")


class TestRefusals:
    def learner(self, **options):
        X = rows(80)
        X[:, 2] = np.random.default_rng(80).integers(0, 9, N)
        y = X[:, 2] % 3 + np.nan_to_num(X[:, 0])
        types = ["q", "q", "c", "q", "q"]
        model = xgb.XGBRegressor(**FAST, enable_categorical=True, feature_types=types, **options)
        return stored(model.fit(X, y))["learner"]

    def test_gblinear(self):
        X = np.nan_to_num(rows(81))
        with pytest.raises(Unsupported, match="'gblinear'"):
            convert(xgb.XGBRegressor(booster="gblinear").fit(X, target(X)))

    def test_no_model(self):
        with pytest.raises(Unsupported, match="DMatrix"):
            convert(xgb.DMatrix(rows(81)))

    def test_no_trees(self):
        learner = self.learner()
        learner["gradient_booster"]["model"]["trees"] = []
        with pytest.raises(Unsupported, match="without trees"):
            tree_ensemble(learner)

    def test_unknown_kinds_of_splits(self):
        learner = self.learner()
        tree = learner["gradient_booster"]["model"]["trees"][0]
        tree["split_type"] = [2] * len(tree["split_type"])
        with pytest.raises(Unsupported, match="split_type"):
            tree_ensemble(learner)

    def test_a_column_of_two_kinds(self):
        learner = self.learner()
        for tree in learner["gradient_booster"]["model"]["trees"]:
            tree["split_indices"] = [0] * len(tree["split_indices"])
        with pytest.raises(Unsupported, match="column 0 both"):
            tree_ensemble(learner)

    @needs("xgboost", "3.2")
    @pytest.mark.parametrize("lost", ["leaf_weights", "sum_hessian"])
    def test_vector_leaves_of_earlier_versions(self, lost):
        X = rows(82)
        model = xgb.XGBRegressor(**FAST, multi_strategy="multi_output_tree")
        learner = stored(model.fit(X, np.column_stack([target(X)] * 2)))["learner"]
        for tree in learner["gradient_booster"]["model"]["trees"]:
            del tree[lost]
        with pytest.raises(Unsupported, match="multi_output_tree"):
            tree_ensemble(learner)

    def test_leaves_of_unlike_widths(self):
        learner = self.learner()
        learner["gradient_booster"]["model"]["trees"][0]["tree_param"]["size_leaf_vector"] = "2"
        with pytest.raises(Unsupported, match="different widths"):
            tree_ensemble(learner)

    def test_a_base_score_that_does_not_give_the_models_margin(self, monkeypatch):
        X = rows(83)
        model = xgb.XGBRegressor(**FAST).fit(X, target(X))
        monkeypatch.setattr("pellucid.trees.convert.xgboost.base_scores", lambda *_: np.array([77.0]))
        with pytest.raises(Unsupported, match=r"base score .* 'reg:squarederror'"):
            convert(model)
