"""Anchors where there is little to hold on to: constant features, rows unlike the data, small budgets, weights, functions that misbehave."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from golden_files import masked
from methods.rules.asking import Labels, ask, explain
from pellucid import Explainer, TextExplainer
from pellucid.explanations.rule_words import marks, where_predictions_change


def below_one(Z):
    return (np.asarray(Z)[:, 0] < 1).astype(float)


def mostly_ones():
    return np.append(np.linspace(0, 0.9, 30), np.ones(170))[:, None]


def test_a_feature_of_which_most_rows_have_the_greatest_value_can_be_in_a_rule():
    for bins in ("auto", 4):
        rule = ask(Explainer(below_one, mostly_ones(), checks=False), 3, bins=bins)
        assert rule.reached
        assert rule.players == ("x0",)
        assert rule.coverage == pytest.approx(0.15)


def test_where_no_condition_says_anything_finer_ones_are_tried():
    """All rows are alike and the explained one is not: only its own value tells it from them."""
    ex = Explainer(lambda Z: (Z[:, 0] > 1).astype(float), np.ones((50, 1)), checks=False)
    rule = ask(ex, np.array([5.0]), within=0.1)
    assert rule.conditions[0].words == "x0 = 5"
    assert (rule.reached, rule.precision, rule.coverage) == (True, 1.0, 0.0)
    fixed = ask(ex, np.array([5.0]), within=0.1, bins=4)
    assert (fixed.reached, fixed.reason) == (False, "unreachable")


def test_one_row_of_data(golden):
    ex = Explainer(lambda Z: Z[:, 0], np.array([[1.0, 2.0]]), checks=False)
    golden("rule", "an anchor, one row of data", ask(ex, 0).sentence)
    golden("rule", "an anchor, one other row of data", ask(ex, np.array([3.0, 2.0])).sentence)


@pytest.mark.parametrize("value", [0.0, 1 / 3, -5e9])
def test_a_constant_prediction_is_one_number(value, golden):
    X = np.random.default_rng(0).normal(size=(40, 2))
    ex = Explainer(lambda Z: np.full(len(Z), value), X, sample_weight=np.linspace(0.1, 1, 40))
    rule = ex.anchor(0, precision=1.0)
    assert rule.reached
    assert " to " not in rule.sentence
    assert rule.precision == 1.0
    said = {caveat.code: caveat.advice for caveat in rule.caveats}
    golden("rule", "an anchor of a constant prediction", [said["anchor-imbalance"], *marks(rule)])


def test_only_classes_have_a_decision_boundary():
    X = np.array(list(np.ndindex(*(2,) * 6)), dtype=float)
    number = ask(Explainer(lambda Z: Z.all(axis=1).astype(float), X), np.ones(6), within=0.1)
    label = explain(lambda Z: Z.all(axis=1), X, np.ones(6))
    assert len(number.conditions) == len(label.conditions) == 6
    assert not [text for text in (number.text(), *marks(number)) if "class" in text or "boundary" in text]
    assert where_predictions_change(label) in marks(label)
    assert "boundary" in where_predictions_change(label)


@pytest.mark.parametrize("perturb", ["data", "balanced", "conditional"])
@pytest.mark.parametrize("weights", [np.ones(100), np.random.default_rng(0).random(100)])
def test_shares_of_rows_have_no_rounding_errors(perturb, weights):
    """A hundred times 1/100 is not 1 in floating point, but a hundred rows of a hundred are all."""
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 50, axis=0)
    ex = Explainer(Labels(lambda Z: Z[:, 0] - 2), X, sample_weight=weights, checks=False)
    rule = ask(ex, 0, perturb=perturb, precision=0.8, epsilon=0.2, batch=128)
    assert rule.players == ("x0",)
    assert rule.precision == 1.0
    assert rule.coverage == weights[:50].sum() / weights.sum()


def test_with_weights_the_coverage_is_said_in_weight(golden):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 2)).astype(float)
    weights = np.linspace(0.1, 2, 60)
    row = np.array([1.0, 0.0])
    rule = explain(lambda Z: Z[:, 0] - 0.5, X, row, explainer={"sample_weight": weights})
    golden("rule", "an anchor, weighted rows", masked(rule.text()))
    plain = explain(lambda Z: Z[:, 0] - 0.5, X, row)
    assert f" {int(X[:, 0].sum())} of 60 rows" in plain.text()


def test_an_exact_precision_is_called_so(golden):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 2)).astype(float)
    rule = explain(lambda Z: Z[:, 0] - 0.5, X, np.array([1.0, 0.0]), batch=64)
    assert rule.samples == 0
    golden("rule", "an anchor, exact", masked(rule.text()))
    drawn = explain(lambda Z: Z[:, 0] - 0.5, np.random.default_rng(0).normal(size=(60, 2)), np.array([1.0, 0.0]))
    assert f" {drawn.samples} " in drawn.text()


def test_rows_that_chose_a_rule_do_not_judge_it_anew():
    """Fifty rows obey, all with the prediction: not enough after several looks at several rules, and the interval says so."""
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 50, axis=0)
    rule = explain(lambda Z: Z[:, 0] - 2, X, 0, perturb="conditional")
    assert (rule.reached, rule.reason, rule.precision, rule.samples) == (False, "rows", 1.0, 50)
    assert rule.interval[0] < 0.95 - 0.05


# -- budgets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("perturb", ["data", "balanced", "conditional"])
@pytest.mark.parametrize("budget", [100, 310, 2000])
@pytest.mark.parametrize("classes", [True, False])
def test_no_more_rows_are_asked_for_than_the_budget(perturb, budget, classes):
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = Labels(lambda Z: Z.sum(axis=1) - 1) if classes else lambda Z: Z.sum(axis=1)
    ex, row = Explainer(model, X, checks=False), int(np.argmax(X.sum(axis=1)))
    if perturb == "balanced" and budget < 301:
        with pytest.raises(pellucid.InputError, match=f"budget={budget} model rows; perturb='balanced' needs"):
            ask(ex, row, budget=budget, perturb=perturb)
        return
    rule = ask(ex, row, budget=budget, perturb=perturb)
    assert rule.cost.model_rows <= budget
    assert np.isfinite(rule.precision)


def test_balanced_rows_need_the_predictions_of_all():
    X = np.random.default_rng(0).normal(size=(300, 4))
    with pytest.raises(pellucid.InputError, match="302 rows"):
        explain(lambda Z: Z[:, 0], X, [0, 1], perturb="balanced", budget=301)


def interrupted_at(calls, answer):
    """A function that is interrupted at one of its calls, counted from when ``count`` is set to 0."""
    count = [0]

    def asked(things):
        count[0] += 1
        if count[0] == calls:
            raise KeyboardInterrupt
        return answer(things)

    return asked, count


def test_an_interruption_of_the_checks_does_not_lose_the_rule():
    X = np.random.default_rng(0).normal(size=(300, 3))
    row = int(np.argmax(X[:, 0]))

    def answer(Z):
        return (Z[:, 0] > 0.5).astype(float)

    calls = ask(Explainer(answer, X, checks=False), row, within=0.1).cost.model_calls
    asked, count = interrupted_at(calls + 1, answer)
    ex = Explainer(asked, X)
    count[0] = 0
    rule = ask(ex, row, within=0.1)
    assert rule.reached
    assert rule.players == ("x0",)
    assert [caveat.code for caveat in rule.caveats] == ["partial"]


def test_an_interruption_of_the_checks_does_not_lose_the_rule_of_a_text():
    def answer(texts):
        return [float("free" in text and "UNK" not in text) for text in texts]

    text = "click here for a free phone now"
    calls = TextExplainer(answer, checks=False).anchor(text).cost.model_calls
    asked, _ = interrupted_at(calls + 2, answer)  # one more call asks whether the model is steady
    rule = TextExplainer(asked).anchor(text)
    assert rule.words == ("free",)
    assert [caveat.code for caveat in rule.caveats] == ["partial"]


# -- functions of the caller's own -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda table: None, r"perturb= has to return a table .* X is a NoneType"),
        (lambda table: table[["a"]], r"perturb= has to return a table .* lack the feature 'b'"),
        (lambda table: table.assign(b="zz"), r"perturb= has to return a table .* 'zz' is not a category"),
    ],
)
def test_a_function_that_returns_something_else(made, said):
    table = pd.DataFrame({"a": np.arange(20.0), "b": ["x", "y"] * 10})

    def perturb(row, features, n, generator):
        drawn = table.sample(n, replace=True, random_state=generator)
        return made(drawn.assign(**{name: row[name] for name in features}))

    ex = Explainer(lambda Z: (Z["b"] == "x").astype(float), table, checks=False)
    with pytest.raises(pellucid.InputError, match=said):
        ask(ex, 0, perturb=perturb)


def test_a_function_is_asked_about_missing_values_too():
    table = pd.DataFrame({"a": np.arange(20.0), "b": ["x", None] * 10})
    seen = []

    def perturb(row, features, n, generator):
        seen.append(row)
        drawn = table.sample(n, replace=True, random_state=generator)
        return drawn.assign(**{name: row[name] for name in features})

    ex = Explainer(lambda Z: Z["b"].isna().astype(float), table, checks=False)
    rule = ask(ex, 1, perturb=perturb)
    assert rule.conditions[0].words == "b is missing"
    assert seen[0] == {"a": 1.0, "b": None}


# -- several rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("few", "saved"), [(False, 3 * 150), (True, 3 * 150 + 20)])
def test_together_exactly_the_rows_are_asked_for_that_each_row_alone_asks_for(few, saved):
    """The data once instead of four times, and draws once that several rows make: of categories many, of numbers few."""
    rng = np.random.default_rng(3)
    X = rng.integers(-1, 2, size=(150, 4)).astype(float) if few else rng.normal(size=(150, 4))
    asked = []

    def score(Z):
        asked.append(Z.copy())
        return Z[:, 0] + Z[:, 1] * Z[:, 2]

    def rows_of(rows):
        ex = Explainer(Labels(score), X, checks=False)
        asked.clear()
        ask(ex, rows, precision=0.85)
        return [tuple(row) for table in asked for row in table]

    alone = {row: rows_of(row) for row in (4, 9, 40, 77)}
    together = rows_of([4, 9, 40, 77])
    assert set(together) == set().union(*alone.values())
    beyond = together[150 + 4 :]  # after the data and the explained rows
    assert len(set(beyond)) == len(beyond)
    assert not set(beyond) & set(together[:154])
    assert sum(map(len, alone.values())) - len(together) > saved


def test_a_rule_alone_is_used_like_several():
    X = np.random.default_rng(3).normal(size=(50, 2))
    one, two = (explain(lambda Z: Z[:, 0], X, rows) for rows in ([4], [4, 5]))
    assert [rule.sentence for rule in one] == [two[0].sentence]
    assert len(one.rules) == 1


def test_every_rule_that_a_caveat_is_about_is_named(golden):
    X = np.array([[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)] * 20)
    ex = Explainer(lambda Z: Z.prod(axis=1), X)
    rules = ex.anchor([7, 0, 15], within=0.1, max_conditions=1)
    said = {caveat.code: str(caveat) for caveat in rules.caveats}
    assert [rule.reached for rule in rules] == [False, True, False]
    golden("caveats", "anchor-unreached: two of three rules", masked(said["anchor-unreached"]))


# -- options -----------------------------------------------------------------------------------------


def test_suboptimal_is_a_truth_value():
    with pytest.raises(pellucid.InputError, match=r"suboptimal must .*'no'"):
        explain(lambda Z: Z[:, 0], np.random.default_rng(0).normal(size=(20, 2)), 0, suboptimal="no")


def test_the_empty_rule_is_evaluated_as_often_as_asked():
    """Where not all rows are asked for: the more evaluations, the closer its precision is to the share of the data."""
    X = np.random.default_rng(0).normal(size=(3000, 2))
    found = {n: explain(lambda Z: Z[:, 0] - 0.5, X, int(np.argmax(X[:, 0])), empty_evaluations=n) for n in (64, 2000)}
    share = (X[:, 0] > 0.5).mean()
    assert found[64].base * 64 == pytest.approx(round(found[64].base * 64))
    assert found[2000].base == pytest.approx(share, abs=4 * np.sqrt(share / 2000))
    assert found[2000].cost.model_rows > found[64].cost.model_rows + 500


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_the_batch_is_the_number_of_draws_at_the_first_look(batch):
    X = np.random.default_rng(0).normal(size=(2000, 3))
    rule = explain(lambda Z: Z[:, 0] - 0.9, X, int(np.argmax(X[:, 0])), batch=batch)
    assert rule.players == ("x0",)
    looks = rule.samples / batch
    assert looks == 2 ** round(np.log2(looks))


def test_a_wider_beam_finds_what_a_narrow_one_misses():
    """Two features that only act together, and one that helps a little on its own: a beam of one takes the bait."""
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 40, dtype=float)

    def score(Z):
        return (Z[:, 0] == Z[:, 1]) - 0.5 + 0.0 * Z[:, 2] + 0.6 * ((Z[:, 2] == 1) & (Z[:, 0] == 1))

    row = np.array([1.0, 1.0, 1.0])
    wide, narrow = (explain(score, X, row, precision=0.99, beams=beams) for beams in (4, 1))
    assert wide.coverage >= narrow.coverage
    assert wide.coverage == 0.25


def test_a_share_that_is_the_precision_up_to_rounding_is_enough():
    X = (np.arange(20) < 17).astype(float)[:, None]
    weights = np.full(20, 0.1)
    ex = Explainer(Labels(lambda Z: Z[:, 0] - 0.5), X, sample_weight=weights, checks=False)
    just_above = float(np.nextafter(weights[:17].sum() / weights.sum(), 1))
    rule = ask(ex, 0, precision=just_above)
    assert (rule.reached, rule.conditions) == (True, ())


def test_the_precision_of_a_rule_that_is_no_anchor_is_exact_where_it_can_be():
    X = np.random.default_rng(0).integers(0, 2, size=(300, 4)).astype(float)
    rule = explain(lambda Z: Z[:, :3].sum(axis=1) - 2.5, X, np.ones(4), max_conditions=1)
    chosen = int(rule.players[0][1])
    others = [j for j in range(3) if j != chosen]
    assert (rule.reached, rule.samples) == (False, 0)
    assert rule.precision == pytest.approx((X[:, others] == 1).all(axis=1).mean(), abs=1e-12)
