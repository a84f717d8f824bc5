"""What a report says: the document, before it becomes a page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from golden_files import masked
from pellucid import Explainer, InputError
from pellucid.report.sections import importance_meaning
from pellucid.report.work import to_permute
from report.documents import full_report as build
from report.documents import part, said

brief = pytest.mark.usefixtures("without_single_rows", "without_measures")
SECTIONS = [
    "model",
    "data",
    "trust",
    "matters",
    "responds",
    "interactions",
    "parts",
    "surrogate",
    "contributions",
    "together",
    "rows",
    "ways",
    "changes",
    "care",
]


def views(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """All views of a specification that draw something."""
    inside = [view for key in ("concat", "hconcat", "vconcat", "layer") for view in spec.get(key, [])]
    return [found for view in inside for found in views(view)] + ([spec] if "mark" in spec else [])


def values(spec: dict[str, Any], field: str) -> set[Any]:
    """All values of a field in the data of a chart."""
    tables = [*spec.get("datasets", {}).values(), *(view.get("data", {}).get("values", []) for view in views(spec))]
    return {row[field] for table in tables for row in table if field in row}


# -- the demo ----------------------------------------------------------------------------------------


def test_sections_come_in_reading_order(demo_document: dict[str, Any]) -> None:
    assert [section["id"] for section in demo_document["sections"]] == SECTIONS


def test_document_is_plain_data(demo_document: dict[str, Any]) -> None:
    assert json.loads(json.dumps(demo_document, allow_nan=False)) == demo_document


def test_summary_names_score_features_and_effect(demo_document: dict[str, Any], golden: Any) -> None:
    score, matters, effect, acting, parts, tree, care = demo_document["findings"]
    assert " 9" in score
    assert "days_since_start, temp and " in matters
    assert effect.startswith("days_since_start: ")
    assert acting.startswith("season and days_since_start ")
    assert "97." in parts
    golden("report", "findings of the demo", map(masked, [score, acting, parts, tree, care]))


def test_the_data_table_has_a_line_per_feature(demo_document: dict[str, Any], bike: Explainer) -> None:
    table = part(demo_document, "data")["table"]
    lines = {row[0]: row[1:] for row in table["rows"]}
    assert list(lines) == list(bike.data.schema.names)
    assert table["folded"] == []
    assert lines["weather"] == ["ordered category", "good, misty and bad", "none", "3"]
    assert lines["workingday"][:2] == ["yes or no", "no and yes"]
    assert lines["windspeed"][2] == f"{100 * np.isnan(bike.data.codes(6)).mean():.1f}%"


def test_top_features_are_shown_most_important_first(demo_document: dict[str, Any], bike: Explainer) -> None:
    shown = [card["title"] for card in part(demo_document, "responds")["cards"]]
    assert shown == bike.importance().top(6)


def test_correlated_features_get_accumulated_local_effects(demo_document: dict[str, Any], golden: Any) -> None:
    cards = {card["title"]: card for card in part(demo_document, "responds")["cards"]}
    assert "felt_temp" in cards["temp"]["why"]
    assert cards["workingday"]["why"] == ""
    shown = [masked(cards[name][field]) for name in ("temp", "workingday") for field in ("subtitle", "why")]
    golden("report", "effects of a correlated feature, and of another", shown)


def test_caveats_stand_beside_the_chart_they_are_about(demo_document: dict[str, Any], bike: Explainer) -> None:
    card = part(demo_document, "matters")["cards"][0]
    codes = [item["code"] for item in card["caveats"]]
    assert {*codes, "off-data"} == {item.code for item in bike.importance().caveats}
    assert card["chips"] == [{"label": "correlated features", "id": "trust"}]
    links = part(demo_document, "care")["links"]
    assert {"id": "importance", "title": card["title"], "count": len(codes)} in links


def test_what_holds_for_the_data_is_said_once_at_the_top(demo_document: dict[str, Any]) -> None:
    trust = part(demo_document, "trust")
    cards = [card for section in demo_document["sections"] for card in section["cards"]]
    assert len(trust["caveats"]) == 1
    assert "temp and felt_temp" in trust["caveats"][0]["message"]
    assert "game='conditional'" in trust["caveats"][0]["advice"]
    touched = {card["id"] for card in cards if {"label": "correlated features", "id": "trust"} in card["chips"]}
    assert {"importance", "contributions-size", "associations", "network"} <= touched
    said = [(item["code"], item["message"]) for card in [trust, *cards] for item in card["caveats"]]
    assert len(set(said)) == len(said) <= 11
    assert not {"off-data", "dependent-features", "clustered-features", "moved-apart"} & {code for code, _ in said[1:]}
    anchors = {trust["id"], *(card["id"] for card in cards)}
    assert all(chip["id"] in anchors for card in cards for chip in card["chips"])
    listed = {topic for topic, *_ in trust["table"]["rows"]}
    assert "Correlated features" not in listed  # what is bad stands in the caveat
    assert "Reproducibility" in listed


def test_charts_have_no_title_and_no_address(demo_document: dict[str, Any]) -> None:
    for section in demo_document["sections"]:
        for card in section["cards"]:
            assert "title" not in card["chart"]
            assert "$schema" not in card["chart"]
            assert views(card["chart"])


def test_the_cost_counts_every_row_the_model_was_asked_for() -> None:
    asked = []

    def model(X: Any) -> Any:
        asked.append(len(X))
        return X["a"].to_numpy() * 2 + (X["b"] == "u").to_numpy() * X["a"].to_numpy()

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["u", "v"], 60)})
    explainer = Explainer(model, X, model(X), progress=False)
    asked.clear()
    document = build(explainer)
    assert document["cost"]["model_rows"] == sum(asked)
    assert document["cost"]["total_seconds"] > 0


# -- other models and data ---------------------------------------------------------------------------


@pytest.mark.usefixtures("without_single_rows")
def test_without_an_outcome_there_is_no_score(linear: Any, golden: Any) -> None:
    document = build(linear([3.0, 1.0], with_y=False))
    model = part(document, "model")
    assert model["table"] is None
    golden("report", "without an outcome", said(model, part(document, "matters")))
    golden("report", "findings without an outcome", map(masked, document["findings"]))


@brief
def test_an_average_is_over_all_rows_and_curves_over_some(linear: Any) -> None:
    explainer = linear([2.0, 1.0], n=300)
    card = part(build(explainer), "responds")["cards"][0]
    assert len([row for row in values(card["chart"], "row") if str(row).startswith("row ")]) == 40
    average = explainer.pdp("x0").average
    drawn = [value for value in values(card["chart"], "value") if value is not None]
    for end in (average.min(), average.max()):
        assert np.isclose(drawn, end, rtol=1e-6).any()


@brief
def test_a_useless_model_is_said_to_be_one_at_the_top(linear: Any) -> None:
    explainer = linear([1.0, 1.0], noise=30.0)
    document = build(explainer)
    assert part(document, "trust")["caveats"][0]["code"] == "poor-model"
    cards = [card for section in document["sections"] for card in section["cards"]]
    assert all(item["code"] != "poor-model" for card in cards for item in card["caveats"])
    assert {"label": "poor model", "id": "trust"} in part(document, "matters")["cards"][0]["chips"]


def test_every_class_has_its_colour(hostile_document: dict[str, Any]) -> None:
    cards = part(hostile_document, "responds")["cards"]
    assert len(cards) >= 3
    for card in cards:
        assert values(card["chart"], "output") == {"<i>one</i>", "</script>two", "drei"}
    assert {"label": "Task", "value": "classification, 3 classes"} in hostile_document["facts"]
    assert [row[0] for row in part(hostile_document, "model")["table"]["rows"]] == ["Error rate", "AUC", "Log loss"]


@brief
def test_one_feature(linear: Any, golden: Any) -> None:
    document = build(linear([2.0]))
    assert [card["title"] for card in part(document, "responds")["cards"]] == ["x0"]
    assert part(document, "together")["cards"] == []
    golden("report", "one feature, correlated with none", part(document, "together")["intro"])


@brief
def test_many_features(linear: Any) -> None:
    document = build(linear([5.0, 3.0, 2.0] + [0.0] * 37, n=60))
    table = part(document, "data")["table"]
    assert (len(table["rows"]), len(table["folded"]), table["what"]) == (30, 10, "features")
    chart = part(document, "together")["cards"][0]["chart"]
    assert len(values(chart, "other")) == 30
    assert [card["title"] for card in part(document, "responds")["cards"]] == ["x0", "x1", "x2"]
    assert "20 more features" in part(document, "matters")["cards"][0]["note"]


@brief
def test_of_many_categories_the_most_frequent_are_shown(golden: Any) -> None:
    names = [f"town {k:02}" for k in range(40)]
    towns = np.repeat(names, np.arange(1, 41))
    X = pd.DataFrame({"town": towns, "x": np.random.default_rng(0).normal(size=len(towns))})
    rank = {name: k for k, name in enumerate(names)}

    def model(rows: Any) -> Any:
        return rows["town"].map(rank).to_numpy(dtype=float) + rows["x"].to_numpy()

    card = part(build(Explainer(model, X, progress=False)), "responds")["cards"][0]
    assert card["title"] == "town"
    assert values(card["chart"], "level") == set(names[15:])
    golden("report", "the effect of forty categories", masked(" ".join([card["subtitle"], *card["sentences"]])))


@brief
def test_features_that_never_change_have_no_effect_to_show(golden: Any) -> None:
    X = pd.DataFrame({"x": np.arange(30.0), "same": 1.0, "never": np.nan})
    document = build(Explainer(lambda rows: rows["x"].to_numpy(), X, progress=False))
    assert [card["title"] for card in part(document, "responds")["cards"]] == ["x"]
    golden("report", "features that never change", part(document, "data")["intro"])
    nothing = build(Explainer(lambda rows: np.zeros(len(rows)), X[["same"]], progress=False))
    assert part(nothing, "responds")["cards"] == []


@brief
def test_members_of_a_group_are_shown_one_by_one(linear: Any) -> None:
    document = build(linear([1.0, 2.0, 3.0], groups={"both": ["x0", "x2"]}))
    assert [card["title"] for card in part(document, "responds")["cards"]] == ["x0", "x2", "x1"]
    assert "both and x1" in document["findings"][1]


# -- options -----------------------------------------------------------------------------------------


def test_steps_are_announced_in_words(linear: Any, golden: Any) -> None:
    steps: list[tuple[str, int, int]] = []
    document = build(linear([3.0, 2.0, 1.0]), top=2, progress=lambda *step: steps.append(step))
    golden("report", "a whole report of a weighted sum", said(*document["sections"]))
    golden("report", "findings of a weighted sum", map(masked, document["findings"]))
    golden("report", "steps", [what for what, _, _ in steps])
    assert [done for _, done, _ in steps] == list(range(16))
    assert {total for _, _, total in steps} == {15}


@pytest.mark.parametrize("top", [0, -1, 2.5, True, "3"])
def test_a_bad_number_of_features_is_refused(linear: Any, top: Any) -> None:
    with pytest.raises(InputError, match=r"top must .*at least 1"):
        build(linear([1.0]), top=top)


@pytest.mark.parametrize("calls", [1, 4, 16, 22, 30, 40])
def test_an_interruption_ends_the_report(calls: int) -> None:
    left = [1000]

    def model(X: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return np.asarray(X).sum(axis=1)

    X = np.random.default_rng(0).normal(size=(50, 3))
    explainer = Explainer(model, X, X.sum(axis=1), progress=False)
    left[0] = calls
    with pytest.raises(KeyboardInterrupt):
        build(explainer)


def test_importance_of_a_large_table_is_that_of_some_of_its_rows() -> None:
    X = np.random.default_rng(0).normal(size=(12_000, 2))
    explainer = Explainer(lambda rows: rows[:, 0], X, progress=False)
    assert to_permute(explainer) is explainer
    some = to_permute(explainer, model_rows=100, fewest=500)
    assert len(some.data) == 500
    assert len(to_permute(explainer, model_rows=60_000, fewest=500).data) == 6_000
    importance = some.importance(loss="variance")
    assert importance.values[0] == pytest.approx(1.0, abs=0.1)
    assert importance_meaning(explainer, importance).endswith("variance.")
    wide = Explainer(lambda rows: rows[:, 0], np.zeros((12_000, 100)), checks=False, progress=False)
    assert importance_meaning(wide, importance).endswith("10,000 of the 12,000 rows, evenly spaced.")
