"""Performance: every number against scikit-learn, intervals against repeated draws, caveats firing and silent."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    log_loss,
    mean_absolute_error,
    precision_recall_curve,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    roc_curve,
    root_mean_squared_error,
)
from sklearn.svm import LinearSVC

import pellucid
from golden_files import masked
from pellucid import Explainer, InputError
from pellucid.charts.performance import shown_kinds
from pellucid.charts.performance.calibration import calibration_data
from pellucid.charts.performance.classes import curve_data, threshold_data
from pellucid.charts.performance.confusion import confusion_data
from pellucid.charts.performance.numbers import bin_data, point_data
from pellucid.explanations.performance_titles import chart_title
from pellucid.stats import expit

N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
WEIGHTS = RNG.integers(1, 4, size=N).astype(float)


def binary(weights=None, n=N, seed=0, tied=False):
    """A model whose probabilities are right, and rows drawn from it."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, 3))
    table = np.round(table, 1) if tied else table
    y = np.where(rng.random(n) < expit(2 * table[:, 0]), "yes", "no")

    class Right:
        classes_ = np.array(["no", "yes"])

        def fit(self, X, y=None):
            return self

        def predict(self, X):
            return self.classes_[(X[:, 0] > 0).astype(int)]

        def predict_proba(self, X):
            p = expit(2 * X[:, 0])
            return np.stack([1 - p, p], axis=1)

    return Explainer(Right(), table, y, sample_weight=weights, progress=False), y == "yes", expit(2 * table[:, 0])


# -- two classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_curves_and_areas_are_scikit_learns(weights, tied):
    explainer, y, p = binary(weights, tied=tied)
    found = explainer.performance()
    one = found.ranking("yes")
    given = {"sample_weight": weights}
    assert one.auc == pytest.approx(roc_auc_score(y, p, **given))
    assert one.auc == pytest.approx(found.value("AUC"))
    assert one.average_precision == pytest.approx(average_precision_score(y, p, **given))
    assert one.share == pytest.approx(np.average(y, weights=weights))
    false, true, cuts = roc_curve(y, p, drop_intermediate=False, **given)
    place = [np.flatnonzero(np.isclose(cuts, t) | (cuts == t))[0] for t in one.thresholds]
    np.testing.assert_allclose(one.recall, true[place])
    np.testing.assert_allclose(one.false_alarms, false[place], atol=1e-12)
    precision, recall, at = precision_recall_curve(y, p, **given)
    for t, mine, other in zip(one.thresholds[1:], one.precision[1:], one.recall[1:], strict=True):
        k = np.flatnonzero(np.isclose(at, t))[0]
        assert (mine, other) == pytest.approx((precision[k], recall[k]))


@pytest.mark.parametrize("threshold", [0.01, 0.1, 0.25, 0.5, 0.73, 0.9, 0.99])
def test_any_hundredth_is_an_exact_threshold(threshold):
    explainer, y, p = binary(WEIGHTS, n=N)
    there = explainer.performance().ranking().at(threshold)
    flagged = p >= threshold
    given = {"sample_weight": WEIGHTS, "zero_division": 1.0}
    assert there["precision"] == pytest.approx(precision_score(y, flagged, **given))
    assert there["recall"] == pytest.approx(recall_score(y, flagged, **given))
    assert there["flagged"] == pytest.approx(np.average(flagged, weights=WEIGHTS))
    assert there["false_alarms"] == pytest.approx(np.average(flagged[~y], weights=WEIGHTS[~y]))


def test_a_curve_of_many_rows_is_thinned_but_its_areas_are_not():
    explainer, y, p = binary(n=20_000)
    one = explainer.performance().ranking()
    assert 100 < len(one.thresholds) < 260
    assert one.auc == pytest.approx(roc_auc_score(y, p))
    assert np.trapezoid(one.recall, one.false_alarms) == pytest.approx(one.auc, abs=2e-4)
    assert one.recall[[0, -1]].tolist() == one.false_alarms[[0, -1]].tolist() == [0.0, 1.0]


def test_measures_and_confusion_are_scikit_learns():
    explainer, y, p = binary(WEIGHTS)
    found = explainer.performance()
    assert found.measures == ("error rate", "AUC", "log loss")
    assert found.value("error rate") == pytest.approx(np.average((p > 0.5) != y, weights=WEIGHTS))
    assert found.value("log loss") == pytest.approx(log_loss(y, p, sample_weight=WEIGHTS))
    share = np.average(y, weights=WEIGHTS)
    assert found.constant[found.measures.index("error rate")] == pytest.approx(min(share, 1 - share))
    np.testing.assert_allclose(found.confusion, confusion_matrix(y, p > 0.5, sample_weight=WEIGHTS))
    assert found.frame()["measure"].tolist() == list(found.measures)


def test_calibration_is_scikit_learns_with_an_interval():
    explainer, y, p = binary()
    (bins,) = explainer.performance(bins=8).bins
    observed, predicted = calibration_curve(y, p, n_bins=8, strategy="quantile")
    np.testing.assert_allclose(bins.observed, observed)
    np.testing.assert_allclose(bins.predicted, predicted)
    assert bins.rows.tolist() == [N / 8] * 8
    assert (bins.low < bins.observed + 1e-12).all()
    assert (bins.high > bins.observed - 1e-12).all()


def test_intervals_cover_and_right_probabilities_are_called_right():
    inside, total, called, truth = 0, 0, 0, []
    for seed in range(60):
        explainer, _, _ = binary(seed=seed, n=1000)
        found = explainer.performance()
        (bins,) = found.bins
        inside += int(((bins.low <= bins.predicted) & (bins.predicted <= bins.high)).sum())
        total += len(bins.low)
        called += "well calibrated" in found.findings()[-1]
        truth.append(found.interval("AUC"))
    assert 0.92 < inside / total < 0.98
    assert called >= 54
    auc = roc_auc_score(*(lambda parts: parts[1:])(binary(n=400_000, seed=99)))
    assert sum(low <= auc <= high for low, high in truth) >= 54


def test_probabilities_that_are_too_extreme_are_said_to_be(golden):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(2000, 2))
    y = (rng.random(2000) < expit(table[:, 0])).astype(int)
    sure = LogisticRegression().fit(table, y)
    sure.coef_ *= 3
    found = Explainer(sure, table, y, class_names=["no", "yes"], progress=False).performance()
    golden("performance", "a classifier that is too sure", map(masked, found.findings()))
    assert "too high" in found.findings()[-1]
    assert chart_title(found, "calibration").startswith("Overconfident: where ")


# -- several classes, scores, one class ------------------------------------------------------------------


def test_several_classes_are_ranked_one_against_the_rest(golden):
    data = load_iris()
    model = LogisticRegression(C=0.05, max_iter=500).fit(data.data, data.target)
    found = Explainer(model, data.data, data.target_names[data.target], class_names=data.target_names).performance()
    p = model.predict_proba(data.data)
    assert [one.name for one in found.rankings] == list(data.target_names) == list(found.output_names)
    for k, one in enumerate(found.rankings):
        assert one.auc == pytest.approx(roc_auc_score(data.target == k, p[:, k]))
        assert one.average_precision == pytest.approx(average_precision_score(data.target == k, p[:, k]))
    assert found.value("AUC") == pytest.approx(roc_auc_score(data.target, p, multi_class="ovr"))
    np.testing.assert_allclose(found.confusion, confusion_matrix(data.target, p.argmax(axis=1)))
    assert {row["class"] for row in curve_data(found)} == set(data.target_names)
    golden("performance", "three classes", found.text())


def test_one_explained_class_is_ranked_alone_but_all_are_confused():
    data = load_iris()
    model = LogisticRegression(max_iter=500).fit(data.data, data.target)
    found = Explainer(model, data.data, data.target, output=1).performance()
    assert [one.name for one in found.rankings] == ["1"]
    assert found.confusion.shape == (3, 3)


def test_scores_have_no_calibration():
    y = (X[:, 0] > 0.3).astype(int)
    model = LinearSVC().fit(X, y)
    found = Explainer(model, X, y, progress=False).performance()
    assert found.bins == ()
    assert found.ranking().auc == pytest.approx(roc_auc_score(y, model.decision_function(X)))
    with pytest.raises(InputError, match="kind must be one of"):
        found.plot(kind="calibration")


def test_rows_of_one_class_have_no_ranking():
    y = (X[:, 0] > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    found = Explainer(model, X[y == 1], y[y == 1], progress=False).performance()
    assert found.rankings == ()
    assert "AUC" not in found.measures
    assert found.plot(kind="confusion").spec
    assert found.text()


# -- numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_a_regression_is_scored_as_scikit_learn_does(weights):
    y, f = X.sum(axis=1), X[:, 0] + X[:, 1]
    found = Explainer(lambda Z: Z[:, 0] + Z[:, 1], X, y, sample_weight=weights, progress=False).performance(bins=5)
    given = {"sample_weight": weights}
    assert found.value("R²") == pytest.approx(r2_score(y, f, **given))
    assert found.value("mean absolute error") == pytest.approx(mean_absolute_error(y, f, **given))
    assert found.value("RMSE") == pytest.approx(root_mean_squared_error(y, f, **given))
    (bins,) = found.bins
    assert bins.rows.sum() == pytest.approx(N if weights is None else weights.sum())
    assert np.average(bins.observed, weights=bins.rows) == pytest.approx(np.average(y, weights=weights))
    assert (bins.tenth < 0).all()
    assert (bins.ninetieth > 0).all()
    assert found.off[0, 0] == pytest.approx(np.quantile(np.abs(y - f), 0.5), rel=0.1)
    np.testing.assert_array_equal(found.actual[:, 0], y)


def test_the_error_of_r2_and_rmse_is_that_of_repeated_draws():
    draws = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(300, 2))
        y = table[:, 0] + rng.normal(size=300)
        draws.append(Explainer(lambda Z: Z[:, 0], table, y, checks=False, progress=False).performance())
    for measure in ("R²", "RMSE", "mean absolute error"):
        k = draws[0].measures.index(measure)
        spread = np.std([one.values[k] for one in draws])
        assert np.mean([one.se[k] for one in draws]) == pytest.approx(spread, rel=0.15)


def test_a_bias_at_the_end_is_found_and_said(golden):
    y = np.exp(X[:, 0])
    found = Explainer(lambda Z: 1 + 1.4 * Z[:, 0], X, y, progress=False).performance()
    golden("performance", "a straight line through a curve", map(masked, found.findings()))
    assert found.findings()[-1].startswith("Predictions are too low")
    right = Explainer(lambda Z: np.exp(Z[:, 0]), X, y + RNG.normal(size=N), progress=False).performance()
    assert "unbiased" in right.findings()[-1]


def test_several_outcomes_have_a_chart_each():
    found = Explainer(lambda Z: Z[:, :2], X, X[:, :2] + RNG.normal(size=(N, 2)), progress=False).performance()
    assert len(found.bins) == 2
    assert found.off.shape == (2, 2)
    assert len(found.plot(kind="residuals").spec["concat"]) == 2
    only = found.plot(kind="predicted", output=found.output_names[1])
    assert "concat" not in only.spec
    with pytest.raises(InputError, match="output must be one of"):
        found.plot(output="third")


# -- charts, files, caveats --------------------------------------------------------------------------


def test_charts_show_the_numbers():
    explainer, _, _ = binary()
    found = explainer.performance()
    assert next(row["label"] for row in confusion_data(found))[0] == f"{int(found.confusion[0, 0])}"
    assert len(calibration_data(found)) == len(found.bins[0].rows)
    half = [row["value"] for row in threshold_data(found) if row["threshold"] == 0.5]
    there = found.ranking().at(0.5)
    assert half == pytest.approx([there["precision"], there["recall"], there["flagged"]])
    numbers = Explainer(lambda Z: Z[:, 0], X, X[:, 0] + 1, progress=False).performance()
    assert {round(row["residual"], 9) for row in point_data(numbers, 0, 50)} == {1.0}
    assert len(point_data(numbers, 0, 50)) == 50
    assert [row["residual"] for row in bin_data(numbers, 0)] == pytest.approx([1.0] * 10)


@pytest.mark.parametrize("kind", ["auto", "confusion", "roc", "precision-recall", "calibration", "thresholds"])
def test_every_kind_is_drawn(kind):
    explainer, _, _ = binary()
    assert explainer.performance().plot(kind=kind).spec["$schema"]


def test_it_is_stored_whole(tmp_path):
    explainer, _, _ = binary()
    found = explainer.performance()
    again = pellucid.load(found.save(tmp_path / "performance.json"))
    assert again == found
    assert again.ranking().at(0.5) == found.ranking().at(0.5)


def test_training_data_and_rare_classes_are_caveats():
    y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
    by_heart = RandomForestClassifier(100, bootstrap=False, random_state=0).fit(X, y)
    assert "training-data" in {item.code for item in Explainer(by_heart, X, y, progress=False).performance().caveats}
    rare = np.where(np.arange(N) < 12, 1, 0)
    found = Explainer(LogisticRegression().fit(X, rare), X, rare, progress=False).performance()
    (caveat,) = [item for item in found.caveats if item.code == "rare-class"]
    assert "12 rows" in caveat.message
    fair, _, _ = binary()
    assert fair.performance().caveats == ()


def test_without_an_outcome_the_remedy_is_named():
    with pytest.raises(InputError, match="give y to the Explainer"):
        Explainer(lambda Z: Z[:, 0], X, progress=False).performance()


def test_the_title_of_each_chart_is_its_finding(golden):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(600, 2))
    y = (rng.random(600) < expit(2 * table[:, 0])).astype(int)
    two = Explainer(LogisticRegression().fit(table, y), table, y, class_names=["no", "yes"], progress=False)
    X, species = load_iris(return_X_y=True)
    three = Explainer(LogisticRegression(max_iter=1000).fit(X, species), X, species, progress=False)
    line = LinearRegression().fit(table, np.square(table[:, 0]) + table[:, 1])
    numbers = Explainer(line, table, np.square(table[:, 0]) + table[:, 1], progress=False)
    cases = {"two classes": two, "three classes": three, "numbers": numbers}
    for name, explainer in cases.items():
        found = explainer.performance()
        titles = {kind: chart_title(found, kind) for kind in shown_kinds(found)}
        golden("performance", f"titles: {name}", [f"{kind}: {masked(title)}" for kind, title in titles.items()])
        for kind, title in titles.items():
            assert title.split()[0] in str(found.plot(kind=kind).spec["title"])


def test_which_way_probabilities_are_off():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 1))
    y = (rng.random(4000) < expit(2 * x[:, 0])).astype(int)
    said = {}
    for slope, shift in ((6.0, 0.0), (0.5, 0.0), (2.0, 1.5), (2.0, -1.5), (2.0, 0.0)):
        model = LogisticRegression().fit(x, y)
        model.coef_[:], model.intercept_[:] = slope, shift
        said[slope, shift] = chart_title(Explainer(model, x, y, progress=False).performance(), "calibration")
    first = [title.split(":")[0] for title in said.values()]
    assert first == ["Overconfident", "Underconfident", "Too high", "Too low", "Well calibrated"]
