"""Triage: wrong labels are found, and the list says how well it finds them."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import pellucid
from golden_files import masked


def table(n=400, wrong=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)
    flipped = rng.choice(n, wrong, replace=False)
    y[flipped] = 1 - y[flipped]
    return X, y, flipped


@pytest.mark.parametrize("model", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=10, random_state=0)])
def test_wrong_labels_come_first(model):
    X, y, flipped = table()
    found = pellucid.Explainer(model.fit(X, y), X, y).triage()
    share = np.isin(flipped, found.ranking(40)).mean()
    assert share > 0.7
    assert abs(share - found.found) < 0.25  # what was promised is what happens
    assert found.curves.shape == (3, 101)
    assert np.allclose(found.curves[:, -1], 1)
    assert len(found.influence) == 400


def test_out_of_fold_losses_are_those_of_models_without_the_row():
    X, y, _ = table(60, 3)
    found = pellucid.Explainer(LogisticRegression().fit(X, y), X, y).triage(folds=2)
    own = LogisticRegression().fit(X, y).predict_proba(X)[np.arange(60), y]
    assert found.loss.mean() > -np.log(own).mean()
    assert np.allclose(found.loss, -np.log(found.belief))
    # Listed by the mean of four losses: the three dealings' and the model's.
    assert found.chosen == "both"
    outside = (4 * found.values + np.log(own)) / 3
    assert (outside >= found.loss - 1e-6).all()  # the mean of logarithms is below the logarithm of the mean
    assert np.corrcoef(outside, found.loss)[0, 1] > 0.99


def test_sentences_and_table(golden):
    X, y, _ = table()
    found = pellucid.Explainer(LogisticRegression().fit(X, y), X, y).triage()
    golden("influence", "triage of classes", masked(found.text()))
    assert list(found.frame().columns) == ["row", "given", "expected", "belief", "loss", "influence"]
    for kind in ("curve", "rows"):
        assert found.plot(kind=kind).spec
    z = X[:, 0] + 0.1 * X[:, 1] ** 2
    numbers = pellucid.Explainer(LinearRegression().fit(X, z), X, z).triage()
    golden("influence", "triage of numbers", masked(numbers.text()))


def test_what_cannot_be_triaged():
    X, y, _ = table(60, 3)
    ex = pellucid.Explainer(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(pellucid.InputError, match="at least 100 rows"):
        ex.triage(folds=10)
    with pytest.raises(pellucid.InputError, match="all outcomes are equal"):
        pellucid.Explainer(LinearRegression().fit(X, np.ones(60)), X, np.ones(60)).triage()
