"""Contributions to many rows: the memory of the answer, and the same numbers as for few."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer, load

lightgbm = pytest.importorskip("lightgbm")
FEATURES, MANY = 20, 30_000  # 4.8 MB: more than is copied
NAMES = [f"x{j}" for j in range(FEATURES)]


def table(rows=MANY):
    X = np.random.default_rng(0).normal(size=(rows, FEATURES))
    X[::17, 2] = np.nan
    return X


def explainer(X, make=np.asarray, **options):
    y = X[:2000, 0] * X[:2000, 1] + X[:2000, 3]
    model = lightgbm.LGBMRegressor(n_estimators=3, num_leaves=6, n_jobs=1, verbose=-1)
    model.fit(make(X[:2000]), y)
    return Explainer(model, make(X[:2000]), background=20, progress=False, n_jobs=1, **options)


def frame(X):
    return pd.DataFrame(X, columns=NAMES)


def peak(question):
    tracemalloc.start()
    try:
        answer = question()
        return tracemalloc.get_traced_memory()[1], answer
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("game", "make"), [("path", np.asarray), ("path", frame), ("marginal", np.asarray)])
def test_one_array_of_the_answers_size_and_nothing_else_grows_with_the_rows(make, game):
    X = table(90_000)
    ex, few, many = explainer(X, make), make(X[:50_000]), make(X)
    ex.shap(few[:200], game=game)  # what does not depend on the rows
    (less, first), (more, second) = (peak(lambda rows=rows: ex.shap(rows, game=game)) for rows in (few, many))
    answer = second.values.nbytes - first.values.nbytes
    assert more - less <= 1.2 * answer


@pytest.mark.parametrize("make", [np.asarray, frame])
def test_rows_are_those_of_a_few(make):
    X = table()
    ex = explainer(X, make)
    many, few = ex.shap(make(X), game="path"), ex.shap(make(X[20_000:20_300]), game="path")
    assert not isinstance(many.data, tuple)
    assert isinstance(few.data, tuple)
    for some in (many[20_000:20_300], few):
        assert some.values.tobytes() == few.values.tobytes()
        assert some.prediction.tobytes() == few.prediction.tobytes()
        assert [column.tobytes() for column in some.data] == [column.tobytes() for column in few.data]
        assert some.entries.rarity.share.tobytes() == few.entries.rarity.share.tobytes()
        assert some.entries.rarity.side.tobytes() == few.entries.rarity.side.tobytes()
    assert many.data[-1].tobytes() == X[:, -1].tobytes()
    assert many["x3"].shape == (MANY,)


def test_features_that_the_trees_do_not_know_contribute_nothing():
    X = table()
    ex = explainer(X)
    found = ex.shap(X, game="path")
    used = sorted(set(ex.predictor.model.booster_.trees_to_dataframe()["split_feature"].dropna()))
    assert 0 < len(used) < FEATURES
    silent = [j for j in range(FEATURES) if f"Column_{j}" not in used]
    assert not found.values[:, silent].any()
    assert found.additivity.relative < 1e-12
    assert found.values[:50].tobytes() == ex.shap(X[:50], game="path").values.tobytes()


def test_all_rows_of_X_are_referred_to_as_well():
    X = table()
    own = Explainer(explainer(X).predictor.model, X, background=20, progress=False, n_jobs=1)
    every = own.shap(range(MANY), game="path")
    assert every.values.tobytes() == own.shap(X, game="path").values.tobytes()
    some = own.shap(list(range(0, MANY - 1)), game="path")
    assert some.values.tobytes() == every.values[:-1].tobytes()
    assert some.data[2].tobytes() == X[:-1, 2].tobytes()
    assert some.row_labels.name(7) == "7"


def test_rows_of_other_types_are_cast_as_those_of_a_few():
    X = table()
    ex = explainer(X)
    many, few = (ex.shap(rows.astype(np.float32), game="path") for rows in (X, X[:40]))
    assert many.values[:40].tobytes() == few.values.tobytes()
    turned = frame(X)[NAMES[::-1]]
    assert ex.shap(turned, game="path").values.tobytes() == ex.shap(X, game="path").values.tobytes()


def test_what_a_feature_cannot_be_is_said_at_once():
    X = pd.DataFrame(table()).rename(columns=str)
    X["k"] = pd.Categorical(np.resize(list("abc"), MANY))
    model = lightgbm.LGBMRegressor(n_estimators=2, num_leaves=4, n_jobs=1, verbose=-1).fit(X[:500], X["0"][:500])
    ex = Explainer(model, X[:500], progress=False)
    infinite = X.copy()
    infinite.iloc[-1, 4] = np.inf
    with pytest.raises(ValueError, match=f"'4' is infinite in row {MANY - 1}"):
        ex.shap(infinite, game="path")
    other = X.assign(k=X["k"].astype(object).where(X.index < MANY - 1, "d"))
    with pytest.raises(ValueError, match=r"'d'.*'k'"):
        ex.shap(other, game="path")


def test_a_result_that_refers_to_its_rows_is_sent_and_stored_whole(tmp_path):
    X = table()
    found = explainer(X).shap(X, game="path")
    assert not isinstance(found.data, tuple)
    for again in (pickle.loads(pickle.dumps(found)), load(found[:100].save(tmp_path / "some.json"))):
        assert isinstance(again.data, tuple)
        assert again.data[3][:100].tobytes() == X[:100, 3].tobytes()
    assert len(found.data[1:3]) == 2


def test_columns_that_were_looked_at_are_held_within_limits():
    X = table()
    cells = explainer(X).shap(X, game="path").data
    cells._most = 2 * X[:, 0].nbytes
    assert cells[0] is cells[0]
    assert cells[-1].tobytes() == X[:, -1].tobytes()
    for _ in cells:
        assert sum(column.nbytes for column in cells._held.values()) <= cells._most
