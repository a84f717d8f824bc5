"""What may be asked about interactions, and what is answered with an error that names the remedy."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from golden_files import masked
from pellucid import Explainer, InputError


def sample(p=4, n=60):
    return np.random.default_rng(0).normal(size=(n, p))


@pytest.fixture
def ex():
    return Explainer(
        lambda X: X[:, 0] * X[:, 1] + X[:, 2], sample(), feature_names=["temp", "hum", "wind", "day"], progress=False
    )


def ask(ex, *features, **options):
    return ex.interactions(*features, **{"method": "greenwell", **options})


def test_all_pairs_pairs_with_one_feature_and_pairs_among_some(ex):
    assert len(ask(ex).sets) == 6
    assert ask(ex, "wind").sets == (("wind", "temp"), ("wind", "hum"), ("wind", "day"))
    assert ask(ex, ["wind"]).sets == ask(ex, 2).sets == ask(ex, "wind").sets
    assert ask(ex, ("hum", "temp")).sets == (("hum", "temp"),)
    assert ask(ex, ["day", 0, "hum"]).sets == (("day", "temp"), ("day", "hum"), ("temp", "hum"))
    assert ask(ex, ["day", 0, "hum"]).feature_names == ("day", "temp", "hum")
    assert ask(ex, against="all", method="shap").sets == (("temp",), ("hum",), ("wind",), ("day",))
    assert ask(ex, ["day", "hum"], against="all", method="shap").sets == (("day",), ("hum",))


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        ("tmp", {}, "did you mean 'temp'?"),
        (9, {}, "feature position 9 is out of range"),
        (("temp", "temp"), {}, "'temp' is given twice in features="),
        ([], {}, "features= is empty; name at least one"),
        (None, {"method": "friedman"}, "method='friedman' is not known"),
        (None, {"method": ["h"]}, "is not known"),
        (None, {"against": "triple"}, "did you mean 'triples'?"),
        (None, {"against": "triples"}, "method='greenwell' has no value for against='triples'; use method='h'"),
        (("temp", "hum"), {"method": "h", "against": "triples"}, "against='triples' needs three features, and there are 2"),
        (None, {"p_values": True}, "p_values=True is answered by method='h', not by method='greenwell'"),
        (None, {"normalize": "yes"}, "normalize must be"),
        (None, {"rows": 1}, "rows must be"),
        (None, {"rows": 2.5}, "rows must be"),
    ],
)  # fmt: skip
def test_errors_name_the_remedy(ex, features, options, message):
    with pytest.raises(InputError) as error:
        ask(ex, features, **options)
    assert message in str(error.value)


def test_one_feature_or_one_row_does_not_interact():
    with pytest.raises(InputError, match="X has one feature"):
        ask(Explainer(lambda X: X[:, 0], sample(1), progress=False))
    with pytest.raises(InputError, match="one row that counts"):
        ask(Explainer(lambda X: X[:, 0], sample(2, 1), progress=False))


def test_too_many_are_refused_with_a_way_out():
    X = sample(300, 5)
    ex = Explainer(lambda X: X[:, 0], X, progress=False)
    with pytest.raises(InputError, match=r"44,850 pairs.* features=ex.importance\(\).top\(20\)"):
        ex.interactions(range(300))
    with pytest.raises(InputError, match="triples, more than the 5,000"):
        ex.interactions(range(300), against="triples")
    assert len(ask(ex, [3, 5, 7], rows=2).sets) == 3


def test_a_column_of_a_group_is_named_by_its_group(golden):
    ex = Explainer(lambda X: X[:, 0] * X[:, 2], sample(), groups={"both": ["x0", "x1"]}, progress=False)
    with pytest.raises(InputError, match=r"'x1' .* 'both'"):
        ex.interactions(("x1", "x2"), method="shap")
    with pytest.raises(InputError, match="belongs to the group"):
        ex.interactions((0, 2), method="shap")
    result = ex.interactions(("both", "x2"), method="shap")
    assert result.values[0] > 0
    golden("interactions", "a group and a feature, by Shapley values", masked(result.text()))


def test_a_feature_that_is_always_missing():
    X = pd.DataFrame({"a": np.arange(8.0), "b": np.nan, "c": [0.0, 1.0] * 4})
    ex = Explainer(lambda X: X["a"].to_numpy() * X["c"].to_numpy(), X, progress=False)
    with pytest.raises(InputError, match="'b' is missing in every row"):
        ask(ex, ("a", "b"))
    result = ask(ex)
    assert result.pair("a", "b") == 0
    assert result.pair("a", "c") > 0


def test_what_it_cost_and_how_to_repeat_it(ex):
    result = ask(ex, "temp", rows=30)
    assert result.cost.model_rows > 0
    assert result.settings["features"] == ["temp"]
    assert result.settings["rows"] == 30
    assert result.settings["draws"] == 500


def test_sparse_tables_give_what_dense_ones_give():
    X = sample(5) * (sample(5) > 0)

    def f(X):
        dense = X.toarray() if scipy.sparse.issparse(X) else X
        return dense[:, 0] * dense[:, 1] + dense[:, 2]

    dense = ask(Explainer(f, X, progress=False))
    sparse = ask(Explainer(f, scipy.sparse.csr_matrix(X), progress=False))
    np.testing.assert_allclose(sparse.values, dense.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sparse.costs, dense.costs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["greenwell", "shap"])
def test_a_constant_feature_and_a_tiny_table(method):
    X = np.column_stack([[0.0, 1.0, 2.0], [5.0, 5.0, 5.0], [1.0, 0.0, 1.0]])
    result = Explainer(lambda X: X[:, 0] * X[:, 2] + X[:, 1], X, progress=False).interactions(method=method)
    assert result.pair("x0", "x1") == result.pair("x1", "x2") == 0
    assert result.pair("x0", "x2") > 0
    assert result.network().left_out == ("x1",)


@pytest.mark.parametrize("method", ["h", "greenwell", "shap"])
@pytest.mark.parametrize(
    "f",
    [
        lambda X: np.full(len(X), 0.1),
        lambda X: 1e9 + X[:, 0] + np.sin(X[:, 1]),
        lambda X: (X[:, 0] + np.sin(X[:, 1]) + X[:, 2]).astype(np.float32),
    ],
    ids=["constant", "far from zero", "single precision"],
)
def test_rounding_is_no_interaction(method, f):
    X = np.random.default_rng(0).normal(size=(120, 3))
    found = Explainer(f, X, progress=False).interactions(method=method)
    assert not found.values.any()
    assert not found.costs[[len(part) > 1 for part in found.parts]].any()
    assert found.network().additive == 0
    assert "Strongest" not in found.text()


def test_an_effect_that_is_turned_round_is_not_called_additive_by_greenwell():
    X = np.random.default_rng(0).integers(0, 2, (200, 2))
    found = Explainer(lambda X: X.sum(axis=1) % 2, X, progress=False).interactions(method="greenwell")
    assert found.values[0] == pytest.approx(0, abs=1e-9)
    assert "none interacts" not in found.text()
    assert "turned-effects" in {caveat.code for caveat in found.caveats}


def test_without_a_network_no_rows_are_asked_for_it(ex):
    whole, part = ex.interactions(), ex.interactions(network=False)
    np.testing.assert_array_equal(part.values, whole.values)
    assert part.cost.model_rows < whole.cost.model_rows
    assert part.parts == ()
    with pytest.raises(InputError, match="network=False"):
        part.network()
