"""A rule on rows of one's own: by the explainer, by the model's function and by its predictions the same."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from golden_files import masked
from methods.rules.asking import Labels, ask
from pellucid import Explainer, Rule, TextExplainer
from pellucid.methods.rules.rule_check import check_rule


def checked(explainer, rule, rows):
    run = explainer._run("checking a rule")
    return check_rule(explainer.predictor, explainer.data, rule, rows, run=run), run.cost().model_rows


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return [
        pd.DataFrame({"a": rng.normal(size=400), "b": rng.choice(["x", "y"], 400), "c": rng.normal(size=400)})
        for _ in range(2)
    ]


class Both(Labels):
    """yes, where a is large and b is x, unless c is very small."""

    def predict_proba(self, X):
        yes = ((X["a"] > 0.3) & (X["b"] == "x") & (X["c"] > -1.5)).to_numpy(dtype=float)
        return np.column_stack([1 - yes, yes])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_precision_and_coverage_are_counted_on_the_rows_given(tables):
    X, new = tables
    ex = Explainer(Both(), X, checks=False)
    rule = ask(ex, {"a": 1.0, "b": "x", "c": 0.0}, precision=0.85)
    found, asked = checked(ex, rule, new)
    obey = np.array([all(c.holds(np.array([row[c.feature]], dtype=object if c.feature == "b" else float))[0] for c in rule.conditions) for _, row in new.iterrows()])  # fmt: skip
    right = obey & (Both().predict(new) == "yes")
    assert (found.rows, found.applies) == (400, obey.sum())
    assert found.precision == right.sum() / obey.sum()
    assert found.coverage == obey.sum() / 400
    assert 0 < found.precision < 1
    assert asked == obey.sum()  # nothing is asked about rows that the rule does not apply to
    assert rule.check(new, Both().predict) == rule.check(new, Both().predict(new)) == found


def test_of_numbers_the_interval_counts(tables):
    X, new = tables
    ex = Explainer(lambda Z: Z["a"] + 0.1 * Z["c"], X, checks=False)
    rule = ask(ex, 0, within=0.3)
    found, _ = checked(ex, rule, new)
    low, high = rule.same[0]
    holds = rule.applies(new)
    numbers = (new["a"] + 0.1 * new["c"])[holds]
    assert found.precision == pytest.approx(((numbers >= low) & (numbers <= high)).mean())
    assert found == rule.check(new, lambda Z: Z["a"] + 0.1 * Z["c"])


def test_several_outputs_and_positions(tables):
    X, _ = tables
    ex = Explainer(lambda Z: np.column_stack([Z["a"], Z["c"]]), X, checks=False)
    rule = ask(ex, 0, within=0.5, precision=0.8)
    found, _ = checked(ex, rule, [0, 1, 2])
    assert found.rows == 3
    assert found == rule.check(X.iloc[:3], X[["a", "c"]].to_numpy()[:3])


def test_a_classifier_may_be_asked_about_its_probability(tables):
    X, new = tables
    ex = Explainer(Both(), X, checks=False)
    rule = ask(ex, {"a": 1.0, "b": "x", "c": 0.0}, precision=0.85, within=(0.5, 1.0))
    found, _ = checked(ex, rule, new)
    assert 0 < found.precision < 1
    assert found == rule.check(new, lambda table: Both().predict_proba(table)[:, 1])


def test_where_the_rule_does_not_apply_nothing_is_known(tables, golden):
    X, new = tables
    ex = Explainer(Both(), X, checks=False)
    rule = ask(ex, {"a": 1.0, "b": "x", "c": 0.0}, precision=0.85)
    found, asked = checked(ex, rule, new[new["b"] == "y"])
    assert (found.applies, asked) == (0, 0)
    assert np.isnan([found.precision, found.low, found.high]).all()
    golden("rule", "a check where the rule does not apply", masked(str(found)))


def test_what_a_check_says(tables, golden):
    X, new = tables
    rule = ask(Explainer(Both(), X, checks=False), {"a": 1.0, "b": "x", "c": 0.0}, precision=0.85)
    found = rule.check(new, Both().predict)
    golden("rule", "a check on new rows", masked(str(found)))
    assert f" {found.applies} of 400 " in str(found)


def test_a_rule_of_another_model_is_refused(tables):
    X, _ = tables
    other = Both()
    other.classes_ = np.array(["good", "bad"], dtype=object)
    rule = ask(Explainer(other, X, checks=False), 0)
    with pytest.raises(pellucid.InputError, match=r"class '\w+'.*this model"):
        checked(Explainer(Both(), X, checks=False), rule, X)


def test_predictions_that_do_not_fit(tables):
    X, _ = tables
    rule = ask(Explainer(lambda Z: Z["a"], X, checks=False), 0, within=0.3)
    with pytest.raises(pellucid.InputError, match=r"\(.* to .*\); give numbers"):
        rule.check(X, ["yes"] * 400)
    assert rule.check(X.iloc[0].to_dict(), float(X["a"][0])).precision == 1.0  # one number for one row


def test_rules_about_texts_are_checked_by_a_function():
    def spam(texts):
        return [float("free" in text and "click" in text) for text in texts]

    rule = TextExplainer(spam).anchor("click for a free phone")
    found = rule.check(["click it is free", "free click", "free of charge", "click"], spam)
    assert (found.applies, found.precision) == (2, 1.0)


def test_a_rule_of_ones_own(tables):
    X, new = tables
    ex = Explainer(Both(), X, checks=False)
    rule = Rule.of("a > 0.3 and b = 'x'", prediction="yes")
    found, asked = checked(ex, rule, new)
    obey = ((new["a"] > 0.3) & (new["b"] == "x")).to_numpy()
    assert (found.applies, asked) == (obey.sum(), obey.sum())
    assert found.precision == (new["c"][obey] > -1.5).mean()
    assert (found.prediction, found.assumed) == ("yes", False)
    assert found == rule.check(new, Both().predict)
    other, _ = checked(ex, Rule.of("a > 0.3 and b = x", prediction="no"), new)
    assert other.precision == pytest.approx(1 - found.precision)


def test_without_a_prediction_the_commonest_counts(tables):
    X, new = tables
    ex = Explainer(Both(), X, checks=False)
    found, asked = checked(ex, Rule.of("a > 0.3 and b = 'x'"), new)
    assert (found.prediction, found.assumed) == ("yes", True)
    assert asked == found.applies
    rest = Rule.of("a <= 0.3")
    assert checked(ex, rest, new)[0] == rest.check(new, Both().predict)
    assert checked(ex, rest, new)[0].prediction == "no"
    nobody, asked = checked(ex, Rule.of("a > 100"), new)
    assert (nobody.applies, nobody.prediction, asked) == (0, "", 0)


def test_without_a_range_numbers_around_the_median_count(tables):
    X, new = tables
    ex = Explainer(lambda Z: Z["a"] + 0.1 * Z["c"], X, checks=False)
    rule = Rule.of("0 < a <= 1")
    found, asked = checked(ex, rule, new)
    numbers = new["a"] + 0.1 * new["c"]
    own = numbers[(new["a"] > 0) & (new["a"] <= 1)]
    half = numbers.std(ddof=0) / 2
    assert found.precision == own.between(own.median() - half, own.median() + half).mean()
    assert asked == 400  # the spread is that over all rows
    assert found == rule.check(new, numbers)


def test_several_outputs_of_ones_own_rule(tables):
    X, _ = tables
    ex = Explainer(lambda Z: np.column_stack([Z["a"], Z["c"]]), X, checks=False)
    found, _ = checked(ex, Rule.of("a > 0", prediction=[(0, np.inf), (-np.inf, 0)]), X)
    assert found.precision == (X["c"][X["a"] > 0] <= 0).mean()


@pytest.mark.parametrize(
    ("rule", "match"),
    [
        (Rule.of("aa > 3"), "no feature 'aa'; did you mean 'a'"),
        (Rule.of("b = 'z'"), "'b' has no level 'z'; known are 'x', 'y'"),
        (Rule.of("b > 3"), "'b' has levels, not numbers"),
        (Rule.of("a = tall"), "'a' is numeric and cannot be 'tall'"),
        (Rule.of("a > 0", prediction="Yes"), "the class 'Yes'.*did you mean 'yes'"),
        ("a > 0", "is no rule; give"),
    ],
)
def test_a_rule_that_does_not_fit_the_data(tables, rule, match):
    X, _ = tables
    with pytest.raises(pellucid.InputError, match=match):
        checked(Explainer(Both(), X, checks=False), rule, X)


def test_a_class_where_numbers_are_predicted(tables):
    X, _ = tables
    with pytest.raises(pellucid.InputError, match="the model predicts numbers"):
        checked(Explainer(lambda Z: Z["a"], X, checks=False), Rule.of("a > 0", prediction=1), X)


def test_columns_without_names_and_booleans():
    X = np.random.default_rng(0).integers(0, 2, size=(100, 2))
    ex = Explainer(lambda Z: Z[:, 0] * 1.0, X, feature_names=["rain", "day off"], checks=False)
    found = ex.check_rule(Rule.of("rain = 1 and 'day off' = 0", prediction=(1, 1)), X)
    assert (found.applies, found.precision) == ((X.tolist().count([1, 0])), 1.0)
    truth = pd.DataFrame({"rain": X[:, 0] == 1})
    wet = Explainer(lambda Z: Z["rain"].astype(float), truth, checks=False)
    assert wet.check_rule(Rule.of("rain = yes", prediction=(1, 1)), truth).precision == 1.0
    with pytest.raises(pellucid.InputError, match="yes or no"):
        wet.check_rule(Rule.of("rain = perhaps"), truth)
