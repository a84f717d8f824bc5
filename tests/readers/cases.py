"""Models of every kind that pellucid reads, fitted by whatever release is installed: small, seeded, with gaps and categories.

A case is a name, the sort of its table and a function that fits; the table is made again from its numbers wherever the model is
read. What a release cannot fit is left out there, with its reason.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

ROWS, SHOWN = 300, 25
LEVELS = ["amber", "blue", "cyan", "denim", "ecru"]


class Case(NamedTuple):
    """``sort``: "numbers", "gaps" (some missing) or "categories" (one column of words)."""

    name: str
    sort: str
    fit: Callable[[Any, np.ndarray], Any]


def numbers(sort: str) -> np.ndarray:
    """The table as a matrix, a category as its code."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(ROWS, 4)).astype(np.float32).astype(np.float64)
    if sort == "gaps":
        X[rng.random(X.shape) < 0.15] = np.nan
    if sort == "categories":
        X[:, 3] = rng.integers(len(LEVELS), size=ROWS)
    return X


def table(X: np.ndarray, sort: str, *, words: bool = False) -> Any:
    """What the model is given: a matrix, or a frame with a column of categories (of plain words for CatBoost)."""
    if sort != "categories":
        return X
    column = pd.Categorical.from_codes(X[:, 3].astype(int), categories=LEVELS)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    return frame.assign(d=column.astype(str) if words else column)


def outcome(X: np.ndarray) -> np.ndarray:
    Z = np.nan_to_num(X)
    return np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.5 * (Z[:, 3] % 3) - 0.4 * np.isnan(X[:, 0])


def classes(y: np.ndarray) -> np.ndarray:
    return np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))


def positive(y: np.ndarray) -> np.ndarray:
    return (y > 0).astype(float)


def two_targets(y: np.ndarray) -> np.ndarray:
    return np.column_stack([y, y**2])


def of(library: str) -> Iterator[Case]:
    """Everything that is read of a library."""
    return {"xgboost": _xgboost, "lightgbm": _lightgbm, "catboost": _catboost, "scikit-learn": _sklearn, "onnx": _onnx}[
        library
    ]()


# -- XGBoost -----------------------------------------------------------------------------------------


def _xgboost() -> Iterator[Case]:
    import xgboost as xgb

    def trained(label: Callable[[np.ndarray], np.ndarray] = np.asarray, group: bool = False, **params: Any) -> Any:
        def fit(X: Any, y: np.ndarray) -> Any:
            data = xgb.DMatrix(X, label(y), enable_categorical=True)
            if group:
                data.set_group([30] * (ROWS // 30))
            if params.get("objective") == "survival:aft":
                data.set_float_info("label_lower_bound", np.exp(y))
                data.set_float_info("label_upper_bound", np.exp(y))
            return xgb.train({"max_depth": 4, "nthread": 1, "seed": 1, **params}, data, 8)

        return fit

    def estimator(make: str, label: Callable[[np.ndarray], Any] = np.asarray, **params: Any) -> Any:
        def fit(X: Any, y: np.ndarray) -> Any:
            model = getattr(xgb, make)(n_estimators=8, max_depth=4, n_jobs=1, random_state=1, **params)
            return model.fit(X, label(y)).get_booster()

        return fit

    yield Case("gbtree, squared error", "gaps", trained())
    yield Case("gbtree, exact and pruned", "gaps", trained(tree_method="exact", gamma=0.5))
    yield Case("gbtree, base score given", "gaps", trained(base_score=0.7))
    yield Case("gbtree, dropout (since 3.4)", "gaps", trained(rate_drop=0.5))
    yield Case("dart", "gaps", trained(booster="dart", rate_drop=0.5))
    yield Case(
        "dart, three classes",
        "gaps",
        trained(classes, booster="dart", rate_drop=0.5, objective="multi:softprob", num_class=3),
    )
    yield Case("forest (XGBRFRegressor)", "gaps", estimator("XGBRFRegressor"))
    yield Case("forest of classes (XGBRFClassifier)", "gaps", estimator("XGBRFClassifier", classes))
    yield Case("boosted forests", "gaps", trained(num_parallel_tree=3, subsample=0.6))
    yield Case("categories, one against the rest", "categories", trained(max_cat_to_onehot=100))
    yield Case("categories in sets", "categories", trained(max_cat_to_onehot=1))
    for objective in ("reg:absoluteerror", "reg:pseudohubererror"):
        yield Case(objective, "gaps", trained(objective=objective))
    for objective in ("binary:logistic", "binary:logitraw", "reg:logistic"):
        yield Case(objective, "gaps", trained(positive, objective=objective))
    for objective in ("count:poisson", "reg:tweedie", "survival:cox"):
        yield Case(objective, "gaps", trained(positive, objective=objective))
    yield Case("reg:gamma", "gaps", trained(np.exp, objective="reg:gamma"))
    yield Case("survival:aft", "gaps", trained(objective="survival:aft"))
    yield Case("rank:ndcg", "gaps", trained(classes, group=True, objective="rank:ndcg"))
    yield Case("rank:pairwise", "gaps", trained(classes, group=True, objective="rank:pairwise"))
    yield Case("multi:softprob", "gaps", trained(classes, objective="multi:softprob", num_class=3))
    yield Case("several quantiles", "gaps", trained(objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9]))
    yield Case("several targets", "gaps", estimator("XGBRegressor", two_targets))
    yield Case(
        "several targets in one leaf",
        "gaps",
        estimator("XGBRegressor", two_targets, multi_strategy="multi_output_tree", tree_method="hist"),
    )


# -- LightGBM ----------------------------------------------------------------------------------------


def _lightgbm() -> Iterator[Case]:
    import lightgbm as lgb

    def trained(label: Callable[[np.ndarray], np.ndarray] = np.asarray, group: bool = False, **params: Any) -> Any:
        def fit(X: Any, y: np.ndarray) -> Any:
            data = lgb.Dataset(X, label(y), group=[30] * (ROWS // 30) if group else None)
            usual = {"num_leaves": 10, "min_data_in_leaf": 5, "num_threads": 1, "verbose": -1, "seed": 1}
            return lgb.train({**usual, **params}, data, 8)

        return fit

    yield Case("gbdt, squared error", "gaps", trained())
    yield Case("gbdt, zero as missing", "gaps", trained(zero_as_missing=True))
    yield Case("gbdt, missing not used", "gaps", trained(use_missing=False))
    yield Case("dart", "gaps", trained(boosting="dart", drop_rate=0.5))
    yield Case("goss", "gaps", trained(boosting="goss", learning_rate=0.5))
    yield Case("forest", "gaps", trained(boosting="rf", bagging_freq=1, bagging_fraction=0.6))
    yield Case(
        "forest of classes",
        "gaps",
        trained(classes, boosting="rf", bagging_freq=1, bagging_fraction=0.6, objective="multiclass", num_class=3),
    )
    yield Case("categories, one against the rest", "categories", trained(max_cat_to_onehot=100, min_data_per_group=5))
    yield Case("categories in sets", "categories", trained(max_cat_to_onehot=1, min_data_per_group=5, cat_smooth=1))
    for objective in ("l1", "huber", "quantile"):
        yield Case(objective, "gaps", trained(objective=objective))
    for objective in ("binary", "cross_entropy", "poisson", "tweedie"):
        yield Case(objective, "gaps", trained(positive, objective=objective))
    yield Case("gamma", "gaps", trained(np.exp, objective="gamma"))
    yield Case("lambdarank", "gaps", trained(classes, group=True, objective="lambdarank"))
    yield Case("rank_xendcg", "gaps", trained(classes, group=True, objective="rank_xendcg"))
    for objective in ("multiclass", "multiclassova"):
        yield Case(objective, "gaps", trained(classes, objective=objective, num_class=3))


# -- CatBoost ----------------------------------------------------------------------------------------


def _catboost() -> Iterator[Case]:
    import catboost as cat

    def trained(label: Callable[[np.ndarray], np.ndarray] = np.asarray, group: bool = False, **params: Any) -> Any:
        def fit(X: Any, y: np.ndarray) -> Any:
            named = [X.columns.get_loc("d")] if isinstance(X, pd.DataFrame) else None
            groups = np.repeat(np.arange(ROWS // 30), 30) if group else None
            pool = cat.Pool(X, label(y), cat_features=named, group_id=groups)
            usual = {
                "iterations": 8,
                "depth": 4,
                "thread_count": 1,
                "verbose": 0,
                "allow_writing_files": False,
                "random_seed": 1,
            }
            return cat.CatBoost({**usual, **params}).fit(pool)

        return fit

    for policy in ("SymmetricTree", "Depthwise", "Lossguide"):
        yield Case(f"RMSE, {policy}", "gaps", trained(grow_policy=policy))
    yield Case("missing as the highest", "gaps", trained(nan_mode="Max"))
    yield Case("categories, one against the rest", "categories", trained(one_hot_max_size=100))
    yield Case("categories by target statistics", "categories", trained(one_hot_max_size=1, max_ctr_complexity=4))
    for loss in ("MAE", "Quantile:alpha=0.3"):
        yield Case(loss, "gaps", trained(loss_function=loss))
    for loss in ("Logloss", "CrossEntropy", "Poisson"):
        yield Case(loss, "gaps", trained(positive, loss_function=loss))
    yield Case("Tweedie", "gaps", trained(np.exp, loss_function="Tweedie:variance_power=1.5"))
    yield Case("Cox", "gaps", trained(np.exp, loss_function="Cox"))
    yield Case("YetiRank", "gaps", trained(classes, group=True, loss_function="YetiRank"))
    for loss in ("MultiClass", "MultiClassOneVsAll"):
        yield Case(loss, "gaps", trained(classes, loss_function=loss))
    yield Case("MultiRMSE", "gaps", trained(two_targets, loss_function="MultiRMSE"))


# -- scikit-learn and ONNX ---------------------------------------------------------------------------


def _sklearn() -> Iterator[Case]:
    from sklearn import ensemble, tree

    def estimator(module: Any, make: str, label: Callable[[np.ndarray], Any] = np.asarray, **params: Any) -> Any:
        return lambda X, y: getattr(module, make)(random_state=1, **params).fit(X, label(y))

    few = {"n_estimators": 8}
    for kind, label in (("Regressor", np.asarray), ("Classifier", classes)):
        yield Case(f"DecisionTree{kind}", "gaps", estimator(tree, f"DecisionTree{kind}", label, max_depth=5))
        yield Case(f"ExtraTree{kind}", "numbers", estimator(tree, f"ExtraTree{kind}", label, max_depth=5))
        yield Case(f"RandomForest{kind}", "gaps", estimator(ensemble, f"RandomForest{kind}", label, **few))
        yield Case(f"ExtraTrees{kind}", "gaps", estimator(ensemble, f"ExtraTrees{kind}", label, **few))
        yield Case(f"GradientBoosting{kind}", "numbers", estimator(ensemble, f"GradientBoosting{kind}", label, **few))
        hist = {"max_iter": 8, "early_stopping": False}
        yield Case(
            f"HistGradientBoosting{kind}", "gaps", estimator(ensemble, f"HistGradientBoosting{kind}", label, **hist)
        )
        yield Case(
            f"HistGradientBoosting{kind}, categories",
            "categories",
            estimator(ensemble, f"HistGradientBoosting{kind}", label, categorical_features="from_dtype", **hist),
        )
    for loss in ("poisson", "gamma", "quantile", "absolute_error"):
        more = {"quantile": 0.3} if loss == "quantile" else {}
        yield Case(
            f"HistGradientBoostingRegressor, {loss}",
            "gaps",
            estimator(ensemble, "HistGradientBoostingRegressor", np.exp, loss=loss, **hist, **more),
        )


def _onnx() -> Iterator[Case]:
    from sklearn import ensemble

    for make, label in (
        ("RandomForestRegressor", np.asarray),
        ("RandomForestClassifier", classes),
        ("GradientBoostingRegressor", np.asarray),
        ("GradientBoostingClassifier", positive),
    ):
        yield Case(
            make,
            "numbers",
            lambda X, y, make=make, label=label: getattr(ensemble, make)(n_estimators=8, random_state=1).fit(
                X, label(y)
            ),
        )
