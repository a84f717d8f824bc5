"""Decompositions as results: axes, components, prediction of new rows, words and files."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid import Explainer, InputError
from pellucid.explanations.attribution_words import labels_of
from pellucid.explanations.component import Axis, Check, Component
from pellucid.explanations.decomposition_words import reproduced


def axis(kind, points, **options):
    options = {"low": 0.0, "high": 10.0, **options}
    return Axis(name="x", kind=kind, points=np.array(points, dtype=float), **options)


def component(*axes, table):
    names = tuple(f"x{k}" for k in range(len(axes)))
    return Component(features=names, axes=axes, table=np.array(table, dtype=float)[..., None], variance=np.zeros(1))


def at(part, *columns):
    return part.at([np.array(column, dtype=float) for column in columns])[:, 0].tolist()


def test_knots_are_joined_by_straight_lines_and_level_beyond():
    part = component(axis("knots", [0, 2, 3]), table=[1, 5, 4])
    assert at(part, [-9, 0, 1, 2, 2.5, 3, 99]) == [1, 1, 3, 5, 4.5, 4, 4]


def test_cells_end_at_their_cut():
    part = component(axis("cells", [1, 2]), table=[10, 20, 30])
    assert at(part, [-5, 1, 1.0000001, 2, 2.5]) == [10, 10, 20, 20, 30]
    assert axis("cells", [1, 2], missing=True).labels == ["up to 1", "1 to 2", "above 2", "missing"]
    assert axis("cells", []).labels == ["any value"]
    assert axis("cells", [1, 2]).edges.tolist() == [0, 1, 2, 10]


def test_levels_may_come_in_any_order():
    own = axis("levels", [2, 0, 1], categories=("p", "q", "r"), feature_kind="categorical", missing=True)
    part = component(own, table=[1, 2, 3, 4])
    assert at(part, [0, 1, 2, np.nan]) == [2, 3, 1, 4]
    assert own.labels == ["r", "p", "q", "missing"]


def test_two_axes_are_joined_by_planes_on_straight_lines():
    part = component(axis("knots", [0, 1]), axis("knots", [0, 1]), table=[[0, 0], [0, 8]])
    assert at(part, [0.5, 1, 0.25], [0.5, 1, 0.5]) == [2, 8, 1]
    mixed = component(axis("knots", [0, 1]), axis("cells", [0]), table=[[0, 1], [4, 5]])
    assert at(mixed, [0.5, 0.5], [0, 1]) == [2, 3]


def test_levels_never_seen_and_values_never_missing_are_refused():
    part = component(axis("levels", [0, 1], feature_kind="boolean"), table=[1, 2])
    with pytest.raises(InputError, match="missing in row 1"):
        at(part, [0, np.nan])
    part = component(axis("levels", [0], categories=("p", "q"), feature_kind="categorical"), table=[1])
    with pytest.raises(InputError, match=r"'x' is q in row 1"):
        at(part, [0, 1])


def test_a_check_holds_up_to_its_tolerance():
    assert Check("zero means", 0.1, 0.1, "").holds
    assert not Check("zero means", 0.2, 0.1, "").holds
    assert not Check("zero means", np.nan, 0.1, "").holds


# -- the result --------------------------------------------------------------------------------------


def bikes(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "temp": rng.normal(size=n).round(1),
            "season": rng.choice(["fall", "spring"], n),
            "day": pd.date_range("2024-01-01", periods=n),
        }
    )


def rentals(X):
    spring = (X["season"] == "spring").to_numpy()
    return 10 + X["temp"].to_numpy() * (1 + spring) + X["day"].dt.month.to_numpy()


def found(**options):
    return Explainer(rentals, bikes(), progress=False).decompose(**{"grid": 60, **options})


def test_predicts_tables_of_all_kinds_after_loading(tmp_path):
    result, X = found(), bikes()
    loaded = pellucid.load(result.save(tmp_path / "parts.json"))
    assert loaded == result
    expected = rentals(X)
    np.testing.assert_allclose(loaded.predict(X), expected, atol=1e-9)
    np.testing.assert_allclose(loaded.predict(X[["day", "temp", "season"]]), expected, atol=1e-9)
    records = X.to_dict("records")
    np.testing.assert_allclose(loaded.predict(records), expected, atol=1e-9)
    np.testing.assert_allclose(loaded.predict(records[3]), expected[3:4], atol=1e-9)
    np.testing.assert_allclose(loaded.predict(X.iloc[3]), expected[3:4], atol=1e-9)
    polars = pytest.importorskip("polars")
    np.testing.assert_allclose(loaded.predict(polars.from_dicts(records)), expected, atol=1e-9)
    with pytest.raises(InputError, match="lack the feature 'season'"):
        loaded.predict(X.drop(columns="season"))
    with pytest.raises(InputError, match=r"position.*give the rows"):
        loaded.predict(0)


def test_a_bare_matrix_and_a_row_of_it():
    X = np.random.default_rng(0).normal(size=(30, 2))
    result = Explainer(lambda X: X[:, 0] - X[:, 1], X, progress=False).decompose()
    np.testing.assert_allclose(result.predict(X), X[:, 0] - X[:, 1], atol=1e-10)
    np.testing.assert_allclose(result.predict(X[4]), X[4:5, 0] - X[4:5, 1], atol=1e-10)


def test_components_are_found_in_any_order():
    result = found()
    assert result.feature_names[:3] == ("temp", "season", "day")
    assert result.component("season", "temp") is result.components[result.position("temp", "season")]
    assert result.component("temp × season").name == "temp × season"
    with pytest.raises(InputError, match=r"'tmep'.*'temp'"):
        result.component("tmep")
    with pytest.raises(InputError, match=r"temp and season and day.*order=3"):
        result.component("temp", "season", "day")


def test_a_row_is_explained_by_its_components_and_what_they_leave():
    result, X = found(order=1), bikes()
    row = X.iloc[[3]]
    parts = result.explain(row, prediction=rentals(row))
    assert parts.feature_names == ("temp", "season", "day", "residual")
    assert parts.additivity.relative < 1e-12
    assert parts.base == pytest.approx(rentals(X).mean())
    assert parts.prediction[0] == pytest.approx(rentals(row)[0])
    assert abs(parts.values[0, 3]) > 0.01
    assert "temp = " in parts.text()
    assert parts.plot(kind="waterfall").spec["$schema"]
    own = found().explain(X.iloc[:5])
    assert own.values.shape == (5, 6)
    assert labels_of(own, 0)[3].startswith("temp × season: 0.1, ")
    np.testing.assert_allclose(own.prediction, found().predict(X.iloc[:5]))
    with pytest.raises(InputError, match=r"prediction .*3.*1"):
        result.explain(row, prediction=[1, 2, 3])


def test_tables_of_results_and_of_components():
    result = found()
    frame = result.frame()
    assert list(frame.columns) == ["component", "order", "share", "se", "covariance"]
    assert frame["order"].tolist() == [1, 1, 1, 2, 2, 2]
    assert result.table("season")["season"].tolist() == ["fall", "spring"]
    assert result.top(1) == ["temp"]
    assert result.values[result.ranking].tolist() == sorted(result.values, reverse=True)


@pytest.mark.parametrize(
    ("r2", "kind"), [(1.0, "exactly"), (0.9999, "nearly"), (0.973, "for the most part"), (-0.2, "not at all")]
)
def test_fidelity_in_words(r2, kind, golden):
    golden("decomposition", f"the model is reproduced {kind}", reproduced(2, r2))


def test_words_name_the_largest_parts_and_what_overlaps(golden):
    text = found().text()
    golden("decomposition", "partial dependence", text)
    assert text.index("temp (") < text.index("season (")
    X = np.random.default_rng(0).normal(size=(200, 1)) @ np.ones((1, 2))
    overlapping = Explainer(lambda X: X[:, 0] + X[:, 1], X, progress=False).decompose()
    golden("decomposition", "partial dependence, components that overlap", overlapping.text())
    assert overlapping.covariance.sum() == pytest.approx(1)
    uniform = Explainer(lambda X: X[:, 0] + X[:, 1], X, progress=False).decompose(method="anova").text()
    golden("decomposition", "anova", uniform)
