"""Small things that went wrong once: categories that X lacks, numbers beyond 2^53, outcomes of another shape, threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer, TextExplainer
from pellucid.errors import InputError

RNG = np.random.default_rng(0)


def coloured(table):
    return table["b"] + table["c"].map({"red": 0, "green": 1, "blue": 5}).astype(float)


COLOURS = pd.DataFrame({"c": ["red", "green"] * 20, "b": RNG.normal(size=40)})
BLUE = pd.DataFrame({"c": ["blue"], "b": [0.0]})


def test_a_category_that_only_the_model_knows_is_explained_once_it_is_named():
    with pytest.raises(InputError, match=r"'blue' is not a category .* categorical={'c': \[...\]}"):
        Explainer(coloured, COLOURS).shap(BLUE)
    ex = Explainer(coloured, COLOURS, categorical={"c": ["red", "green", "blue"]}, checks=False)
    assert ex.shap(BLUE).values[0] == pytest.approx([4.5, -COLOURS["b"].mean()])
    assert ex.shap(BLUE, game="conditional").prediction[0] == pytest.approx(5.0)
    assert ex.anchor(BLUE).conditions[0].feature == "c"
    assert list(ex.pdp("c").grid) == ["red", "green"]  # effects are those of rows that there are


@pytest.mark.parametrize(
    ("levels", "message"), [(["red"], "lacks 'green'"), ("red", "must be a list of levels"), (3, "must be a list")]
)
def test_levels_must_be_all_of_them(levels, message):
    with pytest.raises(InputError, match=message):
        Explainer(coloured, COLOURS, categorical={"c": levels})


def test_whole_numbers_beyond_a_float_are_given_back_as_they_are():
    ids = [2**53 + 1, 2**53 + 3, 2**60 + 1]
    X, seen = pd.DataFrame({"id": np.array(ids * 10, dtype=np.int64), "b": RNG.normal(size=30)}), set()

    def model(table):
        seen.update(table["id"].tolist())
        return table["b"]

    ex = Explainer(model, X, checks=False)
    ex.pdp("id")
    ex.shap(X.iloc[[0]])
    assert seen == set(ids)


def test_only_what_compares_with_the_truth_asks_for_an_outcome_of_its_shape():
    X = RNG.normal(size=(40, 2))
    ex = Explainer(lambda rows: rows[:, [0, 1]] * 2, X, X[:, 0] + RNG.normal(size=40))
    assert ex.pdp(0).values.shape[-1] == 2
    assert ex.shap(0).values.shape == (1, 2, 2)
    assert "y known" in repr(ex)
    with pytest.raises(InputError, match="y has 1 columns"):
        ex.importance()


def test_a_column_that_does_not_vary_is_never_chosen():
    found = TextExplainer(lambda texts: [float(len(text)) for text in texts]).lime(
        "a bb ccc dddd eeeee ffffff ggggggg", samples=[[0, 1, 1, 1, 1, 0, 1], [1, 0, 0, 0, 0, 1, 0]]
    )
    assert np.isfinite(found.values).all()


def test_the_levels_of_a_complete_table_are_kept_apart():
    cells = np.array([(i, j) for i in range(4) for j in range(3)], dtype=float)
    table = RNG.normal(size=(4, 3))
    ex = Explainer(lambda rows: table[rows[:, 0].astype(int), rows[:, 1].astype(int)], np.tile(cells, (5, 1)))
    found = ex.decompose(method="generalized")
    assert found.r2 == pytest.approx(1.0)
    assert found.residual == pytest.approx(0.0, abs=1e-12)
    assert [caveat.code for caveat in found.caveats if caveat.code in ("left-over", "too-many-coefficients")] == []


@pytest.mark.parametrize(("bend", "words"), [(0.0, "are parallel"), (0.03, "nearly parallel"), (0.3, "differs")])
def test_curves_are_called_parallel_where_they_are(bend, words):
    X = np.random.default_rng(1).normal(size=(100, 2))
    found = Explainer(lambda rows: rows[:, 0] * (1 + bend * np.tanh(rows[:, 1])), X, checks=False).ice(0)
    assert words in found.text()


def test_eight_threads_get_what_one_gets():
    X = RNG.normal(size=(30, 3))

    def model(rows):
        return rows[:, 0] * rows[:, 1] + rows[:, 2]

    def everything(ex):
        return [ex.pdp(0).values, ex.shap([0, 1]).values, ex.importance(loss="variance").values]

    alone, shared = everything(Explainer(model, X)), Explainer(model, X)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(everything, [shared] * 8):
            assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))


def test_a_background_is_the_one_that_was_given():
    X = RNG.normal(size=(30, 2))
    background = X[:5].copy()
    ex = Explainer(lambda rows: rows.sum(axis=1), X, background=background, checks=False)
    base = background.sum(axis=1).mean()
    background += 10
    found = ex.shap(0)
    assert found.base == pytest.approx(base)
    assert found.values.sum() == pytest.approx(X[0].sum() - base)
    assert Explainer(ex.predictor.model, X, background=background, checks=False).shap(0).base == pytest.approx(
        base + 20
    )
