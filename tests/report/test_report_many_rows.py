"""Of very many rows a report looks at so many, drawn at random, and says so: its time does not grow with the table."""

import numpy as np
import pytest

from pellucid import Explainer
from pellucid.report.build import build
from pellucid.report.work import looked_at

MOST = 120


class Counting:
    """A model that notes how many rows it was asked about."""

    def __init__(self):
        self.rows = 0

    def __call__(self, X):
        self.rows += len(X)
        return 2 * X[:, 0] + np.abs(X[:, 1])


def asked_for(n, **options):
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = Counting()
    ex = Explainer(model, X, model(X), progress=False)
    model.rows = 0
    return build(ex, top=1, most_rows=MOST, **options), model.rows


def test_the_model_is_asked_no_more_for_a_longer_table():
    (small, few), (large, many) = asked_for(1500), asked_for(3000, rows=[2987])
    assert many <= 1.02 * few
    said = [next(fact["value"] for fact in found["facts"] if fact["label"] == "Rows") for found in (small, large)]
    assert said == [f"{n:,} ({k} of them, drawn at random, are in this report)" for n, k in ((1500, 120), (3000, 121))]
    assert "2987" in str(large["explore"]["rows"])


def test_rows_keep_their_names_and_their_schema():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    ex = Explainer(Counting(), X, progress=False, sample_weight=np.arange(1000) % 2)
    some, asked = looked_at(ex, [4, 999, 4], MOST)
    assert MOST <= len(some.data) <= MOST + 2
    assert [some.data.row_labels.name(k) for k in asked] == ["4", "999", "4"]
    assert some.data.schema is ex.data.schema
    odd = [int(some.data.row_labels.name(k)) % 2 for k in range(len(some.data)) if k not in asked]
    assert all(odd)  # rows that do not count are not drawn
    again, _ = looked_at(ex, [4, 999, 4], MOST)
    assert again.data.codes(0).tobytes() == some.data.codes(0).tobytes()


@pytest.mark.parametrize("most", [1000, 2000])
def test_fewer_rows_are_all_looked_at(most):
    ex = Explainer(Counting(), np.random.default_rng(0).normal(size=(1000, 2)), progress=False)
    assert looked_at(ex, [3], most) == (ex, [3])
