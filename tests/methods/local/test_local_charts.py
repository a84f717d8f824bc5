"""What the pictures of local models are made of."""

import numpy as np
import pytest

import pellucid
from golden_files import masked, titles
from methods.local.asking import explain, table, waves
from pellucid.charts.chart import Chart
from pellucid.charts.local import adding_up, body
from pellucid.charts.local.boundary import line_data, point_data, raster_data
from pellucid.charts.local.effects import effect_data
from pellucid.charts.local.widths import measure_data, weight_data
from pellucid.explanations.option import read_options
from pellucid.explanations.plot_options import LOCAL_KINDS, LocalOptions


def spec(found, **options):
    return Chart(body(found, read_options(LocalOptions, options))).spec


def domains(node, channel="x"):
    """The limits of every scale of a channel in a specification."""
    if isinstance(node, list):
        return [one for part in node for one in domains(part, channel)]
    if not isinstance(node, dict):
        return []
    own = node.get("encoding", {}).get(channel, {}).get("scale", {})
    mine = [tuple(own["domain"])] if isinstance(own, dict) and "domain" in own else []
    return mine + [one for key, part in node.items() if key != "datasets" for one in domains(part, channel)]


def test_bars_are_the_effects_of_the_chosen_features_with_common_limits(golden):
    found = explain(waves, table(), [0, 1, 2], features=2)
    for i in range(3):
        rows = effect_data(found, i)
        assert len(rows) == 2
        sizes = [abs(row["value"]) for row in rows]
        assert sizes == sorted(sizes, reverse=True)
        assert {row["full"] for row in rows} == {found.label(int(j), i) for j in found.places(i)}
    assert len(set(domains(spec(found)))) == 1
    golden("charts", "effects of local models", map(masked, titles(spec(found, max_rows=2))))


@pytest.mark.parametrize(
    "kind", ["auto", "effects", "widths", "waterfall", "force", "bar", "beeswarm", "decision", "stacked"]
)
def test_every_kind_can_be_drawn(kind):
    several = explain(lambda X: np.column_stack([waves(X), X[:, 0]]), table(), [0, 1], features=2)
    for found in (explain(waves, table(), 0), several):
        assert spec(found, kind=kind)["$schema"]


def test_in_pictures_that_add_up_the_rest_is_a_step_of_its_own():
    found = explain(waves, table(), 0, features=1)
    whole = adding_up(found)
    assert whole.feature_names == (found.selected[0][0], "not in the local model")
    assert whole.base + whole.values.sum() == pytest.approx(found.prediction[0])
    exact = explain(lambda X: X[:, 0], table(), 0)
    assert adding_up(exact).feature_names == ("x0",)


def test_the_width_search_shows_weights_and_measures_of_every_width():
    found = explain(waves, table(), 0)
    rows = weight_data(found, 0)
    widths = found.width_search.widths[0]
    assert len(rows) == len(widths) * len({row["feature"] for row in rows})
    mine = [row["weight"] for row in rows if row["feature"] == "x0"]
    np.testing.assert_allclose(mine, found.width_search.weights[0, :, 0] * found.scales[0, 0])
    assert len(measure_data(found, 0)) == 3 * len(widths)
    with pytest.raises(pellucid.InputError, match="kernel='shap' has none"):
        spec(explain(waves, table(), 0, kernel="shap"), kind="widths")


def test_the_boundary_shows_model_samples_weights_and_local_model():
    X = np.random.default_rng(0).normal(size=(300, 3))
    found = explain(lambda X: X[:, 0] + X[:, 1] ** 2, X, 0, boundary=("x0", "x1"), width=1.0)
    part = found.boundary
    cells = raster_data(part, part.model, "response")
    assert len(cells) == part.model.size
    at = part.model.shape[0] // 2
    assert part.model[at, 3] == pytest.approx(part.grids[0][3] + part.grids[1][at] ** 2)
    slopes = np.diff(part.local[at]) / np.diff(part.grids[0])
    np.testing.assert_allclose(slopes, found.weights[0, 0], rtol=1e-6)
    points = point_data(part, "response")
    near = np.exp(-np.square((part.points - part.row) / X.std(axis=0)[:2]).sum(axis=1))
    assert (part.counts <= near + 1e-12).all()  # the third feature is apart too
    assert len(points) == len(part.answers)
    on_the_line = [(row["x"], row["y"]) for row in line_data(part, part.local)]
    values = [
        found.local_prediction[0] + (x - X[0, 0]) * found.weights[0, 0] + (y - X[0, 1]) * found.weights[0, 1]
        for x, y in on_the_line
    ]
    np.testing.assert_allclose(values, part.level, atol=1e-6)
    assert part.level == pytest.approx(found.prediction[0])
    assert spec(found, kind="boundary")["$schema"]
    with pytest.raises(pellucid.InputError, match="explain one row with boundary="):
        spec(explain(waves, table(), 0), kind="boundary")


def test_options_are_checked():
    assert LOCAL_KINDS == ("effects", "widths", "boundary")
    for bad in (
        {"kind": "swep"},
        {"max_rows": 0},
        {"kind": "effects", "max_display": 0},
        {"kind": "widths", "width": -1},
    ):
        with pytest.raises(pellucid.InputError):
            read_options(LocalOptions, bad)
