"""Charts of decompositions: what they show, with which limits, for every kind of axis."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid import Explainer
from pellucid.charts.decomposition import share_rows, shown_components
from pellucid.charts.decomposition.components import (
    bar_rows,
    colour_limit,
    contour_rows,
    curve_limits,
    curve_rows,
    entry_names,
    heat_rows,
    main_view,
    pair_view,
)
from pellucid.explanations.component import Axis, Component


def axis(name="x", kind="knots", points=(0.0, 1.0, 3.0), **more):
    points = np.array(points, dtype=float)
    return Axis(name=name, kind=kind, points=points, **({"low": 0.0, "high": 3.0} | more))


def component(table, *axes):
    table = np.asarray(table, dtype=float)
    return Component(features=tuple(a.name for a in axes), axes=axes, table=table[..., None], variance=np.ones(1))


def frame(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["temp", "hum", "wind"])
    X["hum"] += X["temp"]
    X["sky"] = rng.choice(["clear", "cloudy", "rain"], n)
    X["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D")
    X.loc[::6, "wind"] = np.nan
    return X


def model(X):
    return (
        2 * X["temp"]
        + X["hum"] * X["wind"].fillna(1.0)
        + 3 * (X["sky"] == "rain") * X["hum"]
        + (X["day"] > "2024-02-01")
    )


@pytest.fixture(scope="module", params=["generalized", "ale"])
def found(request):
    return Explainer(model, frame(), progress=False).decompose(method=request.param)


def marks(spec):
    """All mark types in a specification."""
    if isinstance(spec, dict):
        mark = spec.get("mark")
        own = [mark["type"] if isinstance(mark, dict) else mark] if mark else []
        return own + [m for value in spec.values() for m in marks(value)]
    return [m for value in spec for m in marks(value)] if isinstance(spec, list) else []


# -- data --------------------------------------------------------------------------------------------


def test_a_curve_goes_through_the_knots():
    rows = curve_rows(component([1.0, -2.0, 0.5], axis()), 0, "response")
    assert [(row["x"], row["value"]) for row in rows] == [(0.0, 1.0), (1.0, -2.0), (3.0, 0.5)]
    assert rows[1]["value_text"] == "-2"


def test_cells_are_steps_from_the_lowest_to_the_highest_value():
    rows = curve_rows(component([1.0, -2.0, 0.5], axis(kind="cells", points=(1.0, 2.0))), 0, "response")
    assert [(row["x"], row["value"]) for row in rows] == [
        (0.0, 1.0), (1.0, 1.0), (1.0, -2.0), (2.0, -2.0), (2.0, 0.5), (3.0, 0.5),
    ]  # fmt: skip
    assert rows[2]["x_text"] == "1 to 2"


def test_levels_are_bars_and_missing_is_the_last():
    levels = axis(kind="levels", points=(1.0, 0.0), feature_kind="categorical", categories=("a", "b"), missing=True)
    rows = bar_rows(component([1.0, 2.0, 3.0], levels), 0, "response")
    assert [(row["level"], row["value"]) for row in rows] == [("b", 1.0), ("a", 2.0), ("missing", 3.0)]


def test_the_place_of_missing_values_of_a_number_is_not_on_its_curve():
    rows = curve_rows(component([1.0, -2.0, 0.5, 9.0], axis(missing=True)), 0, "response")
    assert [row["value"] for row in rows] == [1.0, -2.0, 0.5]


def test_a_level_called_missing_stays_apart_from_missing():
    levels = axis(kind="levels", points=(0.0,), feature_kind="categorical", categories=("missing",), missing=True)
    assert len(set(entry_names(levels))) == 2


def test_of_very_many_levels_those_with_the_largest_effects_are_drawn():
    names = tuple(f"level {i}" for i in range(200))
    levels = axis("town", "levels", tuple(np.arange(200.0)), feature_kind="categorical", categories=names)
    effects = np.random.default_rng(0).normal(size=200)
    rows = bar_rows(component(effects, levels), 0, "response")
    largest = np.sort(np.argsort(-np.abs(effects))[:30])
    assert [row["level"] for row in rows] == [names[i] for i in largest]
    pair = component(np.outer(effects, effects), levels, replace(levels, name="other"))
    drawn = heat_rows(pair, 0, "response")
    assert len(drawn) == 30**2
    assert drawn[1]["value"] == pytest.approx(effects[largest[0]] * effects[largest[1]])
    spec = pair_view(pair, 0, "response", (200, 200), 1.0, "effect").to_dict()
    assert "30 of 200 levels" in str(spec)


def test_few_whole_numbers_are_named_and_nothing_between_them():
    years = axis("year", "knots", (2011.0, 2012.0), feature_kind="integer")
    spec = main_view(component([1.0, 2.0], years), 0, "response", (200, 100), (0.0, 3.0), "effect").to_dict()
    assert "'values': [2011, 2012]" in str(spec)


def test_cells_of_a_map_have_the_value_in_their_middle():
    product = component(np.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]), axis("x"), axis("y"))
    rows = heat_rows(product, 0, "response")
    assert len(rows) >= 24**2
    for row in rows:
        middle = (row["x_from"] + row["x_to"]) / 2 * (row["y_from"] + row["y_to"]) / 2
        assert row["value"] == pytest.approx(middle)
    assert {row["x_from"] for row in rows} >= {0.0, 1.0}  # knots are edges of cells


def test_a_map_of_cells_and_levels():
    levels = axis("k", "levels", (0.0, 1.0), feature_kind="categorical", categories=("a", "b"), missing=True)
    table = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    rows = heat_rows(component(table, axis("x", "cells", (1.0,)), levels), 0, "response")
    seen = {(row["x_from"], row["x_to"], row["y_level"]): row["value"] for row in rows}
    assert seen == {
        (0.0, 1.0, "a"): 1.0, (0.0, 1.0, "b"): 2.0, (0.0, 1.0, "missing"): 3.0,
        (1.0, 3.0, "a"): 4.0, (1.0, 3.0, "b"): 5.0, (1.0, 3.0, "missing"): 6.0,
    }  # fmt: skip


def test_many_cells_are_drawn_with_fewer():
    cuts = np.linspace(0.01, 2.99, 300)
    rows = heat_rows(component(np.zeros((301, 3)), axis("x", "cells", cuts), axis("y")), 0, "response")
    assert len({row["x_from"] for row in rows}) == 60


def test_contours_run_where_the_component_has_the_level():
    product = component(np.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]), axis("x"), axis("y"))
    rows = contour_rows(product, 0, [1.5])
    assert rows
    for row in rows:
        assert product.at([np.array([row["x"]]), np.array([row["y"]])])[0, 0] == pytest.approx(1.5)
    assert contour_rows(component(np.zeros((2, 3)), axis("x", "cells", (1.0,)), axis("y")), 0, [0.5]) == []


def test_limits_hold_every_curve_and_colours_are_not_set_by_a_corner():
    low, high = curve_limits([component([1.0, -2.0, 0.5], axis()), component([5.0, 0, 0], axis())], 0)
    assert low < -2
    assert high > 5
    table = np.full((30, 30), 0.1)
    table[0, 0], table[5] = 100.0, 2.0
    points = np.linspace(0, 3, 30)
    pair = component(table, axis("x", points=points), axis("y", points=points))
    assert colour_limit([pair], 0) == pytest.approx(2.0)


def test_bars_name_the_largest_first_and_end_with_the_residual(found):
    rows = share_rows(found, 0, 4)
    assert [row["kind"] for row in rows] == ["component"] * 4 + ["others", "residual"]
    assert sum(row["value"] for row in rows[:-1]) == pytest.approx(found.values.sum())
    assert sum(row["covariance"] for row in rows) == pytest.approx(1)
    assert rows[-1]["value"] == pytest.approx(float(found.residual))
    sizes = [max(row["value"], abs(row["covariance"])) for row in rows[:4]]
    assert sizes == sorted(sizes, reverse=True)


def test_panels_are_those_of_the_largest_components(found):
    drawn = [part.name for part in shown_components(found, 0, 3)]
    assert drawn == found.top(3)


# -- charts ------------------------------------------------------------------------------------------


def test_the_overview_has_bars_curves_and_maps(found):
    spec = found.plot().spec
    assert {"bar", "line", "rect", "rule"} <= set(marks(spec))
    assert "R²" in str(spec["title"]["subtitle"])


def test_sizes_compare(found):
    """All curves have one value scale and all maps one colour scale."""
    spec = found.plot(kind="components", max_display=12).spec
    texts = str(spec)
    assert spec["concat"]
    values, colours = set(), set()
    for panel in spec["concat"]:
        for layer in panel["layer"]:
            encoding = layer["encoding"]
            if "color" in encoding and "scale" in encoding["color"]:
                colours.add(tuple(encoding["color"]["scale"]["domain"]))
            mark = layer["mark"]["type"]
            if mark in ("line", "bar") and "value" in encoding["y"].get("field", ""):
                values.add(tuple(encoding["y"]["scale"]["domain"]))
    assert len(values) == 1
    assert len(colours) == 1
    ((low, high),) = colours
    assert low == -high
    assert "temp" in texts


def test_common_limits_hold_the_highest_curve_even_if_it_is_not_the_largest_part():
    X = pd.DataFrame({"even": np.tile([-1.0, 1.0], 100), "spike": np.r_[np.zeros(197), 5.0, 5.0, 5.0]})
    found = Explainer(lambda X: X["even"] + X["spike"], X, progress=False).decompose(method="generalized", order=1)
    assert found.top(2) == ["even", "spike"]
    for panel in found.plot(kind="components").spec["concat"]:
        (line,) = [layer for layer in panel["layer"] if layer["mark"]["type"] == "line"]
        assert line["encoding"]["y"]["scale"]["domain"][1] > 4.5


def test_shares_alone_and_components_alone(found):
    assert "rect" not in marks(found.plot(kind="shares").spec)
    assert "rect" in marks(found.plot(kind="components").spec)
    assert "share of the variance" not in str(found.plot(kind="components", title="parts").spec)


@pytest.mark.parametrize(
    "names", [*itertools.combinations(["temp", "wind", "sky", "day"], 2), ("day",), ("sky",), ("wind",)]
)
def test_every_component_can_be_drawn_by_itself(found, names):
    spec = found.plot(component=names).spec
    assert spec["$schema"]
    assert " × ".join(names) in str(spec["title"]["text"])
    assert spec["layer"]


def test_a_component_of_three_features_is_drawn_in_slices():
    found = Explainer(model, frame(), progress=False).decompose(
        method="generalized", order=3, features=["temp", "hum", "sky"]
    )
    spec = found.plot(component=("temp", "hum", "sky")).spec
    assert len(spec["concat"]) == 3
    assert "sky: clear" in str(spec)
    assert found.plot().spec["$schema"]


def test_outputs_are_drawn_one_at_a_time():
    X = frame().drop(columns=["day", "wind"])

    def two(X):
        return np.column_stack([X["temp"], X["hum"] * (X["sky"] == "rain")])

    found = Explainer(two, X, progress=False).decompose(method="generalized")
    first, second = (found.plot(output=name).spec for name in found.output_names)
    assert first != second
    assert found.plot().spec == first
    assert found.output_names[1] in str(second["title"]["subtitle"])
    with pytest.raises(pellucid.InputError, match="there is no output 'third'"):
        found.plot(output="third")


@pytest.mark.parametrize("n", [1, 2, 12])
def test_few_and_many_components(n):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, n)), columns=[f"f{j}" for j in range(n)])
    found = Explainer(lambda X: X.sum(axis=1) ** 2, X, progress=False).decompose(method="generalized", order=min(n, 2))
    assert found.plot(max_display=12).spec["$schema"]


def test_a_constant_prediction_has_a_chart():
    found = Explainer(lambda X: np.ones(len(X)), frame(), progress=False).decompose(method="ale")
    assert found.plot().spec["$schema"]


def test_the_chart_becomes_a_picture(found, tmp_path):
    path = found.plot(max_display=4).save(tmp_path / "parts.png", scale=1)
    assert path.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "pie"}, "kind='pie' is not known"),
        ({"max_display": 0}, "max_display must be a whole number"),
        ({"component": "temp", "kind": "shares"}, "leave kind='shares' out"),
        ({"component": "tmp"}, "there is no feature 'tmp'"),
        ({"colour": "red"}, "'colour' is not an option"),
        ({"width": -1}, "width must be"),
    ],
)
def test_wrong_options_name_the_remedy(found, options, words):
    with pytest.raises(pellucid.InputError, match=words):
        found.plot(**options)
