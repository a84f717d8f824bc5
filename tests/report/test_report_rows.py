"""The chapters on contributions: over many rows, and in individual ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression

from golden_files import masked
from pellucid import Explainer, InputError
from pellucid.explanations.attribution_words import mean_sizes
from pellucid.report.rows import MOST_ASKED, check_rows, usual_value
from pellucid.report.why import contributions_of, find_why, row_sections
from pellucid.report.work import MODEL_ROWS, Work
from pellucid.words import number, percent, quantity
from report.documents import part, said

STEPS = ("computing contributions (SHAP)", "explaining individual rows")


def titles(document: dict[str, Any]) -> list[str]:
    return [card["title"] for card in part(document, "rows")["cards"]]


def chapters(explainer: Explainer, *, rows: Any = None, progress: Any = None) -> dict[str, Any]:
    """The part of a report that these chapters are; the others take their time."""
    work = Work(3, progress)
    why = find_why(explainer, check_rows(explainer, rows), work)
    return {"sections": [contributions_of(explainer, why), *row_sections(explainer, why, work)]}


class Counted:
    """A wave of all features, which has to be asked, and how many rows it was asked for in each step."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self._step = ""

    def __call__(self, X: Any) -> Any:
        self.rows[self._step] = self.rows.get(self._step, 0) + len(X)
        X = np.asarray(X)
        return np.sin(3 * X.sum(axis=1) / np.sqrt(X.shape[1]))

    def step(self, what: str, *_: int) -> None:
        self._step = what

    @property
    def spent(self) -> int:
        return sum(self.rows.get(step, 0) for step in STEPS)


def counted(players: int, **options: Any) -> tuple[Counted, Explainer]:
    model = Counted()
    X = np.random.default_rng(0).normal(size=(100, players))
    return model, Explainer(model, X, progress=False, **options)


@pytest.fixture
def sums() -> Callable[[list[float]], Explainer]:
    """An Explainer of the sum of a line of numbers and an idle feature: everything about its rows is known."""

    def make(values: list[float]) -> Explainer:
        X = pd.DataFrame({"x": values, "idle": 0.0})
        model = LinearRegression().fit(X.assign(idle=np.arange(len(X))), 2 * X["x"])
        return Explainer(model, X, 2 * X["x"], progress=False)

    return make


# -- which rows --------------------------------------------------------------------------------------


def test_typical_extreme_and_unusual_rows_of_a_line(sums: Any, golden: Any) -> None:
    values = [*np.linspace(-1, 1, 21), 40.0, -50.0]
    document = chapters(sums(values))
    assert [card["id"] for card in part(document, "rows")["cards"]] == ["row-10", "row-21", "row-22"]
    golden("report", "titles of typical, extreme and unusual rows", titles(document))
    golden("report", "contributions and rows of a line", said(*document["sections"]))


def test_rows_that_are_asked_for_come_first_and_once(sums: Any, golden: Any) -> None:
    values = [*np.linspace(-1, 1, 21), 40.0, -50.0]
    document = chapters(sums(values), rows=[4, 21, 4])
    assert [card["id"] for card in part(document, "rows")["cards"]] == ["row-4", "row-21", "row-10", "row-22"]
    golden("report", "titles of rows that are asked for", titles(document))


def test_a_row_shows_its_contributions_values_and_outcome(sums: Any, golden: Any) -> None:
    values = [*np.linspace(-1, 1, 21), 40.0, -50.0]
    mean = 2 * float(np.mean(values))
    card = part(chapters(sums(values)), "rows")["cards"][1]
    contribution = number(80 - mean, sign=True)
    for piece in ("80", number(mean), "x = 40", "highest of all rows", contribution):
        assert piece in card["sentences"][0]
    ((name, value, usual, share),) = card["table"]["rows"]
    assert (name, usual, share) == ("x", "0", contribution)
    assert value.startswith("40 (")
    golden("report", "a row", [card["subtitle"], *card["sentences"], value, *card["more"]])


def test_a_constant_model_has_no_extremes(golden: Any) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    document = chapters(Explainer(lambda rows: np.ones(len(rows)), X, progress=False))
    assert len(titles(document)) == 1
    assert part(document, "contributions")["cards"] == []
    golden("report", "contributions and rows of a constant model", said(*document["sections"]))


def test_rows_without_weight_are_not_shown() -> None:
    X = np.arange(40.0)[:, None]
    weights = np.ones(40)
    weights[[0, 39]] = 0
    document = chapters(Explainer(lambda rows: rows[:, 0], X, sample_weight=weights, progress=False))
    assert [title.partition(",")[0] for title in titles(document)[1:3]] == [
        "Row 38: highest prediction",
        "Row 1: lowest prediction",
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([0, 80], "row 80 .*0 to 79"),
        ([-1], "row -1 "),
        ([1.5], "rows must .*1.5"),
        ([True], "rows must "),
        ("17", "'17'"),
        (range(MOST_ASKED + 1), f"at most {MOST_ASKED}"),
    ],
)
def test_bad_rows_are_refused_before_the_work(linear: Any, rows: Any, words: str) -> None:
    steps: list[str] = []
    with pytest.raises(InputError, match=words):
        chapters(linear([1.0, 2.0]), rows=rows, progress=lambda what, *_: steps.append(what))
    assert steps == []


@pytest.mark.parametrize("rows", [3, np.int64(3), [3], (3, 3), np.array([3]), range(3, 4)])
def test_positions_in_any_container(linear: Any, rows: Any) -> None:
    assert check_rows(linear([1.0]), rows) == [3]


# -- classes -----------------------------------------------------------------------------------------


def test_of_several_classes_the_predicted_one_is_explained() -> None:
    iris = load_iris(as_frame=True)
    X, y = iris.data, iris.target_names[iris.target]
    model = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
    explainer = Explainer(model, X, y, progress=False)
    document = chapters(explainer, rows=[0, 75, 149])
    shares = model.predict_proba(X)
    cards = part(document, "rows")["cards"]
    for card in cards:
        row = int(card["id"].removeprefix("row-"))
        share, name = shares[row].max(), model.classes_[shares[row].argmax()]
        assert f" {name} ({percent(share)})" in card["subtitle"]
        assert f" {y[row]}." in card["subtitle"]
        assert f"of {name}) for row {row} is {quantity(share, 'probability')} " in card["sentences"][0]
    assert len({card["subtitle"] for card in cards[:3]}) == 3
    sure = shares.max(axis=1)
    reasons = {why: card for card in cards for why in card["title"].split(": ")[1].split(", ")}
    assert reasons["surest prediction"]["id"] == f"row-{sure.argmax()}"
    assert reasons["least sure prediction"]["id"] == f"row-{sure.argmin()}"
    common = model.classes_[np.bincount(shares.argmax(axis=1)).argmax()]
    assert common in reasons["typical"]["subtitle"].split(".")[0]
    assert common in part(document, "contributions")["intro"][-1]


def test_boosted_trees_are_told_in_probabilities(golden: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    y = np.where(X["a"] + X["b"] > 0, "yes", "no")
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    document = chapters(Explainer(model, X, y, progress=False))
    share = model.predict_proba(X)[:, 1]
    cards = part(document, "rows")["cards"]
    high = next(card for card in cards if "highest probability of yes" in card["title"])
    assert high["id"] == f"row-{share.argmax()}"
    assert f" yes ({percent(share.max())})." in high["subtitle"]
    assert "(probability of yes)" in high["sentences"][0]
    for name in ("contributions", "rows"):
        assert not any("log-odds" in line for line in part(document, name)["intro"])
    golden("report", "rows of boosted trees", map(masked, [*part(document, "rows")["intro"], high["subtitle"]]))


# -- the whole ---------------------------------------------------------------------------------------


def test_the_bars_are_the_mean_absolute_contributions(demo_document: dict[str, Any], bike: Explainer) -> None:
    found = bike.shap(bike.data.spread(200).tolist())
    size, rows, along = part(demo_document, "contributions")["cards"]
    drawn = {row["full"]: row["size"] for data in size["chart"]["datasets"].values() for row in data if "size" in row}
    assert list(drawn) == found.top(len(found.feature_names))
    for name, value in zip(found.feature_names, mean_sizes(found), strict=True):
        assert drawn[name] == pytest.approx(float(value), rel=1e-6)
    assert found.top(1)[0] in along["title"]
    up = int((found.values[:, found.feature_names.index(found.top(1)[0])] > 0).sum())
    assert f"raises the prediction in {up} and" in rows["sentences"][0]


def test_rows_have_a_chip_about_correlated_features(demo_document: dict[str, Any]) -> None:
    for card in part(demo_document, "rows")["cards"]:
        assert card["chips"] == [{"label": "correlated features", "id": "trust"}]


def test_a_row_in_which_a_feature_does_nothing_still_depends_on_its_correlation() -> None:
    rng = np.random.default_rng(0)
    b = rng.normal(size=200)
    X = np.column_stack([b + 0.05 * rng.normal(size=200), b])
    X[7, 0], X[7, 1] = np.delete(X[:, 0], 7).mean(), 1.0
    explainer = Explainer(LinearRegression().fit(X, X.sum(axis=1)), X, progress=False)
    seven, eight = part(chapters(explainer, rows=[7, 8]), "rows")["cards"][:2]
    assert [row[0] for row in seven["table"]["rows"]] == ["x1"]
    for made in (seven, eight):
        (said,) = made["caveats"]
        assert said["code"] == "off-data"
        assert "x0" in said["message"]
        assert "x1" in said["message"]


def test_a_group_is_shown_with_the_values_of_its_members() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    explainer = Explainer(lambda rows: 5 * rows[:, 0] * rows[:, 1], X, groups={"both": [0, 1]}, progress=False)
    document = chapters(explainer, rows=[7])
    assert len(part(document, "contributions")["cards"]) == 2  # a group has no axis to stand on
    name, value, usual, _ = part(document, "rows")["cards"][0]["table"]["rows"][0]
    assert (name, usual) == ("both", "")
    assert value.startswith(f"x0 = {number(X[7, 0])}, x1 = {number(X[7, 1])}")


def test_usual_values() -> None:
    X = pd.DataFrame(
        {
            "number": [1.0, 2.0, 4.0, np.nan],
            "whole": [1, 2, 4, 9],
            "town": pd.Categorical(["b", "a", "b", None]),
            "flag": [True, False, True, True],
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-09"]),
            "never": [np.nan] * 4,
        }
    )  # fmt: skip
    data = Explainer(lambda rows: np.zeros(len(rows)), X, progress=False).data
    assert [usual_value(data, j) for j in range(6)] == ["2", "2", "b", "yes", "2024-01-02", ""]


# -- price -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [5, 12, 110])
def test_a_model_that_has_to_be_asked_costs_no_more_than_is_said(players: int, golden: Any) -> None:
    model, explainer = counted(players)
    document = chapters(explainer, rows=[1, 2, 3], progress=model.step)
    assert 0 < model.spent <= MODEL_ROWS
    assert len(titles(document)) >= 5
    text = " ".join(part(document, "rows")["intro"])
    estimated = "±" in part(document, "rows")["cards"][0]["table"]["rows"][0][-1]
    assert estimated == ("estimates" in text)
    kind = "estimates" if estimated else "exact"
    golden("report", f"rows of a model that has to be called, {kind}", map(masked, part(document, "rows")["intro"][1:]))
    assert estimated == (players > 5)


def test_estimates_without_visible_error_are_not_called_exact(linear: Any, golden: Any) -> None:
    intro = part(chapters(linear([1.0] * 18)), "rows")["intro"][1:]
    assert "estimates" in intro[0]
    golden("report", "rows of a model that has to be called, estimates without visible error", map(masked, intro))


def test_a_model_that_is_read_is_asked_for_hardly_anything(sums: Any) -> None:
    explainer = sums(list(np.linspace(-1, 1, 300)))
    asked: dict[str, int] = {}
    step = [""]
    predict = explainer.predictor.timed_full

    def ask(table: Any, n: int) -> Any:
        asked[step[0]] = asked.get(step[0], 0) + n
        return predict(table, n)

    explainer.predictor.timed_full = ask
    document = chapters(explainer, progress=lambda what, *_: step.__setitem__(0, what))
    assert sum(asked[what] for what in STEPS) < 3000
    assert any("300 rows" in line for line in part(document, "rows")["intro"])


@pytest.mark.parametrize("options", [{"background": np.zeros((900, 30)) + np.arange(900)[:, None]}, {}])
def test_what_costs_too_much_is_not_done_and_the_report_says_why(options: dict[str, Any], golden: Any) -> None:
    model, explainer = counted(30 if options else 1200, **options)
    document = chapters(explainer, progress=model.step)
    assert model.spent <= 1
    for name in ("contributions", "rows"):
        section = part(document, name)
        assert section["cards"] == []
        assert "(Counted)" in section["intro"][0]
        assert "explainer.shap(0, budget=1_000_000)" in section["intro"][1]
    what = "a large background" if options else "many features"
    golden("report", f"too dear: {what}", map(masked, part(document, "contributions")["intro"]))


def test_few_rows_may_be_explained_where_many_cost_too_much(golden: Any) -> None:
    background = np.random.default_rng(1).normal(size=(300, 30))
    model, explainer = counted(30, background=background)
    document = chapters(explainer, progress=model.step)
    assert model.spent <= MODEL_ROWS
    assert "90,000" in part(document, "contributions")["intro"][0]
    golden("report", "too dear: many rows", part(document, "contributions")["intro"])
    assert [title.split(": ")[1] for title in titles(document)] == ["highest prediction", "lowest prediction"]


def test_many_rows_that_cost_too_much_leave_the_rest_standing(golden: Any) -> None:
    _, explainer = counted(12, background=np.random.default_rng(1).normal(size=(300, 12)))
    document = chapters(explainer, rows=range(20))
    assert len(part(document, "contributions")["cards"]) == 3
    golden("report", "too dear: the rows that were asked for", part(document, "rows")["intro"])


def test_a_model_that_fails_on_mixed_rows_does_not_fail_the_report() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    X[:, 1] = X[:, 0]
    broken = [False]

    def model(rows: Any) -> Any:
        if broken[0] and not np.array_equal(rows[:, 0], rows[:, 1]):
            raise RuntimeError("these two columns are one")
        return rows.sum(axis=1)

    def step(what: str, *_: int) -> None:
        broken[0] = what in STEPS

    document = chapters(Explainer(model, X, progress=False), progress=step)
    for name in ("contributions", "rows"):
        assert "these two columns are one" in part(document, name)["intro"][0]


def test_an_explainer_is_not_changed() -> None:
    _, explainer = counted(4, background=77)
    chapters(explainer)
    assert explainer.background == 77
