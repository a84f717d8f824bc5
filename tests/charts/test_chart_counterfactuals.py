"""Charts of counterfactuals: the numbers that are drawn are those of the result, whatever the columns hold."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import pellucid
from pellucid import Explainer, InputError
from pellucid.charts.counterfactuals.changes import move_data, prediction_data, prediction_limits
from pellucid.charts.counterfactuals.columns import column, used
from pellucid.charts.counterfactuals.frequency import frequency_data
from pellucid.charts.counterfactuals.parallel import NOW, axes, line_data, tick_data
from pellucid.charts.counterfactuals.pareto import answer_data, placed, runs, stair_data
from pellucid.charts.counterfactuals.surface import _together, cell_data, edge_data, point_data
from pellucid.charts.counterfactuals.table import change_data
from pellucid.explanations.plot_options import COUNTERFACTUAL_KINDS

LONG = ("unskilled and not resident in this country", "management, self-employed or highly qualified")
ROW = 4  # whose income is missing


def table(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "since": pd.date_range("2015-01-01", periods=n, freq="20D"),
            "member": rng.random(n) < 0.5,
            "the job of the person": rng.choice(LONG, n),
            "income": rng.normal(3e4, 1e4, n).round(),
            "kids": rng.integers(0, 5, n),
        }
    )
    X.loc[ROW, ["income", "member", "the job of the person"]] = [np.nan, False, LONG[0]]
    return X


def model(X: pd.DataFrame) -> np.ndarray:
    days = (X["since"] - pd.Timestamp("2015-01-01")).dt.days.to_numpy() / 2400
    job = (X["the job of the person"] == LONG[1]).to_numpy(float)
    income = np.nan_to_num(X["income"].to_numpy(float), nan=1e4) / 2e4
    return days + 0.5 * X["member"].to_numpy(float) + 0.5 * job + 0.5 * income - 0.1 * X["kids"].to_numpy(float)


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    return Explainer(model, table(), progress=False)


@pytest.fixture(scope="module")
def found(explainer: Explainer) -> pellucid.Counterfactuals:
    return explainer.counterfactuals(ROW, ">= 0.9", n=5, surface=("since", "kids"))


@pytest.fixture(scope="module")
def real(explainer: Explainer) -> pellucid.Counterfactuals:
    """Real rows, which differ in nearly every column."""
    return explainer.counterfactuals(ROW, ">= 1.5", n=3, method="neighbours", polish=False)


@pytest.fixture(scope="module")
def nothing(explainer: Explainer) -> pellucid.Counterfactuals:
    return explainer.counterfactuals(ROW, ">= 99", fixed=["since", "income"], surface=True)


@pytest.fixture(scope="module")
def classes() -> pellucid.Counterfactuals:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 30)), columns=[f"x{j}" for j in range(30)])
    y = np.array(["low", "mid", "high"])[np.digitize(X["x0"] + X["x1"], [-1, 1])]
    fitted = LogisticRegression(max_iter=300).fit(X, y)
    return Explainer(fitted, X, progress=False).counterfactuals(
        0, None, n=10, method="neighbours", polish=False, surface=True
    )


def every_value(spec: object) -> list[object]:
    """All leaves of a specification."""
    if isinstance(spec, dict):
        return [leaf for part in spec.values() for leaf in every_value(part)]
    if isinstance(spec, list | tuple):
        return [leaf for part in spec for leaf in every_value(part)]
    return [spec]


# -- every kind, whatever the result -----------------------------------------------------------------


@pytest.mark.parametrize("kind", COUNTERFACTUAL_KINDS)
@pytest.mark.parametrize("result", ["found", "nothing", "classes"])
def test_every_kind_draws_every_result(result, kind, request):
    chart = request.getfixturevalue(result).plot(kind=kind)
    text = json.dumps(chart.spec, allow_nan=False)
    assert request.getfixturevalue(result).target in " ".join(map(str, every_value(chart.spec)))
    assert "NaN" not in text


@pytest.mark.parametrize("kind", ["changes", "parallel", "pareto", "frequency", "table"])
def test_one_answer_and_rows_that_are_there_already(explainer, kind):
    one = explainer.counterfactuals(ROW, ">= 0.9", n=1)
    there = explainer.counterfactuals(int(np.argmax(model(table()))), ">= 0.5")
    assert (len(one), there.changed.any()) == (1, False)
    for result in (one, there):
        assert json.dumps(result.plot(kind=kind).spec, allow_nan=False)


def test_a_loaded_result_draws_the_same(found, tmp_path):
    loaded = pellucid.load(found.save(tmp_path / "found.json"))
    for kind in COUNTERFACTUAL_KINDS:
        assert loaded.plot(kind=kind).spec == found.plot(kind=kind).spec


def test_titles_are_findings(found, classes):
    for kind in ("changes", "table", "parallel", "surface"):
        assert " ".join(found.plot(kind=kind).spec["title"]["text"]).startswith(found.headline().removesuffix("."))
    assert "Pareto front" in str(classes.plot(kind="pareto").spec["title"])
    assert f"Over the {len(classes)} answers" in str(classes.plot(kind="frequency").spec["title"])
    assert len(classes.headline()) < 200  # of thirty changes three are named


def test_a_surface_that_was_not_asked_for_is_refused_with_the_remedy(real):
    with pytest.raises(InputError, match=r"surface=True"):
        real.plot(kind="surface")
    with pytest.raises(InputError, match=r"against= .*kind='pareto'"):
        real.plot(against="changes")


# -- what to change ----------------------------------------------------------------------------------


def test_panels_have_the_values_of_the_result_on_the_ranges_of_the_data(real):
    X, names = table(), [f"answer {i + 1}" for i in range(len(real))]
    for j, name in enumerate(real.column_names):
        one = column(real, j, len(real))
        rows = move_data(one, names)
        assert [row["changed"] for row in rows] == real.changed[:, j].tolist()
        assert one.nominal == (name in ("member", "the job of the person"))
        if name == "kids":
            assert [row["at"] for row in rows] == real.rows()["kids"].tolist()
            assert {row["now"] for row in rows} == {X["kids"][ROW]}
            assert one.limits == (-0.5, 4.5)
        if name == "since":
            stamps = real.rows()["since"].to_numpy().astype("datetime64[ms]").astype(float)
            assert [row["at"] for row in rows] == stamps.tolist()
            low, high = (X["since"].agg(end).timestamp() * 1000 for end in ("min", "max"))
            assert one.limits == (low, high)
        if name == "income":
            assert not one.complete
            assert rows[0]["now"] is None
            assert rows[0]["label"].startswith("missing → ")
        if name == "member":
            assert set(one.texts) <= {"yes", "no"}
        if name == "the job of the person":
            assert all(len(row["label"]) <= 43 for row in rows)
            assert set(one.texts) <= set(LONG)


def test_the_first_panel_has_the_predictions_and_the_target(found):
    rows = prediction_data(found, ["a"] * len(found))
    assert [row["at"] for row in rows] == found.predictions[:, 0].tolist()
    assert {row["now"] for row in rows} == {float(found.prediction[0])}
    assert found.scene.aim == (0.9, np.inf)
    low, high = prediction_limits(found, len(found))
    assert low < found.prediction[0] < 0.9 < high


def test_features_that_never_change_are_folded_and_the_rest_counted(found, classes):
    places, left_out = used(found, len(found), 20)
    assert set(places) == set(np.flatnonzero(found.changed.any(axis=0)))
    assert left_out == 0
    often = found.changed.sum(axis=0)[places]
    assert (np.diff(often) <= 0).all()
    note = " ".join(classes.plot(max_features=4).spec["title"]["subtitle"])
    assert "26 more changed features" in note
    assert "2 more answers" in note
    if len(places) < len(found.column_names):
        assert "unchanged: " in " ".join(found.plot().spec["title"]["subtitle"])


def test_the_table_has_own_values_changes_and_predictions(real):
    rows = change_data(real, 2, 20)
    own = {row["feature"]: row["value"] for row in rows if row["answer"] == "now"}
    assert own["income"] == "missing"
    assert own["kids"] == str(table()["kids"][ROW])
    assert {row["answer"] for row in rows} == {"now", "answer 1", "answer 2"}
    assert [row["changed"] for row in rows if row["feature"] == "kids"][1:] == real.changed[:2, 4].tolist()
    said = [float(row["value"]) for row in rows if row["feature"] == "prediction"]
    assert said == pytest.approx([real.prediction[0], *real.predictions[:2, 0]], rel=0.01)


def test_a_class_that_wins_is_the_output_drawn(classes):
    first = np.flatnonzero(classes.predictions.argmax(axis=1) != classes.predictions[0].argmax())[0]
    rows = prediction_data(classes, ["a"] * int(first))  # until another class is reached
    k = int(np.argmax(classes.predictions[0]))
    assert [row["at"] for row in rows] == classes.predictions[:first, k].tolist()
    assert rows[0]["text"].endswith(f"for {classes.output_names[k]}")
    assert classes.scene.aim is None  # any class but one is no interval


def test_answers_that_reach_several_classes_have_the_probability_of_their_own():
    def shares(X: pd.DataFrame) -> np.ndarray:
        of = 1 / (1 + np.exp(-np.column_stack([np.full(len(X), 1.0), 8 * X["a"] - 6, 7 * X["b"] - 5])))
        return of / of.sum(axis=1, keepdims=True)

    X = pd.DataFrame(np.random.default_rng(0).random((80, 2)), columns=["a", "b"])
    X.loc[0] = 0.2
    ex = Explainer(shares, X, class_names=["none", "left", "right"], progress=False)
    found = ex.counterfactuals(0, n=4)
    wins = found.predictions.argmax(axis=1)
    assert set(wins) == {1, 2}
    rows = prediction_data(found, ["a"] * len(found))
    assert [row["at"] for row in rows] == found.predictions.max(axis=1).tolist()
    assert [row["now"] for row in rows] == found.prediction[wins].tolist()
    assert [row["text"].split()[0] for row in rows] == [found.output_names[k] for k in wins]
    low, high = prediction_limits(found, len(found))
    assert low < found.prediction[wins].min() < found.predictions.max() < high
    assert "the class reached" in str(found.plot().spec)


def test_two_classes_have_their_half_as_the_target():
    X = pd.DataFrame({"a": np.linspace(0, 1, 50), "b": 0.0})
    fitted = LogisticRegression().fit(X, np.where(X["a"] > 0.4, "yes", "no"))
    ex = Explainer(fitted, X, progress=False)
    assert ex.counterfactuals(0, "yes", n=1).scene.aim[0] == pytest.approx(0.5)
    low, high = ex.counterfactuals(49, "no", n=1).scene.aim  # of the probability of yes
    assert (low, high) == (-np.inf, pytest.approx(0.5))


# -- trade-offs, coordinates, frequencies ------------------------------------------------------------


def test_the_front_is_what_no_answer_beats(real):
    scores = np.stack([real.scores[name] for name in ("target", "distance", "changes", "nearest")], axis=1)
    for i, mine in enumerate(scores):
        beaten = any((other <= mine).all() and (other < mine).any() for other in scores)
        assert real.front[i] == (not beaten)
    rows = answer_data(real, "nearest")
    assert [row["distance"] for row in rows] == real.scores["distance"].tolist()
    assert [row["score"] for row in rows] == real.scores["nearest"].tolist()
    assert [row["changes"] for row in rows] == real.scores["changes"].tolist()


def test_stairs_lead_down_along_the_best():
    rows = [{"distance": d, "score": s} for d, s in ((1.0, 3.0), (2.0, 4.0), (3.0, 1.0))]
    corners = [(row["distance"], row["score"]) for row in stair_data(rows)]
    assert corners == [(1.0, 3.0), (3.0, 3.0), (3.0, 1.0)]


def test_levels_are_labels_of_their_axis(explainer):
    levels = explainer.counterfactuals(ROW, ">= 0.9", n=2, fixed=["since", "income"])
    labels = {row["label"] for row in tick_data(axes(levels, len(levels), 20), levels.scale)}
    assert {"yes", "no"} <= labels
    assert {label[:5] for label in labels} >= {"manag", "unski"}
    assert all(len(label) <= 15 for label in labels)


def test_lines_pass_axes_at_their_share_of_the_range_and_missing_below(real):
    lines = [NOW, *(f"answer {i + 1}" for i in range(len(real)))]
    columns = axes(real, len(real), 20)
    rows = line_data(columns, lines)
    kids = [row["height"] for row in rows if row["feature"] == "kids"]
    np.testing.assert_allclose(kids[1:], (real.rows()["kids"] + 0.5) / 5)
    income = {row["line"]: row["height"] for row in rows if row["feature"] == "income"}
    assert income[NOW] < 0 <= min(value for line, value in income.items() if line != NOW)
    assert columns[-1].name == "prediction"
    ticks = tick_data(columns, real.scale)
    assert "missing" in {row["label"] for row in ticks}
    assert all(row["height"] <= 1.0 + 1e-9 for row in ticks)


def test_bars_count_answers_by_direction(real):
    rows = frequency_data(real, 20)
    for j, name in enumerate(real.column_names):
        assert sum(row["answers"] for row in rows if row["feature"] == name) == real.changed[:, j].sum()
    kids = {row["way"]: row["answers"] for row in rows if row["feature"] == "kids"}
    own = table()["kids"][ROW]
    assert kids.get("higher", 0) == (real.rows()["kids"] > own).sum()
    assert {row["way"] for row in rows if row["feature"] == "income"} <= {"another value"}


# -- the surface -------------------------------------------------------------------------------------


def test_cells_are_the_models_predictions_with_all_else_as_in_the_row(found):
    surface = found.scene.surface
    first, second = (np.asarray(grid) for grid in surface.grids)
    rows = pd.concat([table().iloc[[ROW]]] * first.size * second.size, ignore_index=True)
    rows["since"], rows["kids"] = np.repeat(first, second.size), np.tile(second, first.size)
    said = model(rows).reshape(first.size, second.size)
    np.testing.assert_allclose(surface.values, said)
    np.testing.assert_allclose(surface.margin, said - 0.9)
    drawn = cell_data(found, surface)
    assert [row["value"] for row in drawn] == surface.values.ravel().tolist()
    assert [row["reached"] for row in drawn] == (said >= 0.9).ravel().tolist()


def test_the_edge_is_where_the_target_begins(found):
    start = pd.Timestamp("2015-01-01").timestamp() * 1000
    own = table().iloc[ROW]
    rows = edge_data(found, found.scene.surface)
    assert rows
    for row in rows:
        days = (row["x"] - start) / 86_400_000
        assert days / 2400 + 0.25 - 0.1 * row["y"] == pytest.approx(0.9, abs=1e-6)
    assert not own["member"]


def test_answers_that_change_other_features_are_told_apart(found):
    others = [j for j, name in enumerate(found.column_names) if name not in found.scene.surface.names]
    alone = ~found.changed[:, others].any(axis=1)
    points = [row for row in point_data(found, found.scene.surface, len(found)) if row["answer"]]
    filled = {row["answer"] for row in points if row["own"]}
    assert {str(i + 1) for i in np.flatnonzero(alone)} >= {name.removesuffix("+") for name in filled}
    assert all(alone[int(name.removesuffix("+")) - 1] for name in filled)


def test_answers_that_change_neither_feature_leave_their_place_to_the_row(explainer):
    result = explainer.counterfactuals(ROW, ">= 0.9", n=6, surface=("kids", "member"))
    points = point_data(result, result.scene.surface, len(result))
    drawn = sum(row["what"].count(",") + 1 for row in points if row["answer"])
    places = [result.column_names.index(name) for name in result.scene.surface.names]
    assert drawn == int(result.changed[:, places].any(axis=1).sum()) < len(result)
    assert [row["what"] for row in points if not row["answer"]] == ["the row"]
    assert "answers that change neither" in json.dumps(result.plot(kind="surface").spec).replace('", "', " ")


def test_answers_that_would_cover_each_other_are_one_point():
    rows = [
        {"answer": str(i + 1), "what": f"answer {i + 1}", "said": "1", "own": True, "x": x, "y_text": y}
        for i, (x, y) in enumerate([(0.0, "a"), (0.4, "a"), (0.4, "b"), (5.0, "a")])
    ]
    found = _together([{**row, "x_text": str(row["x"])} for row in rows], {"x": 0.5, "y": 0.0})
    assert [row["answer"] for row in found] == ["1+", "3", "4"]
    assert found[0]["what"] == "answers 1, 2"


@pytest.mark.parametrize("pair", [("kids", "member"), ("the job of the person", "member"), ("member", "since")])
def test_levels_have_ticks_or_frames(explainer, pair):
    result = explainer.counterfactuals(ROW, ">= 0.9", n=2, surface=pair)
    assert result.scene.surface.names == pair
    rows = edge_data(result, result.scene.surface)
    if pair == ("member", "since"):  # without and with membership the target begins on another day
        assert [row["x_level"] for row in rows] == ["no", "yes"]
        assert rows[0]["y"] > rows[1]["y"]
    assert json.dumps(result.plot(kind="surface").spec, allow_nan=False)


def test_by_default_the_two_features_that_change_most(explainer):
    result = explainer.counterfactuals(ROW, ">= 0.9", n=5, surface=True)
    most = np.argsort(-result.changed.sum(axis=0), kind="stable")[:2]
    assert result.scene.surface.names[0] == result.column_names[most[0]]
    plain = explainer.counterfactuals(ROW, ">= 0.9", n=5)
    assert plain.scene.surface is None
    assert plain.cost.model_rows < result.cost.model_rows <= plain.cost.model_rows + 1_000


@pytest.mark.parametrize("wrong", ["kids", ("kids",), ("kids", "kids"), ("kids", "nobody"), 3])
def test_other_surfaces_are_refused(explainer, wrong):
    with pytest.raises(InputError):
        explainer.counterfactuals(ROW, ">= 0.9", surface=wrong)


def test_labels_of_answers_that_cover_each_other_are_one_and_others_stand_apart():
    rows = [
        {"answer": str(i + 1), "distance": at, "score": up}
        for i, (at, up) in enumerate([(0.0, 0.0), (0.001, 0.0), (0.002, 0.001), (0.035, 0.0), (1.0, 1.0)])
    ]
    found = placed(rows, rows, (-0.04, 1.04), (-0.04, 1.04), 400, 300)
    labels = {row["label"]: side for side, some in found.items() for row in some}
    assert set(labels) == {"1-3", "4", "5"}
    assert labels["1-3"] != labels["4"]
    assert runs([2, 3, 5]) == "2, 3, 5"
