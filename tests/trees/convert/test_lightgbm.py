"""LightGBM's trees: their sum is the model's own raw score, to the last digits, on the corners of rows too."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pellucid.errors import InputError
from pellucid.trees.convert import Unsupported, convert
from pellucid.trees.convert.lightgbm import meaning, sections, tree_ensemble

lgb = pytest.importorskip("lightgbm")

N, P = 500, 5
FAST = {"n_estimators": 12, "num_leaves": 12, "verbose": -1, "n_jobs": 1, "min_child_samples": 5}
TINY = float(np.float32(1e-35))


def rows(seed=0, n=N, gaps=0.15, zeros=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    X[rng.random(X.shape) < gaps] = np.nan
    X[rng.random(X.shape) < zeros] = 0
    return X


def target(X, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.nan_to_num(X)
    return np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.1 * rng.normal(size=len(X))


def booster_of(model):
    return model.booster_ if isinstance(model, lgb.LGBMModel) else model


def corners(model, X, seed=1):
    """Rows with a value on a threshold, a double beside it, or one of the odd numbers."""
    rng = np.random.default_rng(seed)
    _, trees = sections(booster_of(model).model_to_string())
    pairs = {
        (int(feature), float(threshold))
        for tree in trees
        for feature, threshold, bits in zip(
            tree["split_feature"].split(), tree["threshold"].split(), tree["decision_type"].split(), strict=True
        )
        if int(bits) % 2 == 0
    }
    odd = (np.nan, np.inf, -np.inf, 1e300, -1e300, 0.0, -0.0, 5e-324, TINY, -TINY, 1e-35, -1e-35)
    odd += (np.nextafter(TINY, 1), np.nextafter(-TINY, -1))
    out = []
    for feature, t in sorted(pairs):
        for value in (t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf), *odd):
            row = X[rng.integers(len(X))].copy()
            row[feature] = value
            out.append(row)
    return np.array(out)


def raw_scores(model, table):
    raw = np.asarray(booster_of(model).predict(table, raw_score=True))
    return raw.reshape(len(raw), -1)


def assert_same(model, table):
    known = convert(model)
    own = raw_scores(model, table)
    raw = known.ensemble.predict(known.encode(table))
    assert raw.shape == own.shape
    np.testing.assert_allclose(raw, own, rtol=1e-11, atol=1e-12)
    return known


def assert_equal_everywhere(model, X):
    known = assert_same(model, X)
    assert_same(model, corners(model, X))
    return known


class TestScores:
    def test_regression(self):
        X = rows()
        known = assert_equal_everywhere(lgb.LGBMRegressor(**FAST).fit(X, target(X)), X)
        assert (known.link, known.scale, known.fill) == ("identity", "response", 0)
        assert known.source.tolist() == list(range(P))

    @pytest.mark.parametrize(
        ("objective", "link", "scale"),
        [
            ("regression_l1", "identity", "response"),
            ("huber", "identity", "response"),
            ("fair", "identity", "response"),
            ("quantile", "identity", "response"),
            ("mape", "identity", "response"),
            ("binary", "logistic", "log-odds"),
            ("cross_entropy", "logistic", "log-odds"),
            ("cross_entropy_lambda", "other", "score"),
            ("poisson", "exp", "score"),
            ("gamma", "exp", "score"),
            ("tweedie", "exp", "score"),
            ("lambdarank", "identity", "score"),
            ("rank_xendcg", "identity", "score"),
        ],
    )
    def test_objectives(self, objective, link, scale):
        X = rows(2)
        y = (target(X) > 0.4).astype(float) + (1.0 if objective == "gamma" else 0.0)
        group = [50] * 10 if "rank" in objective else None
        params = {"objective": objective, "verbose": -1, "num_leaves": 8, "num_threads": 1}
        model = lgb.train(params, lgb.Dataset(X, y, group=group), 8)
        known = assert_equal_everywhere(model, X)
        assert (known.link, known.scale) == (link, scale)
        links = {
            "identity": lambda s: s,
            "exp": np.exp,
            "logistic": lambda s: 1 / (1 + np.exp(-s)),
            "other": lambda s: np.log1p(np.exp(s)),
        }
        predicted = links[link](known.ensemble.predict(known.encode(X))[:, 0])
        np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-9)

    @pytest.mark.parametrize("n_classes", [3, 12])
    @pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
    def test_classes(self, n_classes, objective):
        X = rows(3)
        model = lgb.LGBMClassifier(**FAST, objective=objective).fit(X, pd.qcut(target(X), n_classes, labels=False))
        known = assert_equal_everywhere(model, X)
        raw = known.ensemble.predict(known.encode(X))
        if objective == "multiclass":
            assert (known.link, known.scale) == ("softmax", "score")
            proba = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        else:
            assert (known.link, known.scale) == ("one-vs-rest", "log-odds")
            proba = 1 / (1 + np.exp(-raw))
        np.testing.assert_allclose(proba, model.predict_proba(X), rtol=1e-9)

    def test_a_steeper_sigmoid_is_no_log_odds(self):
        X = rows(4)
        known = assert_same(lgb.LGBMClassifier(**FAST, sigmoid=2.0).fit(X, target(X) > 0), X)
        assert (known.link, known.scale) == ("other", "score")

    def test_roots_of_targets(self):
        X = rows(4)
        known = assert_same(lgb.LGBMRegressor(**FAST, reg_sqrt=True).fit(X, np.exp(target(X))), X)
        assert known.link == "other"

    def test_own_objective(self):
        X = rows(4)
        model = lgb.LGBMRegressor(**FAST, objective=lambda y, p: (p - y, np.ones_like(p)))
        assert assert_equal_everywhere(model.fit(X, target(X)), X).link == "identity"

    def test_dart(self):
        X = rows(5)
        model = lgb.LGBMRegressor(**FAST, boosting_type="dart", drop_rate=0.5, skip_drop=0.0)
        assert_equal_everywhere(model.fit(X, target(X)), X)

    @pytest.mark.parametrize("n_classes", [1, 2, 3])
    def test_forests_are_averages(self, n_classes):
        X = rows(6)
        options = {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}
        if n_classes == 1:
            model = lgb.LGBMRegressor(**FAST, **options).fit(X, target(X))
        else:
            y = pd.qcut(target(X), n_classes, labels=False)
            model = lgb.LGBMClassifier(**FAST, **options).fit(X, y)
        known = convert(model)
        raw = known.ensemble.predict(known.encode(X))
        np.testing.assert_allclose(FAST["n_estimators"] * raw, raw_scores(model, X), rtol=1e-11)
        if known.link == "identity":
            predicted = raw
        elif known.link == "logistic":
            predicted = 1 / (1 + np.exp(-raw))
        else:
            predicted = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        own = model.booster_.predict(X)
        np.testing.assert_allclose(predicted, own.reshape(predicted.shape), rtol=1e-9)

    @pytest.mark.parametrize("method", ["basic", "advanced"])
    def test_monotone(self, method):
        X = rows(7)
        model = lgb.LGBMRegressor(**FAST, monotone_constraints=[1, 0, -1, 0, 0], monotone_constraints_method=method)
        assert_equal_everywhere(model.fit(X, target(X)), X)

    def test_single_leaves(self):
        X = rows(8)
        model = lgb.LGBMRegressor(**FAST).fit(X, np.full(N, 3.0))
        assert (assert_same(model, X).ensemble.nodes.feature == -1).all()

    def test_single_leaves_among_trees(self):
        """A class without rows has trees without splits."""
        X = rows(8)
        params = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_leaves": 6, "num_threads": 1}
        model = lgb.train(params, lgb.Dataset(X, (target(X) > 0).astype(int)), 5)
        ensemble = assert_equal_everywhere(model, X).ensemble
        single = ensemble.nodes.feature[ensemble.roots] < 0
        assert single.tolist() == [False, False, True] * 5

    def test_columns_that_no_tree_uses(self):
        X = rows(9)
        known = assert_equal_everywhere(lgb.LGBMRegressor(**FAST).fit(X, np.nan_to_num(X[:, 2])), X)
        assert known.ensemble.n_features == P

    def test_many_trees(self):
        """More than one part of text."""
        X = rows(10)
        options = {**FAST, "n_estimators": 230, "num_leaves": 4}
        assert len(assert_same(lgb.LGBMRegressor(**options).fit(X, target(X)), X).ensemble.roots) == 230
        options = {**FAST, "n_estimators": 45, "num_leaves": 4}
        model = lgb.LGBMClassifier(**options).fit(X, pd.qcut(target(X), 7, labels=False))
        assert len(assert_same(model, X).ensemble.roots) == 45 * 7


class TestMissing:
    @pytest.mark.parametrize("gaps", [0.0, 0.15])
    @pytest.mark.parametrize(
        "options", [{}, {"zero_as_missing": True}, {"use_missing": False}, {"zero_as_missing": True, "max_bin": 7}]
    )
    def test_what_is_missing(self, gaps, options):
        X = rows(20, gaps=gaps, zeros=0.2)
        y = target(X) + (X[:, 3] == 0) + 2 * np.isnan(X[:, 4])
        known = assert_equal_everywhere(lgb.LGBMRegressor(**FAST, **options).fit(X, y), X)
        assert bool(known.encode.zero_missing) == ("zero_as_missing" in options)

    def test_gaps_where_there_were_none(self):
        model = lgb.LGBMRegressor(**FAST).fit(rows(21, gaps=0), target(rows(21, gaps=0)))
        assert_equal_everywhere(model, rows(22, gaps=0.5))

    def test_inputs_are_not_changed(self):
        X = rows(23, zeros=0.2)
        model = lgb.LGBMRegressor(**FAST, zero_as_missing=True).fit(X, target(X))
        before = X.copy()
        assert_same(model, X)
        np.testing.assert_array_equal(X, before)

    def test_absent_cells_are_zero(self):
        X = np.nan_to_num(rows(24))
        cells = sparse.csr_matrix(X)
        for options in ({}, {"zero_as_missing": True}):
            model = lgb.LGBMRegressor(**FAST, **options).fit(cells, target(X))
            known = assert_same(model, cells)
            np.testing.assert_array_equal(known.encode(cells), known.encode(X))
            assert known.encode(cells).dtype == np.float64


CODES = [0, 1, 2, 3, 0.5, -0.5, -1, -7, 1.5, 2.9, 31, 32, 63, 64, 64.5, 65, 90, 99, 100, 127, 128]
CODES += [1e9, 2.0**31 - 1, 2.0**31, 3e38, 1e300, np.nan, np.inf, -np.inf]


class TestCategories:
    @pytest.mark.parametrize("n_categories", [3, 32, 33, 64, 65, 100, 300])
    @pytest.mark.parametrize("max_cat_to_onehot", [1, 1000])
    @pytest.mark.parametrize("use_missing", [True, False])
    def test_codes(self, n_categories, max_cat_to_onehot, use_missing):
        rng = np.random.default_rng(30)
        X = rows(30, 2000)
        X[:, 2] = rng.integers(0, n_categories, len(X))
        X[rng.random(len(X)) < 0.1, 2] = np.nan
        effect = rng.normal(size=n_categories + 1)
        y = np.nan_to_num(X[:, 0]) + effect[np.nan_to_num(X[:, 2], nan=n_categories).astype(int)]
        data = lgb.Dataset(X, y, categorical_feature=[2])
        params = {"verbose": -1, "num_leaves": 15, "min_data_per_group": 5, "cat_smooth": 1, "num_threads": 1}
        params |= {"use_missing": use_missing, "max_cat_to_onehot": max_cat_to_onehot, "min_data_in_leaf": 3}
        model = lgb.train(params, data, 12)
        known = assert_equal_everywhere(model, X)
        assert (known.ensemble.nodes.set_start >= 0).any()
        odd = np.repeat(X[:20], len(CODES), axis=0)
        odd[:, 2] = CODES * 20
        assert_same(model, odd)

    def frame(self):
        rng = np.random.default_rng(31)
        frame = pd.DataFrame(rows(31)[:, :2], columns=["a", "b"])
        frame["word"] = pd.Categorical(rng.choice(["rouge", "gr\u00fcn", "blue", None], N))
        frame["number"] = pd.Categorical(rng.choice([5, -3, 1000], N))
        frame["whole"] = pd.array(rng.integers(0, 9, N), dtype="Int64")
        frame.loc[3, "whole"] = pd.NA
        frame["flag"] = rng.random(N) < 0.5
        y = np.nan_to_num(frame["a"]) + (frame["word"] == "blue") - 2 * (frame["number"] == 5).astype(float)
        return frame, y + frame["whole"].fillna(0).astype(float)

    def fitted(self):
        frame, y = self.frame()
        return lgb.LGBMRegressor(**FAST, min_data_per_group=5).fit(frame, y), frame

    def test_frames(self):
        model, frame = self.fitted()
        before = frame.copy(deep=True)
        known = assert_same(model, frame)
        assert (known.ensemble.nodes.set_start >= 0).any()
        pd.testing.assert_frame_equal(frame, before)
        assert_same(lgb.Booster(model_str=model.booster_.model_to_string()), frame)

    def test_thresholds_of_numbers_beside_sets(self):
        """A split that only parts the missing values off has a threshold beyond all whole numbers."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame(
            {
                "a": np.where(rng.random(N) < 0.3, np.nan, rng.integers(0, 5, N)),
                "k": pd.Categorical(rng.choice(list("uvw"), N)),
            }
        )
        model = lgb.LGBMRegressor(**FAST).fit(X, X["a"].isna() * 2 + (X["k"] == "u"))
        _, trees = sections(model.booster_.model_to_string())
        assert any(tree["num_cat"] != "0" for tree in trees)
        assert max(float(t) for tree in trees for t in tree["threshold"].split()) > 2**63
        assert_same(model, X)

    def test_other_levels(self):
        model, frame = self.fitted()
        other = frame.assign(
            word=frame["word"].cat.set_categories(["never", "rouge", "blue"]),
            number=frame["number"].cat.rename_categories({-3: 17}),
        )
        assert_same(model, other)

    def test_codes_in_a_matrix(self):
        model, frame = self.fitted()
        known = convert(model)
        assert_same(model.booster_, known.encode(frame))

    def test_another_number_of_categorical_columns(self):
        model, frame = self.fitted()
        with pytest.raises(InputError, match=r"2 columns of categories.*1"):
            convert(model).encode(frame.assign(number=1.0))

    def test_a_model_trained_without_frames_takes_the_frames_codes(self):
        model, frame = self.fitted()
        matrix = convert(model).encode(frame)
        plain = lgb.train(
            {"verbose": -1, "min_data_per_group": 5},
            lgb.Dataset(matrix, np.nan_to_num(matrix[:, 0]), categorical_feature=[2, 3]),
            5,
        )
        assert plain.pandas_categorical is None
        assert_same(plain, frame)


class TestRounds:
    @pytest.mark.parametrize("n_classes", [1, 3])
    def test_best_iteration(self, n_classes):
        """A booster that is kept has the later trees too, and does not use them."""
        X = rows(40)
        y = target(X) if n_classes == 1 else pd.qcut(target(X), n_classes, labels=False)
        params = {"verbose": -1, "num_leaves": 12, "learning_rate": 0.3, "num_threads": 1}
        params |= {"objective": "multiclass", "num_class": n_classes} if n_classes > 1 else {}
        data = lgb.Dataset(X[:250], y[:250])
        model = lgb.train(
            params,
            data,
            300,
            valid_sets=[data.create_valid(X[250:], y[250:])],
            callbacks=[lgb.early_stopping(3, verbose=False)],
            keep_training_booster=True,
        )
        assert 1 < model.best_iteration < model.current_iteration()
        assert len(assert_equal_everywhere(model, X).ensemble.roots) == n_classes * model.best_iteration

    # Earlier versions know no other argument.
    @pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
    def test_an_estimator_with_early_stopping(self):
        X = rows(40)
        model = lgb.LGBMRegressor(**{**FAST, "n_estimators": 80, "learning_rate": 0.3})
        stop = lgb.early_stopping(3, verbose=False)
        model.fit(X[:250], target(X)[:250], eval_set=[(X[250:], target(X)[250:])], callbacks=[stop])
        assert model.best_iteration_ < 80
        assert len(assert_equal_everywhere(model, X).ensemble.roots) == model.best_iteration_

    def test_continued_training(self):
        """The second half has gaps where the first had none."""
        first = lgb.LGBMRegressor(**FAST).fit(rows(41, gaps=0), target(rows(41)))
        X = rows(42)
        second = lgb.LGBMRegressor(**FAST).fit(X, target(X), init_model=first)
        known = assert_equal_everywhere(second, X)
        assert len(known.ensemble.roots) == 2 * FAST["n_estimators"]

    def test_refitted_leaves(self):
        X = rows(43)
        model = lgb.LGBMRegressor(**FAST).fit(X, target(X)).booster_
        assert_equal_everywhere(model.refit(X, 5 * target(X), decay_rate=0.2), X)


class TestDoors:
    def test_files(self, tmp_path):
        X = rows(50)
        model = lgb.LGBMClassifier(**FAST).fit(X, pd.qcut(target(X), 3, labels=False))
        model.booster_.save_model(tmp_path / "model.txt")
        known = assert_equal_everywhere(lgb.Booster(model_file=tmp_path / "model.txt"), X)
        np.testing.assert_array_equal(known.ensemble.nodes.value, convert(model).ensemble.nodes.value)

    @pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.float16])
    def test_kinds_of_numbers(self, dtype):
        X = (rows(51, gaps=0) * 40).astype(dtype)
        assert_same(lgb.LGBMRegressor(**FAST).fit(X, target(rows(51, gaps=0))).booster_, X)

    def test_whole_numbers_are_rounded_in_a_matrix_but_not_in_a_frame(self):
        X = np.random.default_rng(52).integers(2**26, 2**26 + 60, size=(N, P))
        model = lgb.LGBMRegressor(**FAST).fit(X.astype(np.float64), X[:, 0] % 7).booster_
        for table in (X, X.astype(np.float64), pd.DataFrame(X)):
            assert_same(model, table)
        known = convert(model)
        assert not np.array_equal(known.encode(X), known.encode(pd.DataFrame(X)))

    def test_it_can_be_pickled(self):
        X = rows(53)
        known = convert(lgb.LGBMRegressor(**FAST).fit(X, target(X)))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(known)).encode(X), known.encode(X))


def test_cover_is_the_count_of_rows():
    X = rows(60)
    model = lgb.LGBMClassifier(**FAST).fit(X, target(X) > 0)
    table = model.booster_.trees_to_dataframe()
    nodes = convert(model).ensemble.nodes
    for t, (_, tree) in enumerate(table.groupby("tree_index")):
        root = convert(model).ensemble.roots[t]
        assert nodes.cover[root] == tree["count"].iloc[0] == N
        own = nodes.cover[root : root + len(tree)]
        assert sorted(own) == sorted(tree["count"])
    inner = nodes.feature >= 0
    np.testing.assert_array_equal(nodes.cover[inner], nodes.cover[nodes.left[inner]] + nodes.cover[nodes.right[inner]])


def test_expected_value_along_covers_is_lightgbms_bias():
    X = rows(61)
    model = lgb.LGBMRegressor(**FAST, subsample=0.5, subsample_freq=1).fit(X, target(X))
    bias = model.predict(X[:1], pred_contrib=True)[0, -1]
    ensemble = convert(model).ensemble
    nodes = ensemble.nodes
    value = nodes.value[:, 0].copy()
    for i in np.flatnonzero(nodes.feature >= 0)[::-1]:
        a, b = nodes.left[i], nodes.right[i]
        value[i] = (nodes.cover[a] * value[a] + nodes.cover[b] * value[b]) / nodes.cover[i]
    assert value[ensemble.roots].sum() == pytest.approx(bias, rel=1e-9)


class TestRefusals:
    def text(self, **options):
        X = rows(70, zeros=0.2)
        return lgb.LGBMRegressor(**FAST, **options).fit(X, target(X)).booster_.model_to_string()

    def test_linear_trees(self):
        X = np.nan_to_num(rows(71))
        with pytest.raises(Unsupported, match="linear_tree"):
            convert(lgb.LGBMRegressor(**FAST, linear_tree=True).fit(X, target(X)))

    def test_no_model(self):
        with pytest.raises(Unsupported, match="Dataset"):
            convert(lgb.Dataset(rows(71)))

    @pytest.mark.parametrize("bits", ["16", "12", "-1"])
    def test_unknown_decision_bits(self, bits):
        head, trees = sections(self.text())
        trees[1]["decision_type"] = " ".join([bits] * len(trees[1]["decision_type"].split()))
        with pytest.raises(Unsupported, match="decision_type"):
            tree_ensemble(head, trees)

    def test_unknown_version(self):
        head, trees = sections(self.text())
        with pytest.raises(Unsupported, match="'v9'"):
            tree_ensemble({**head, "version": "v9"}, trees)

    def test_splits_in_another_order(self):
        head, trees = sections(self.text())
        trees[0]["left_child"] = " ".join(["0"] * len(trees[0]["left_child"].split()))
        with pytest.raises(Unsupported, match="numbered"):
            tree_ensemble(head, trees)

    def test_zeros_that_are_missing_in_some_splits_only(self):
        X = rows(72, zeros=0.2)
        first = lgb.LGBMRegressor(**FAST, zero_as_missing=True).fit(X, target(X))
        second = lgb.LGBMRegressor(**FAST).fit(X, target(X), init_model=first)
        with pytest.raises(Unsupported, match="zeros of column 0"):
            convert(second)

    def test_zeros_that_are_missing_in_some_splits_and_compared_in_others(self):
        """Without NaN in the other splits a missing value is a zero there: nothing is lost."""
        X = rows(73, zeros=0.2)
        first = lgb.LGBMRegressor(**FAST, zero_as_missing=True).fit(X, target(X))
        second = lgb.LGBMRegressor(**FAST, use_missing=False).fit(X, target(X), init_model=first)
        assert_equal_everywhere(second, X)

    def test_a_model_that_does_not_agree(self, monkeypatch):
        X = rows(74)
        model = lgb.LGBMRegressor(**FAST).fit(X, target(X))
        monkeypatch.setattr(lgb.Booster, "predict", lambda *_, **__: np.array([77.0]))
        with pytest.raises(Unsupported, match="does not give its predictions"):
            convert(model)


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("binary sigmoid:1", ("logistic", "log-odds")),
        ("binary sigmoid:0.5", ("other", "score")),
        ("multiclassova num_class:3 sigmoid:2", ("other", "score")),
        ("multiclass num_class:3", ("softmax", "score")),
        ("regression sqrt", ("other", "score")),
        ("tweedie tweedie_variance_power:1.5", ("exp", "score")),
        ("something new", ("other", "score")),
        ("", ("identity", "score")),
    ],
)
def test_objectives_as_written(objective, expected):
    assert meaning(objective) == expected
