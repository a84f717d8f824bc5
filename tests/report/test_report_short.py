"""The short report, the warning at its head, and what can be chosen in the page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

from charts.chart_examples import attribution
from golden_files import masked
from pellucid import Explainer, InputError
from pellucid.report import build, render
from pellucid.report.contributions import dots
from pellucid.report.explore import NUMBERS, exploration
from pellucid.report.why import find_why
from pellucid.report.work import Work
from report.documents import full_report, part, said


def table(n: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    return pd.DataFrame(
        {
            "a": a,
            "near a": a + 0.05 * rng.normal(size=n),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "town": rng.choice(["Bern", "Oslo", "Rome"], n),
            "day": pd.date_range("2024-01-01", periods=n),
            "same": 1.0,
        }
    )


def model(X: pd.DataFrame) -> Any:
    weekday = X["day"].dt.day_of_week.to_numpy()
    known = np.nan_to_num(X["gaps"].to_numpy(float), nan=0.5)
    return X["a"].to_numpy() ** 2 + known + 2.0 * (X["town"] == "Oslo").to_numpy() + 0.1 * weekday


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    X = table()
    y = model(X) + np.random.default_rng(1).normal(size=len(X))
    return Explainer(model, X, y, progress=False)


@pytest.fixture(scope="module")
def document(explainer: Explainer) -> dict[str, Any]:
    return build(explainer, rows=[3])


def test_the_short_report_says_caveats_first_and_less_than_the_full_one(
    document: dict[str, Any], short_document: dict[str, Any], demo_document: dict[str, Any], golden: Any
) -> None:
    assert [section["id"] for section in short_document["sections"]] == [
        "trust",
        "model",
        "matters",
        "responds",
        "changes",
        "care",
    ]
    assert [section["id"] for section in document["sections"]][-3:-1] == ["rows", "changes"]  # one was asked for
    assert [card["title"] for card in part(document, "rows")["cards"]] == ["Row 3: as requested"]
    assert short_document["cost"]["model_rows"] < demo_document["cost"]["model_rows"]
    assert all(len(card["caveats"]) <= 1 for part in short_document["sections"] for card in part["cards"])
    golden("report", "the short report of the demo", said(*short_document["sections"]))


def test_the_full_report_has_the_same_beginning(short_document: dict[str, Any], demo_document: dict[str, Any]) -> None:
    assert demo_document["findings"][:3] == short_document["findings"][:3]
    assert demo_document["explore"] == short_document["explore"]
    kinds = [card["id"] for card in part(demo_document, "model")["cards"]]
    assert kinds == ["performance-predicted", "performance-residuals"]


@pytest.mark.parametrize("detail", ["long", None, 3])
def test_another_detail_is_refused(explainer: Explainer, detail: Any) -> None:
    with pytest.raises(InputError, match="detail"):
        build(explainer, detail=detail)


def test_a_classifier_shows_how_it_ranks_flags_and_errs() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=["a", "b"])
    y = np.where(X["a"] + np.random.default_rng(1).normal(size=300) > 0, "yes", "no")
    made = build(Explainer(LogisticRegression().fit(X, y), X, y, progress=False), top=1)
    shown = [card["id"].removeprefix("performance-") for card in part(made, "model")["cards"]]
    assert shown == ["confusion", "roc", "calibration", "precision-recall", "thresholds"]
    assert part(made, "model")["table_beside"] == "Measures"  # the sixth place


# -- training data -----------------------------------------------------------------------------------


def test_rows_that_look_like_training_rows_are_the_headline(golden: Any) -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["a", "b", "c"])
    y = (X["a"] + np.random.default_rng(1).normal(size=200) > 0).astype(int)
    by_heart = RandomForestClassifier(50, bootstrap=False, random_state=0).fit(X, y)
    made = build(Explainer(by_heart, X, y, progress=False), top=1)
    golden("report", "training data", map(masked, [made["findings"][0], *made["alarm"].values()]))
    page = render(made)
    assert page.index(made["alarm"]["headline"]) < page.index("In short")
    assert "</strong>" in page


def test_other_rows_are_no_headline(short_document: dict[str, Any]) -> None:
    assert short_document["alarm"] is None
    assert "training rows" not in short_document["findings"][0]
    assert '<div class="alarm training"' not in render(short_document)


# -- what can be chosen ------------------------------------------------------------------------------


def test_curves_are_the_predictions_of_the_row_with_one_value_changed(
    explainer: Explainer, document: dict[str, Any]
) -> None:
    known = document["explore"]
    assert known["rows"][0]["label"] == "Row 3: as requested"
    assert {feature["name"] for feature in known["features"]} == set(table().columns) - {"same"}
    X = table()
    for feature in known["features"]:
        name = feature["name"]
        values = feature["labels"] if feature["kind"] == "level" else feature["at"]
        rows = pd.concat([X.iloc[[3]]] * len(values), ignore_index=True)
        rows[name] = pd.to_datetime(np.array(values), unit="ms") if feature["kind"] == "date" else values
        span = np.ptp(explainer.predict()["prediction"])
        np.testing.assert_allclose(feature["curves"][0][0], model(rows), atol=2e-3 * span)
        assert len(feature["average"][0]) == len(values)


def test_own_values_and_predictions_are_those_of_the_row(explainer: Explainer, document: dict[str, Any]) -> None:
    known, X = document["explore"], table()
    places = [int(row["label"].split(":")[0].removeprefix("Row ")) for row in known["rows"]]
    assert len(set(places)) == len(places)
    gaps = next(feature for feature in known["features"] if feature["name"] == "gaps")
    column = [feature["name"] for feature in known["features"]].index("gaps")
    for i, place in enumerate(places):
        row = known["rows"][i]
        assert row["prediction"][0] == pytest.approx(float(model(X.iloc[[place]])[0]), abs=1e-2)
        missing = np.isnan(X["gaps"][place])
        assert (gaps["own"][i] is None) == missing == (row["own"][column] == "missing")
        assert missing or gaps["own"][i] == pytest.approx(X["gaps"][place])


def test_contributions_add_up_to_the_prediction(document: dict[str, Any]) -> None:
    for row in document["explore"]["rows"]:
        parts = sum(amounts[0] for _, _, *amounts in row["named"]) + row["others"][1]
        assert row["base"][0] + parts == pytest.approx(row["end"][0], abs=2e-2)


def test_correlated_features_have_averages_near_the_data(document: dict[str, Any]) -> None:
    notes = {feature["name"]: feature["note"] for feature in document["explore"]["features"]}
    assert "near a" in notes["a"]
    assert notes["town"] == "partial dependence (PDP)"


def test_every_class_can_be_chosen() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 2)), columns=["a", "b"])
    y = np.digitize(X["a"] + 0.3 * rng.normal(size=150), [-0.5, 0.5])
    classes = LogisticRegression().fit(X, y)
    known = build(Explainer(classes, X, y, class_names=["low", "mid", "high"], progress=False), top=1)["explore"]
    assert known["outputs"] == ["low", "mid", "high"]
    for row in known["rows"]:
        assert sum(row["prediction"]) == pytest.approx(1, abs=1e-3)
        assert row["output"] == int(np.argmax(row["prediction"]))
        assert len(row["named"][0]) == 2 + 3
    assert {"low", "mid", "high"} >= {row["said"].split("True class: ")[1].rstrip(".") for row in known["rows"]}


@pytest.mark.usefixtures("without_single_rows")
def test_what_can_be_chosen_is_bounded(short_document: dict[str, Any]) -> None:
    assert len(json.dumps(short_document["explore"])) < 200_000
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 33)), columns=[f"x{j}" for j in range(33)])
    wide = Explainer(LinearRegression().fit(X, X.sum(axis=1)), X, X.sum(axis=1), progress=False)
    known = build(wide, top=1)["explore"]
    numbers = sum(len(curve) for feature in known["features"] for row in feature["curves"] for curve in row)
    assert numbers <= NUMBERS
    assert len(known["features"]) == 30
    assert "30 of 33 features" in known["intro"]
    assert known["rows"][0]["others"][0] == 23


def test_a_model_that_would_be_asked_for_too_much_leaves_nothing_to_choose(
    explainer: Explainer, document: dict[str, Any]
) -> None:
    work = Work(3, None)
    why, importance = find_why(explainer, [], work), explainer.importance()
    assert exploration(explainer, importance, why, work, model_rows=1_000) is None
    assert len(exploration(explainer, importance, why, work)["rows"]) > 20
    assert 'id="explore"' not in render({**document, "explore": None})


def test_both_reports_are_plain_data(document: dict[str, Any]) -> None:
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert full_report.keywords == {"detail": "full"}


def test_the_colours_of_categories_are_named_below_the_dots():
    levels = np.array(["one", "two"], dtype=object)[np.arange(60) % 2]
    found = attribution(60, data=(levels, *attribution(60).data[1:]))
    made = dots(found, half=True)
    name = found.feature_names[0]
    assert f"{name}: orange one, blue two" in made["note"]
