"""Worked examples on the risk factors of cervical cancer."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from pellucid import Explainer

YEARS = "Hormonal.Contraceptives..years."


@pytest.fixture(scope="module")
def forest(cervical):
    X, y = cervical
    model = RandomForestClassifier(150, min_samples_leaf=3, random_state=2).fit(X, y)
    return Explainer(model, X, y, output="Cancer", random_state=43)


def test_ex_11_years_with_contraceptives_matter_most(forest):
    result = forest.importance(loss="1-auc", compare="ratio")
    assert YEARS in result.top(2)
    assert 5.0 < result.values[result.feature_names.index(YEARS)] < 8.0  # the textbook's forest: 6.33


def test_ex_33_age_and_years_with_contraceptives(forest):
    age = forest.pdp("Age", at=[25, 30, 35, 40, 45, 50, 55])
    assert np.ptp(age.values[:4]) < 0.03  # low until 40
    assert age.values[-1] > age.values[:4].max() + 0.05
    years = forest.pdp(YEARS, at=[0, 4, 8, 12, 15])
    assert np.ptp(years.values[:3]) < 0.03
    assert years.values[3] > years.values[:3].max() + 0.03  # more than ten years
    assert years.values[4] > years.values[3]
    local = forest.ale(YEARS)
    assert abs(local.value(8)) < 0.02
    assert local.value(12) > local.value(8) + 0.03
    assert "off-data" in {caveat.code for caveat in age.caveats}
    every = forest.pdp("Age")
    assert (every.counts[every.grid > 60] < 5).all()  # which the chart shows, and words leave out


def test_ex_33_age_with_pregnancies(forest):
    pair = ("Age", "Num.of.pregnancies")
    surface = forest.pdp(pair, at=[[30, 40, 45, 50, 55], [0, 2, 4]])
    assert (surface.values[3:].min(axis=0) > surface.values[:3].max(axis=0) + 0.02).all()  # a step at 45
    second = forest.ale(pair, bins=20)
    young = [second.value(age, 4) for age in (18, 19, 20)]
    assert min(young) > 0.01  # the young with many pregnancies: up to +5%, few women, overfitted
    assert max(young) > 0.5 * np.abs(second.values).max()
    assert "empty-cells" in {caveat.code for caveat in second.caveats}


def test_ex_34_centred_curves_of_three_hundred_women(forest, cervical):
    ages = list(range(14, 72, 2))
    curves = forest.ice("Age", sample=300, at=ages, center=14)
    assert curves.values.shape == (300, len(ages))
    assert len(set(curves.rows.tolist())) == 300
    np.testing.assert_allclose(curves.values[:, 0], 0.0, atol=1e-12)
    plain = forest.ice("Age", rows=curves.rows.tolist(), at=ages)
    np.testing.assert_allclose(curves.values, plain.values - plain.values[:, [0]], atol=1e-12)
    # On average hardly any change until 45, then a rise.
    before = curves.average[np.array(ages) <= 44]
    assert np.abs(before).max() < 0.03
    assert curves.average[ages.index(54)] > before.max() + 0.03
    largest = np.abs(curves.values[:, np.array(ages) <= 44]).max(axis=1)
    assert np.median(largest) < np.median(np.abs(curves.values).max(axis=1))
