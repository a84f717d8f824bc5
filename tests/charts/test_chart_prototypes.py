"""Charts of prototypes: what is in them."""

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer, InputError
from pellucid.charts.prototypes.gallery import gallery_data
from pellucid.charts.prototypes.map import mean_kernel
from pellucid.charts.prototypes.scree import scree_data
from pellucid.charts.prototypes.table import table_data
from pellucid.explanations.plot_options import PrototypeOptions


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"temp": rng.normal(size=80), "wind": rng.normal(size=80), "season": rng.choice(["a", "b"], 80)})
    y = np.asarray(X["temp"]) + rng.normal(size=80)
    return Explainer(lambda X: np.asarray(X["temp"]), X, y, progress=False).prototypes(4, criticisms=2)


def test_the_table_has_a_line_per_example_and_its_cells(found):
    rows, lines, columns = table_data(found, 12, 8)
    assert len(lines) == len(set(lines)) == 6
    assert columns == ["share", "witness", "temp", "wind", "season", "prediction ", "outcome "]
    assert len(rows) == 6 * 7
    assert [row["value"] for row in rows if row["column"] == "season"] == found.cells[2].tolist()
    few, short, _ = table_data(found, 1, 1)
    assert len(short) == 2
    assert len({row["column"] for row in few}) == 5


def test_scree_has_the_whole_curve(found):
    assert [row["m"] for row in scree_data(found.discrepancy)] == list(range(1, len(found.discrepancy.curve) + 1))


@pytest.mark.parametrize("kind", ["table", "scree", "map", "errors"])
def test_every_kind_is_drawn(found, kind):
    assert found.plot(kind=kind, width=300).spec["title"]["text"]


def test_the_density_of_the_map_is_the_mean_kernel():
    points = np.array([[0.0, 0.0], [1.0, 2.0]])
    z = mean_kernel(points, np.array([0.0, 1.0]), np.array([0.0]), np.array([1.0, 2.0]))
    expected = [(1 + np.exp(-0.5 - 0.5)) / 2, (np.exp(-0.5) + np.exp(-0.5)) / 2]
    np.testing.assert_allclose(z[:, 0], expected)


def test_a_gallery_draws_rows_as_images(found):
    X = np.random.default_rng(0).uniform(size=(40, 12))
    images = Explainer(lambda X: X[:, 0], X, progress=False).prototypes(3, criticisms=1)
    rows = gallery_data(images, PrototypeOptions(kind="gallery", shape=(3, 4)))
    assert sum(row["kind"] == "image" for row in rows) == 4
    assert all(row["address"].startswith("data:image/png") for row in rows if row["kind"] == "image")
    with pytest.raises(InputError, match="shape="):
        images.plot(kind="gallery")
    with pytest.raises(InputError, match="kind='gallery'"):
        found.plot(kind="gallery")
    with pytest.raises(InputError, match="kind='errors'"):
        images.plot(kind="errors")
    with pytest.raises(InputError, match="shape must be"):
        images.plot(kind="gallery", shape=3)
