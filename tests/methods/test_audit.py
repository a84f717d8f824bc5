"""Audit: each question finds the model that it is about, and leaves a clean one alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import pellucid
from golden_files import masked, titles
from pellucid import Explainer
from pellucid.charts.audit import audit_data
from reference.attack import above, attack


def numbers(n=400, p=6, seed=0):
    """Independent features, and an outcome that three of them decide, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + 2 * X[:, 1] - X[:, 2] + rng.normal(size=n)


def codes(result):
    return {caveat.code for caveat in result.caveats}


@pytest.mark.parametrize("seed", range(10))
def test_a_clean_model_is_left_alone(seed):
    X, y = numbers(seed=seed)
    found = Explainer(LinearRegression().fit(*numbers(seed=99)), X, y).audit()
    assert found.caveats == ()
    assert found.severity == 0.0
    assert [line.topic for line in found.lines] == [
        "reproducibility", "score", "overfitting", "correlated features", "one feature changed", "two rows mixed",
        "every feature drawn alone", "hidden reliance",
    ]  # fmt: skip
    assert found.line("hidden reliance").value == 0.0


def test_a_clean_classifier_of_a_frame_with_categories_is_left_alone():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400), "c": rng.integers(0, 3, 400)})
    y = (X["a"] + rng.normal(size=400) > 0).astype(int)
    found = Explainer(LogisticRegression().fit(X, y), X.assign(c=X["c"]), y).audit()
    assert found.caveats == ()


def test_a_constant_model_has_no_score():
    X, y = numbers()
    found = Explainer(lambda Z: np.full(len(Z), y.mean()), X, y).audit()
    assert codes(found) == {"poor-model"}
    line = found.line("score")
    assert line.value == pytest.approx(1.0)
    assert 0 < line.severity <= 1
    assert line.threshold == 0.95


def test_the_score_is_the_loss_over_that_of_a_constant():
    X, y = numbers()
    model = LinearRegression().fit(X[:, :1], y)
    found = Explainer(lambda Z: model.predict(Z[:, :1]), X, y).audit()
    assert found.line("score").value == pytest.approx(np.mean((y - model.predict(X[:, :1])) ** 2) / y.var())


def test_a_model_on_its_own_training_rows_is_noticed():
    X, y = numbers()
    by_heart = dict(zip(map(bytes, X), y, strict=True))
    found = Explainer(lambda Z: np.array([by_heart.get(bytes(row), 0.0) for row in Z]), X, y).audit()
    assert "training-data" in codes(found)
    assert found.line("overfitting").severity == 1.0


def test_held_out_rows_show_overfitting():
    X, y = numbers()
    fresh, truth = numbers(seed=1)
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    found = Explainer(forest, X, y).audit(holdout=(fresh, truth))
    expected = np.mean((truth - forest.predict(fresh)) ** 2) / np.mean((y - forest.predict(X)) ** 2)
    assert found.line("overfitting").value == pytest.approx(expected)
    assert "overfitted" in codes(found)
    fair = Explainer(forest, fresh, truth).audit(holdout=numbers(seed=2))
    assert "overfitted" not in codes(fair)
    assert fair.settings["holdout"] is True


def test_a_random_model_is_unsteady():
    X, y = numbers()
    rng = np.random.default_rng(0)
    found = Explainer(lambda Z: Z[:, 0] + rng.normal(size=len(Z)), X, y).audit()
    assert "unsteady-model" in codes(found)
    assert found.line("reproducibility").value > 0.05


def test_correlated_features_and_what_perturbing_them_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 1)) + 0.1 * rng.normal(size=(500, 4))
    found = Explainer(lambda Z: Z.sum(axis=1), X).audit()
    assert codes(found) == {"dependent-features", "off-data"}
    assert found.line("correlated features").value > 0.97
    for topic in ("one feature changed", "two rows mixed", "every feature drawn alone"):
        assert found.line(topic).value > 0.5
    severities = [next(line.severity for line in found.lines if line.finding == c.message) for c in found.caveats]
    assert severities == sorted(severities, reverse=True)


def test_a_model_that_hides_from_synthetic_rows_is_found_out_and_its_halves_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(400, 8))
    X[:, 0] = rng.random(400) < 0.5
    model = attack(X, above(0, 0.5), above(5, 0.0))
    line = Explainer(model, X).audit().line("hidden reliance")
    assert (line.feature, line.code) == ("x0", "fooled")
    assert line.severity > 0.6
    for honest in (model.biased, model.harmless):
        assert not Explainer(honest, X).audit().line("hidden reliance").bad


def test_little_data_leaves_little_to_say():
    X = np.arange(10.0)[:, None]
    found = Explainer(lambda Z: Z[:, 0], X).audit()
    assert [line.topic for line in found.lines] == ["reproducibility"]
    assert found.caveats == ()


def test_without_checks_the_lines_stay_and_the_caveats_go():
    X, y = numbers()
    found = Explainer(lambda Z: np.full(len(Z), y.mean()), X, y, checks=False).audit()
    assert found.caveats == ()
    assert found.line("score").bad
    assert found.line("score").finding in found.text()


def test_it_speaks_tabulates_draws_and_is_stored(tmp_path, golden):
    X, y = numbers()
    found = Explainer(lambda Z: np.full(len(Z), y.mean()), X, y).audit()
    golden("audit", "one of eight checks speaks against it", masked(found.text()))
    golden("charts", "audit", titles(found.plot().spec))
    assert list(found.frame()["topic"]) == [line.topic for line in found.lines]
    rows = audit_data(found)
    assert [row["severity"] for row in rows] == [line.severity for line in found.lines]
    assert found.plot(title="Trust").spec["title"]["text"] == ["Trust"]
    again = pellucid.load(found.save(tmp_path / "audit.json"))
    assert again.lines == found.lines
    assert again.text() == found.text()


def test_the_same_seed_gives_the_same_audit():
    X, y = numbers()
    one, other = (Explainer(lambda Z: Z[:, 0], X, y, random_state=3).audit() for _ in range(2))
    assert one.lines == other.lines
