"""The chapters on how the model is built: what acts together, the model in parts, other measures, groups of features."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from golden_files import masked
from pellucid import Explainer
from pellucid.explanations.component import Check
from pellucid.explanations.explanation import changed
from pellucid.report import decomposition, interplay, sections
from pellucid.report.decomposition import checks_in_words, reproduced
from pellucid.report.work import Work, focused
from pellucid.runner import Cost
from pellucid.words import number, percent
from report.documents import full_report as build
from report.documents import part, said

NEW = ("comparing measures of importance", "looking for interactions", "decomposing the model")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))


pytestmark = pytest.mark.usefixtures("all_without_single_rows")
brief = pytest.mark.usefixtures("without_measures")


def card(document: dict[str, Any], name: str) -> dict[str, Any]:
    cards = [made for section in document["sections"] for made in section["cards"]]
    return next(made for made in cards if made["id"] == name)


def ids(document: dict[str, Any], name: str) -> list[str]:
    return [made["id"] for made in part(document, name)["cards"]]


def shares(text: str) -> list[float]:
    """All percentages of a text."""
    return [float(found) / 100 for found in re.findall(r"([\d.]+)%", text)]


def drawn(made: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Rows of a chart's data that have a field."""
    return [row for table in made["chart"]["datasets"].values() for row in table if field in row]


def product(rows: Any) -> Any:
    """Half of the variance is in the product, under independence, and half in the third feature."""
    rows = np.asarray(rows)
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


@pytest.fixture(scope="module")
def asked() -> Explainer:
    return Explainer(product, X, progress=False)


@pytest.fixture(scope="module")
def asked_document(asked: Explainer) -> dict[str, Any]:
    return build(asked, top=1)


@pytest.fixture(scope="module")
def copies() -> dict[str, Any]:
    """Three copies of one feature and two others: no data can tell the copies apart."""
    base = RNG.normal(size=(400, 1))
    table = np.hstack([base + 0.02 * RNG.normal(size=(400, 3)), RNG.normal(size=(400, 2))])
    return build(
        Explainer(lambda rows: rows[:, 0] * rows[:, 3] + rows[:, 1] + rows[:, 4], table, progress=False), top=1
    )


# -- what acts together ------------------------------------------------------------------------------


def test_the_pair_that_acts_together_is_named_with_what_it_is_worth(
    asked_document: dict[str, Any], golden: Any
) -> None:
    finding = next(line for line in asked_document["findings"] if "x0 and x1" in line)
    pair, all_of_them = shares(finding)
    variance = np.var(X[:, 0]) * np.var(X[:, 1])
    assert pair == all_of_them == pytest.approx(variance / (variance + np.var(X[:, 2])), abs=0.08)
    golden("report", "acting together: one pair of four features", said(part(asked_document, "interactions")))
    golden("report", "findings of a product and a sum", map(masked, asked_document["findings"]))
    golden("report", "the model in parts: a product and a sum", said(part(asked_document, "parts")))


def test_costs_rest_on_more_draws_than_there_are_rows_for_pairs(asked_document: dict[str, Any]) -> None:
    settings = next(line["settings"] for line in asked_document["settings"] if "draws" in line["settings"])
    draws, rows = (int(re.search(f"{name} ([0-9]+)", settings)[1]) for name in ("draws", "rows"))
    assert (draws, rows) == (2000, 173)


def test_the_strongest_pair_is_drawn_without_what_each_does_alone(asked_document: dict[str, Any]) -> None:
    made = card(asked_document, "pair")
    assert made["title"] == "x0 and x1"
    assert "x0 and x1" in made["subtitle"]
    steep = Explainer(lambda rows: product(rows) + 9 * rows[:, 0], X, progress=False)
    effect, why = interplay._effect(steep, ("x0", "x1"), Work(1, None))
    corners = np.outer(*([column.min() - column.mean(), column.max() - column.mean()] for column in X.T[:2]))
    assert [effect.values.min(), effect.values.max()] == pytest.approx([corners.min(), corners.max()], rel=0.1)
    assert why == ""


def test_the_table_has_what_interactions_say_of_trees(demo_document: dict[str, Any], bike: Explainer) -> None:
    found, lines = bike.interactions(), card(demo_document, "pairs")["table"]["rows"]
    order = np.argsort(-found.strength, kind="stable")
    assert [line[0] for line in lines] == [" × ".join(found.sets[s]) for s in order[: len(lines)]]
    for line, s in zip(lines, order, strict=False):
        assert line[1:] == [
            number(float(found.strength[s])),
            number(float(found.values[s])),
            f"{number(float(found.low[s]))} to {number(float(found.high[s]))}",
            percent(found.cost_of(*found.sets[s])),
        ]
    assert card(demo_document, "network")["sentences"][1] == found.network(0.01).findings()[0]


def test_pairs_of_correlated_features_are_drawn_near_the_data(demo_document: dict[str, Any]) -> None:
    made = card(demo_document, "pair")
    assert made["title"] == "season and days_since_start"
    assert "correlated" in made["why"]


@brief
def test_an_additive_model_is_said_to_be_one(golden: Any) -> None:
    document = build(Explainer(lambda rows: np.sin(rows[:, 0]) + rows[:, 1] ** 2, X, progress=False), top=1)
    golden("report", "findings of an additive model", map(masked, document["findings"]))
    assert ids(document, "interactions") == ["network"]
    golden("report", "acting together: an additive model", said(part(document, "interactions")))


@brief
def test_a_nearly_additive_model_keeps_its_number(golden: Any) -> None:
    def model(rows: Any) -> Any:
        return 3 * rows[:, 0] + 0.2 * rows[:, 0] * rows[:, 1] + rows[:, 2]

    document = build(Explainer(model, X, progress=False), top=1)
    golden("report", "findings of a nearly additive model", map(masked, document["findings"]))
    golden("report", "acting together: a nearly additive model", said(part(document, "interactions")))


@brief
def test_a_group_acts_as_one_and_has_no_picture(golden: Any) -> None:
    explainer = Explainer(product, X, groups={"both": [0, 2]}, progress=False)
    document = build(explainer, top=1)
    assert "both with x1" in card(document, "network")["sentences"][0]
    assert ids(document, "interactions") == ["network", "pairs"]
    golden("report", "the model in parts: with a group of features", said(part(document, "parts")))


def test_one_feature_has_nothing_to_act_with(linear: Any, golden: Any) -> None:
    document = build(linear([2.0]))
    for name in ("interactions", "parts"):
        assert part(document, name)["cards"] == []
    golden("report", "one feature", said(part(document, "interactions"), part(document, "parts")))
    assert ids(document, "matters") == ["importance"]


def test_a_constant_model_has_neither_pairs_nor_parts(golden: Any) -> None:
    document = build(Explainer(lambda rows: np.ones(len(rows)), X, progress=False))
    for name in ("interactions", "parts"):
        assert part(document, name)["cards"] == []
    golden("report", "findings of a constant model", map(masked, document["findings"]))
    golden("report", "a constant model", said(*document["sections"]))


@brief
def test_a_table_without_varying_features(golden: Any) -> None:
    document = build(Explainer(lambda rows: rows["a"].to_numpy(), pd.DataFrame({"a": np.ones(9), "b": 1.0})))
    golden("report", "no feature varies", said(part(document, "interactions"), part(document, "parts")))


@brief
def test_of_many_features_those_that_move_predictions_are_looked_at(golden: Any) -> None:
    wide = RNG.normal(size=(120, 30))[:, :14]
    # The predictions have the wrong sign, so that the loss falls when a feature that moves them is permuted.
    explainer = Explainer(lambda rows: product(rows[:, 11:]), wide, -product(wide[:, 11:]), progress=False)
    document = build(explainer, top=1)
    golden("report", "acting together: fourteen features", part(document, "interactions")["intro"])
    assert card(document, "pair")["title"] == "x11 and x12"
    golden("report", "the model in parts: fourteen features", part(document, "parts")["intro"])
    golden("report", "findings of fourteen features", map(masked, document["findings"]))


# -- several outputs ---------------------------------------------------------------------------------


@brief
def test_of_several_classes_one_is_shown_and_named() -> None:
    iris = load_iris(as_frame=True)
    model = LogisticRegression(max_iter=1000).fit(iris.data, iris.target_names[iris.target])
    explainer = Explainer(model, iris.data, iris.target_names[iris.target], progress=False)
    document = build(explainer, top=1)
    shown = next(name for name in model.classes_ if name in part(document, "parts")["intro"][1])
    for name in ("interactions", "parts"):
        assert f"Of 3 outputs, {shown} is shown" in part(document, name)["intro"][1]
    alone = Explainer(model, iris.data, output=shown, progress=False).decompose(method="generalized")
    assert card(document, "part-shares")["sentences"][0] == reproduced(float(alone.r2), left_out=0)


def test_one_output_of_fewer_rows_remembers_nothing_of_the_others() -> None:
    iris = load_iris()
    model = LogisticRegression(max_iter=1000).fit(iris.data, iris.target)
    explainer = Explainer(model, iris.data, iris.target, progress=False)
    explainer.importance()
    one = focused(explainer, 40, "1")
    assert explainer._known
    assert one._known == {}
    assert (len(one.data), one.predictor.output_names) == (40, ("1",))
    assert len(explainer.data) == 150
    assert explainer.predictor.output_names == ("0", "1", "2")
    assert np.allclose(
        one.pdp(0, at=[5.0]).values, Explainer(model, one.data.frame.native, output=1).pdp(0, at=[5.0]).values
    )
    assert focused(explainer, 150) is explainer


# -- the model in parts ------------------------------------------------------------------------------


@brief
def test_parts_of_trees_are_those_of_partial_dependence(golden: Any) -> None:
    model = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, product(X))
    explainer = Explainer(model, X, progress=False)
    document, found = build(explainer, top=1), explainer.decompose()
    made = card(document, "part-shares")
    golden("report", "why the parts of trees are those of partial dependence", made["why"])
    sizes = {
        row["component"]: row["value"] for row in drawn(made, "component") if row["component"] in found.feature_names
    }
    assert len(sizes) > 4
    for name, size in sizes.items():
        assert size == pytest.approx(float(found.values[found.position(name)]), rel=1e-6)
    assert made["sentences"][0] == reproduced(float(found.r2), left_out=0)
    assert f"{found.top(1)[0]} ({percent(float(found.values.max()))})" in made["sentences"][1]


def test_what_two_features_reproduce_is_said_with_what_follows(golden: Any) -> None:
    shown = [(1.0, 0), (0.973, 0), (0.9, 0), (0.5, 0), (0.5, 12), (-0.5, 0)]
    golden("report", "what parts of two features reproduce", [reproduced(*one) for one in shown])
    assert shares(reproduced(0.973, 0)) == [0.973]
    assert shares(reproduced(-0.5, 0)) == [0.0]


@brief
def test_an_interaction_of_three_is_not_in_the_parts(golden: Any) -> None:
    document = build(Explainer(lambda rows: rows[:, 0] * rows[:, 1] * rows[:, 2], X, progress=False), top=1)
    sentence = card(document, "part-shares")["sentences"][0]
    assert shares(sentence)[0] < 0.5
    golden("report", "the model in parts: an interaction of three", masked(sentence))
    assert any(item["code"] == "left-over" for item in card(document, "part-shares")["caveats"])


@brief
def test_correlated_features_are_taken_apart_on_the_data(golden: Any) -> None:
    base = RNG.normal(size=400)
    table = np.column_stack([base, base + 0.6 * RNG.normal(size=400), RNG.normal(size=400)])
    document = build(Explainer(lambda rows: rows[:, 0] + rows[:, 1] + rows[:, 2], table, progress=False), top=1)
    golden("report", "why correlated features are taken apart on the data", card(document, "part-shares")["why"])


def test_features_that_cannot_be_told_apart_get_accumulated_local_effects(copies: dict[str, Any], golden: Any) -> None:
    made = card(copies, "part-shares")
    golden("report", "why copies of a feature get accumulated local effects", made["why"])
    assert "accumulated local effects" in made["more"][1]


def test_checks_are_told_in_words(asked: Explainer, golden: Any) -> None:
    found = asked.decompose(method="generalized")
    golden("report", "checks of the parts", checks_in_words(found))
    broken = changed(found, checks=(Check("zero means", 1.0, 0.1, "They do not."),))
    assert checks_in_words(broken) == ["They do not."]


# -- measures ----------------------------------------------------------------------------------------


def test_measures_stand_beside_each_other(asked_document: dict[str, Any], asked: Explainer) -> None:
    made = card(asked_document, "measures")
    rows = drawn(made, "share")
    assert {row["method"] for row in rows} == {"permutation", "conditional", "shap", "sobol"}
    found = asked.importance(loss="variance")
    expected = np.sqrt(np.maximum(found.values, 0)) / np.sqrt(np.maximum(found.values, 0)).sum()
    ours = {row["feature"]: row["share"] for row in rows if row["method"] == "permutation"}
    assert [ours[name] for name in found.feature_names] == pytest.approx(expected.tolist(), rel=1e-6)


def test_an_index_of_independent_features_is_left_out_where_they_are_not(demo_document: dict[str, Any]) -> None:
    methods = {row["method"] for row in drawn(card(demo_document, "measures"), "share")}
    assert methods == {"permutation", "conditional", "shap"}


def test_mean_absolute_contributions_are_those_of_the_sample(bike: Explainer) -> None:
    rows = bike.data.spread(50)
    found = bike.shap(rows.tolist())
    made = bike._importance_of(rows, found)
    assert np.allclose(made.values, np.abs(found.values).mean(axis=0))
    assert made.cost.model_rows == 0


def test_what_the_measures_differ_about_is_said(copies: dict[str, Any], golden: Any) -> None:
    sentence = card(copies, "measures")["sentences"][-1]
    caveats = [item for item in card(copies, "measures")["caveats"] if item["code"] == "measures-disagree"]
    assert caveats
    disputed = caveats[0]["message"].split(" has ")[0]
    assert disputed in sentence
    golden("report", "measures that differ", masked(sentence))


def test_no_caveat_of_the_first_chart_is_repeated_beside_the_second(demo_document: dict[str, Any]) -> None:
    first, second = (card(demo_document, name)["caveats"] for name in ("importance", "measures"))
    assert first
    assert not {item["code"] for item in first} & {item["code"] for item in second}


# -- groups ------------------------------------------------------------------------------------------


@brief
def test_groups_of_features_are_suggested(demo_document: dict[str, Any], linear: Any) -> None:
    made = card(demo_document, "clusters")
    assert any(line.startswith("season, temp, felt_temp and days_since_start ") for line in made["sentences"])
    assert "groups=explainer.clusters().groups" in made["sentences"][-1]
    assert ids(build(linear([1.0] * 5), top=1), "together") == ["associations"]  # nothing is correlated
    few = np.repeat(RNG.normal(size=(60, 1)), 3, axis=1)
    alike = build(Explainer(lambda rows: rows[:, 0], few, progress=False), top=1)
    assert ids(alike, "together") == ["associations"]  # three features are seen at a glance


# -- price -------------------------------------------------------------------------------------------


class Counted:
    """Something for every pair of features to do, and how many rows it was asked for in each step."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self._step = ""

    def __call__(self, rows: Any) -> Any:
        self.rows[self._step] = self.rows.get(self._step, 0) + len(rows)
        return np.sin(np.asarray(rows).sum(axis=1))

    def step(self, what: str, *_: int) -> None:
        self._step = what


@pytest.mark.parametrize("features", [2, 12])
def test_every_step_keeps_its_price(features: int) -> None:
    model = Counted()
    table = np.random.default_rng(1).normal(size=(150, features))
    build(Explainer(model, table, progress=False), top=1, progress=model.step)
    limits = [
        sections._ROWS + sections._SOBOL,
        interplay._ASKED + interplay._READ,
        decomposition._ASKED + decomposition._MOVED,
    ]
    for step, limit in zip(NEW, limits, strict=True):
        assert 0 < model.rows[step] <= 1.05 * limit + 20_000


def test_boosted_classes_are_asked_within_the_price_too() -> None:
    """Their contributions are read in log-odds, but pairs are about probabilities, which have to be asked for."""
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    document = build(Explainer(model, X, y, progress=False), top=1)
    assert document["cost"]["model_rows"] < 1_200_000
    assert card(document, "pair")["title"] == "x0 and x1"


def test_a_slow_model_is_asked_for_less(monkeypatch: pytest.MonkeyPatch, golden: Any) -> None:
    model = Counted()
    monkeypatch.setattr(time, "perf_counter", lambda: float(sum(model.rows.values())))  # a second per row
    explainer = Explainer(model, X[:80], progress=False)
    document = build(explainer, top=1, progress=model.step)
    assert sum(model.rows.get(step, 0) for step in NEW) <= 3 * len(X)
    said = {name: " ".join(part(document, name)["intro"]) for name in ("interactions", "matters")}
    assert "explainer.interactions(features=" in said["interactions"]
    assert "explainer.importance(method='conditional')" in said["matters"]
    golden("report", "a slow model", map(masked, [*said.values(), card(document, "part-shares")["why"]]))


def took(work: Work, seconds: float) -> None:
    """Notes a result for which the model took so many seconds a row."""
    cost = Cost(model_rows=1000, model_seconds=1000 * seconds, model_calls=1, total_seconds=0.0)
    work.results[:] = [SimpleNamespace(cost=cost)]  # type: ignore[list-item]


def test_what_is_affordable_falls_in_coarse_steps() -> None:
    work = Work(1, None)
    for seconds, rows in [(0.0, 300_000), (1e-4, 300_000), (1e-3, 18_750), (10.0, 4), (1e9, 1)]:
        took(work, seconds)
        assert work.affordable(300_000) == rows


def test_seconds_are_those_that_the_model_took(asked: Explainer) -> None:
    work = Work(1, None)
    assert work.seconds_per_row == 0.0
    found = work.keep(asked.importance(loss="variance"))
    rows = found.cost.model_rows + found.cost.check_rows
    assert work.seconds_per_row == pytest.approx(found.cost.model_seconds / rows)
    paused = changed(found, cost=replace(found.cost, model_seconds=found.cost.model_seconds + 3600))
    assert work.keep(paused) is paused  # the machine slept for an hour: the model is no slower for it
    assert work.seconds_per_row == pytest.approx(found.cost.model_seconds / rows)


@pytest.mark.parametrize("step", NEW)
def test_a_model_that_fails_in_a_chapter_does_not_fail_the_report(step: str) -> None:
    failing = [False]

    def model(rows: Any) -> Any:
        if failing[0]:
            raise RuntimeError("out of service")
        return product(rows)

    document = build(
        Explainer(model, X, progress=False), top=1, progress=lambda what, *_: failing.__setitem__(0, what == step)
    )
    named = dict(zip(NEW, ("matters", "interactions", "parts"), strict=True))[step]
    words = " ".join(
        [*part(document, named)["intro"], *(line for made in part(document, named)["cards"] for line in made["more"])]
    )
    assert "out of service" in words
    assert len(part(document, "rows")["cards"]) > 2


@brief
def test_with_a_background_of_its_own_a_model_is_asked_for_no_more() -> None:
    model = Counted()
    explainer = Explainer(model, X, background=RNG.normal(size=(700, 4)), progress=False)
    build(explainer, top=1, progress=model.step)
    assert model.rows[NEW[1]] <= interplay._ASKED + interplay._READ + 20_000
    assert model.rows[NEW[2]] <= 1.05 * decomposition._ASKED


def test_the_explainer_is_not_changed(asked: Explainer) -> None:
    known, data, predictor = asked._known, asked.data, asked.predictor
    build(asked, top=1)
    assert (asked._known, asked.data, asked.predictor, asked.background) == (known, data, predictor, None)
