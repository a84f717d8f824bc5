"""Worked examples of decompositions; the names carry the identifiers of the inventory."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer, InputError

HOUSES = pd.DataFrame(list(itertools.product(["good", "bad"], ["big", "small"])), columns=["location", "size"])


def prices(interaction):
    """A constant of 150,000, 100,000 for a big house, 50,000 for a good location, and more for both together."""

    def price(X):
        big, good = X["size"].to_numpy() == "big", X["location"].to_numpy() == "good"
        return 150_000 + 100_000.0 * big + 50_000.0 * good + interaction * (big & good)

    return price


def entries(found, *features):
    """The table of a component as {(level, ...): effect}."""
    component = found.component(*features)
    labels = itertools.product(*(axis.labels for axis in component.axes))
    return dict(zip(labels, component.table[..., 0].ravel(), strict=True))


@pytest.mark.parametrize("method", ["marginal", "anova"])
def test_ex_05_house_prices_without_interaction(method):
    found = Explainer(prices(0), HOUSES, progress=False).decompose(method=method)
    assert found.constant == pytest.approx(225_000)
    assert entries(found, "location") == pytest.approx({("bad",): -25_000, ("good",): 25_000})
    assert entries(found, "size") == pytest.approx({("big",): 50_000, ("small",): -50_000})
    assert np.abs(found.component("location", "size").table).max() < 1e-6


@pytest.mark.parametrize("method", ["marginal", "anova"])
def test_ex_06_g_int_10_house_prices_with_interaction(method):
    found = Explainer(prices(100_000), HOUSES, progress=False).decompose(method=method)
    assert found.constant == pytest.approx(250_000)
    assert entries(found, "location") == pytest.approx({("bad",): -50_000, ("good",): 50_000})
    assert entries(found, "size") == pytest.approx({("big",): 75_000, ("small",): -75_000})
    together = entries(found, "size", "location")
    assert together["good", "big"] == pytest.approx(25_000)
    assert together["good", "small"] == pytest.approx(-25_000)
    assert together["bad", "big"] == pytest.approx(-25_000)
    assert together["bad", "small"] == pytest.approx(25_000)
    # The share of the interaction is Friedman's H squared here: 1/14.
    assert found.values[2] == pytest.approx(1 / 14)
    table = found.table("location", "size")
    assert list(table.columns) == ["location", "size", "effect"]
    row = table[(table["location"] == "good") & (table["size"] == "big")]
    assert row["effect"].item() == pytest.approx(25_000)
    parts = found.explain(HOUSES.iloc[[0]])
    assert parts.values[0] == pytest.approx([50_000, 75_000, 25_000])


def saddle(X):
    return 2 + np.exp(X[:, 0]) - X[:, 1] + X[:, 0] * X[:, 1]


def square(size=30):
    axis = np.linspace(-1, 1, size)
    return np.array(list(itertools.product(axis, axis)))


def test_ex_07_g_fd_04_components_of_the_saddle():
    X = square()
    ex = Explainer(saddle, X, progress=False)
    found = ex.decompose(method="anova")
    assert found.constant == pytest.approx(2 + np.sinh(1))
    assert found.values == pytest.approx([0.4931, 0.3802, 0.1267], abs=5e-5)
    assert found.variance == pytest.approx(0.87678, abs=5e-6)
    x = np.linspace(-1, 1, 9)
    first, second = (found.component(f"x{j}").at([x])[:, 0] for j in (0, 1))
    np.testing.assert_allclose(first, np.exp(x) - np.sinh(1), atol=1e-3)
    np.testing.assert_allclose(second, -x, atol=1e-10)
    joint = found.component("x0", "x1").at([x, x[::-1]])[:, 0]
    np.testing.assert_allclose(joint, x * x[::-1], atol=1e-10)
    assert [(check.name, check.holds) for check in found.checks] == [
        ("zero means", True),
        ("orthogonality", True),
        ("variance sum", True),
    ]
    over_rows = ex.decompose(grid=30)
    assert over_rows.constant == pytest.approx(3.18791, abs=5e-6)
    assert over_rows.values[2] == pytest.approx(0.13318, abs=5e-6)
    np.testing.assert_allclose(over_rows.predict(X), saddle(X), atol=1e-12)


def test_ex_08_a_product_of_positive_features_has_main_effects():
    X = square(5) * 4.5 + 5.5  # from 1 to 10
    found = Explainer(lambda X: X[:, 0] * X[:, 1], X, progress=False).decompose(method="anova")
    assert found.component("x0").at([np.array([1.0, 10.0])])[:, 0] == pytest.approx([-24.75, 24.75])
    assert found.values[2] < 0.2 < found.values[0]
    assert found.values[0] == pytest.approx(found.values[1])
    assert found.values[0] == pytest.approx(5.5**2 / (2 * 5.5**2 + 81 / 12))


def test_ex_09_ten_features_have_1024_components():
    X = np.random.default_rng(0).normal(size=(30, 10))
    ex = Explainer(lambda X: X[:, 0] + X[:, 1] * X[:, 2], X, progress=False, checks=False)
    with pytest.raises(InputError, match=r"10 features have 2\^10 = 1,024 components"):
        ex.decompose(order=10)
    assert len(ex.decompose(order=1).components) == 10
    assert len(ex.decompose(features=range(4), order=3).components) == 4 + 6 + 4


def test_g_fd_13_other_components_have_the_same_sum():
    X = square(8)
    found = Explainer(saddle, X, progress=False).decompose(grid=8)
    main, pair = found.component("x0"), found.component("x0", "x1")
    shift = np.sin(5 * main.axes[0].points)[:, None]  # any function of x0 can be put into either
    nonsense = replace(
        found,
        components=(
            replace(main, table=main.table + shift),
            found.component("x1"),
            replace(pair, table=pair.table - shift[:, None]),
        ),
    )
    np.testing.assert_allclose(nonsense.predict(X), saddle(X), atol=1e-12)
    # What tells them apart: the nonsense pair does not average to zero along x1.
    assert np.abs(pair.table.mean(axis=1)).max() < 1e-12
    assert np.abs(nonsense.components[2].table.mean(axis=1)).max() > 0.5
