"""Categories with a natural order stand in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer
from pellucid.data.natural import in_order, natural_order


@pytest.mark.parametrize(
    ("names", "called"),
    [
        (["JAN", "FEB", "MAR", "APR", "SEP", "DEC"], "calendar"),
        (["Mon", "Tue", "Wed", "Sat", "Sun"], "days of the week"),
        (["spring", "summer", "fall", "winter"], "seasons"),
        (["Low", "Medium", "High", "Very high"], "low to high"),
        (["S", "M", "L", "XL"], "low to high"),
        (["poor", "fair", "good"], "bad to good"),
        (["never", "sometimes", "always"], "seldom to often"),
        (["1st", "2nd", "3rd", "10th"], "numbers in the names"),
        (["1st-4th", "5th-6th", "9th", "10th", "Bachelors"], "numbers in the names"),
        (["room 1", "room 2", "room 10"], "numbers in the names"),
        (["Less than 25", "25 - 45", "Greater than 45"], "numbers in the names"),
        (["little", "moderate", "quite rich", "rich"], "low to high"),
        (["little", "moderate", "rich"], "low to high"),
        (["< 5", "5 to 10", "10 to 20", "20+"], "numbers in the names"),
    ],
)
def test_the_natural_order_is_found_from_any_other(names, called):
    order = natural_order(names[::-1])
    assert order is not None
    assert [names[::-1][i] for i in order[0]] == names
    assert order[1] == called
    assert in_order(set(names)) == names


@pytest.mark.parametrize("names", [["b", "a"], ["may", "june", "x"], ["low", "red"], ["low"]])
def test_other_names_are_sorted(names):
    assert natural_order(names) is None
    assert in_order(names) == sorted(names)


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    generator = np.random.default_rng(0)
    X = pd.DataFrame(
        {"month": generator.choice(months, 600), "a": generator.normal(size=600), "b": generator.random(600)}
    )
    return Explainer(
        lambda X: X["month"].map(months.index).to_numpy() + X["a"] * X["b"], X, checks=False, progress=False
    )


@pytest.mark.parametrize("method", ["ale", "pdp", "ice"])
def test_charts_draw_the_months_in_order_and_say_so(explainer, method):
    chart = getattr(explainer, method)("month").plot(distribution=None)
    (domain,) = {tuple(d) for d in _domains(chart.spec) if "Jan" in d}
    assert domain[:3] == ("Jan", "Feb", "Mar")
    assert "order: calendar" in " ".join(chart.spec["title"]["subtitle"])


def test_categories_are_sorted_by_value_or_name_when_asked(explainer):
    (high,) = {tuple(d) for d in _domains(explainer.pdp("month").plot(order="value").spec) if "Jan" in d}
    (name,) = {tuple(d) for d in _domains(explainer.pdp("month").plot(order="name").spec) if "Jan" in d}
    assert high[:2] == ("Dec", "Nov")
    assert name[:2] == ("Apr", "Aug")


def _domains(part):
    if isinstance(part, list):
        return [found for each in part for found in _domains(each)]
    if not isinstance(part, dict):
        return []
    own = [part["scale"]["domain"]] if isinstance(part.get("scale"), dict) and "domain" in part["scale"] else []
    return own + [found for key, each in part.items() if key != "datasets" for found in _domains(each)]
