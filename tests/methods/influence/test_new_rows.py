"""New rows are checked before a model is fitted to them: against models really fitted with and without them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

import pellucid
from contracts.fitting import fit
from contracts.tables import KINDS, as_pandas, columns, model, outcome
from golden_files import masked


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + 0.3 * rng.normal(size=n) > 0).to_numpy().astype(int)


def checked(model, X, y, new, **options):
    return pellucid.Explainer(model.fit(X, y), X, y, progress=False).triage(new=new, **options)


def codes_of(found):
    return [caveat.code for caveat in found.caveats]


def test_wrong_labels_of_new_rows_come_first_and_as_many_as_promised():
    X, y = table()
    new, truth = table(400, 1)
    wrong = np.random.default_rng(2).choice(400, 20, replace=False)
    given = truth.copy()
    given[wrong] = 1 - given[wrong]
    logistic = LogisticRegression()
    found = checked(logistic, X, y, (new, given))
    share = np.isin(wrong, found.ranking(40)).mean()
    assert share > 0.7
    assert abs(share - found.found) < 0.25
    own = -np.log(logistic.predict_proba(new)[np.arange(400), given])
    np.testing.assert_allclose(found.values, own)
    assert found.surprise[found.ranking(1)[0]] > 0.95
    assert codes_of(found) == []


@pytest.mark.parametrize("kind", [LinearRegression(), LogisticRegression(tol=1e-8, max_iter=1000)])
def test_influence_is_what_fitting_with_and_without_the_row_gives(kind):
    X, y = table(120)
    new, y_new = table(6, 3)
    new.iloc[0] *= 4
    y_new[0] = 1 - y_new[0]
    found = checked(kind, X, y, (new, y_new))
    every, outcomes = pd.concat([X, new], ignore_index=True), np.append(y, y_new)
    rows = X.iloc[np.linspace(0, 119, 100).astype(int)]

    def said(fitted):
        return fitted.predict_proba(rows) if hasattr(fitted, "predict_proba") else fitted.predict(rows)

    full = said(clone(kind).fit(every, outcomes))
    for i in range(6):
        without = said(clone(kind).fit(every.drop(120 + i), np.delete(outcomes, 120 + i)))
        assert found.influence[i] == pytest.approx(np.abs(full - without).mean(), rel=0.02)
    assert found.standing[0] > 0.99


def test_models_that_are_not_read_are_fitted_with_the_most_suspicious_rows():
    X, y = table(100)
    new, y_new = table(30, 4)
    found = checked(KNeighborsRegressor(3), X, y.astype(float), (new, y_new.astype(float)))
    tried = np.flatnonzero(np.isfinite(found.influence))
    assert sorted(tried) == sorted(found.ranking(20))
    i = int(np.nanargmax(found.influence))
    assert found.influence[i] > 0
    with_it = KNeighborsRegressor(3).fit(pd.concat([X, new.iloc[[i]]]), np.append(y, y_new[i]).astype(float))
    without = KNeighborsRegressor(3).fit(X, y.astype(float))
    assert found.influence[i] == pytest.approx(np.abs(with_it.predict(X) - without.predict(X)).mean())
    assert len(found.standing) == 0


def test_trees_say_how_far_they_are_from_fitting_again():
    X, y = table(200)
    new, y_new = table(20, 5)
    boosted = HistGradientBoostingRegressor(max_iter=5, early_stopping=False)
    found = checked(boosted, X, y.astype(float), (new, y_new.astype(float)))
    assert found.settings["how"] == "trees kept"
    assert found.settings["gap"] > 0.25
    assert "not-refitted" in codes_of(found)


def test_rows_from_elsewhere_and_rows_that_were_seen_are_told():
    X, y = table()
    new, y_new = table(60, 6)
    away = checked(LogisticRegression(), X, y, (new, 1 - y_new))
    assert "new-rows-differ" in codes_of(away)
    again = checked(LogisticRegression(), X, y, (X.head(60), y[:60]))
    assert again.settings["seen"] == 1
    assert "rows-seen" in codes_of(again)


def test_new_rows_may_be_another_kind_of_table():
    table = as_pandas(columns())
    y = outcome(table)
    found = {}
    for kind in ("pandas", "polars", "arrow", "records"):
        ex = pellucid.Explainer(model, KINDS[kind](columns()), y, progress=False)
        found[kind] = ex.triage(new=(table.iloc[3:9], y[3:9] + 1), folds=2, refit=fit)
    for other in found.values():
        np.testing.assert_allclose(other.values, found["pandas"].values)
        np.testing.assert_allclose(other.influence, found["pandas"].influence)


def test_sentences_table_and_charts(golden):
    X, y = table()
    new, y_new = table(40, 7)
    found = checked(LogisticRegression(), X, y, (new, y_new))
    golden("influence", "new rows of classes", masked(found.text()))
    assert list(found.frame().columns) == [
        "row",
        "given",
        "expected",
        "belief",
        "loss",
        "surprise",
        "influence",
        "standing",
    ]
    for kind in ("curve", "rows"):
        assert found.plot(kind=kind).spec
    one = checked(LinearRegression(), X, y.astype(float), (new.head(1), [2.5]))
    golden("influence", "a new row of numbers", masked(one.text()))
    assert len(one) == 1
    same = pellucid.Explainer(LogisticRegression().fit(X, y), X, y, progress=False).triage(new=(new, y_new))
    assert same.text() == found.text()


def test_errors_name_what_is_wrong():
    X, y = table()
    ex = pellucid.Explainer(LogisticRegression().fit(X, y), X, y, progress=False)
    new, _ = table(5, 8)
    with pytest.raises(pellucid.InputError, match="y is 3 in row 0"):
        ex.triage(new=(new, [3, 0, 0, 1, 1]))
    with pytest.raises(pellucid.InputError, match="lack the feature 'c'"):
        ex.triage(new=(new[["a", "b"]], [0, 0, 0, 1, 1]))
    with pytest.raises(pellucid.InputError, match="new"):
        ex.triage(new=new)
    with pytest.raises(pellucid.InputError, match="y"):
        ex.triage(new=(new, [0, 1]))
