"""Interactions and their network as results: order, table, words, files."""

from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid import InputError, Interactions
from pellucid.explanations.explanation import headed
from pellucid.runner import Cost

PAIRS = (("temp", "hum"), ("temp", "wind"), ("hum", "wind"))


def interactions(values=(0.2, 0.5, 0.0), sets=PAIRS, **more):
    values = np.array(values)
    about = {
        "method": "h", "against": "pairs", "measure": "share of the joint effect", "sets": sets,
        "values": values, "se": values / 10, "low": values * 0.8, "high": values * 1.2,
        "strength": values * 3, "joint": values / 2, "scale": "response", "cost": Cost(0, 0.0, 0, 0.0),
        "feature_names": tuple(dict.fromkeys(name for names in sets for name in names)),
        "output_names": ("prediction",) if values.ndim == 1 else ("yes", "no"), "settings": {"method": "h"},
    }  # fmt: skip
    return Interactions(**headed({**about, **more}))


def measured(**more):
    parts = (("temp",), ("hum",), ("wind",), *PAIRS)
    costs = np.array([0.8, 0.4, 0.3, 0.15, 0.05, 0.0])
    return interactions(parts=parts, costs=costs, cost_se=costs / 20, additive=np.array([0.2]), **more)


def test_order_top_and_look_up():
    result = interactions()
    assert result.ranking.tolist() == [1, 0, 2]
    assert result.top(2) == [("temp", "wind"), ("temp", "hum")]
    assert result.pair("wind", "temp") == result.pair("temp", "wind") == 0.5
    several = interactions([[0.2, 0.9], [0.5, 0.5], [0.0, 0.1]])
    assert several.ranking.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(several.pair("hum", "temp"), [0.2, 0.9])
    assert interactions([0.2, np.nan, 0.3]).ranking.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("tmp", "hum"), "'tmp'.*'temp'"),
        (("temp",), "not examined together.*3 sets of 2"),
        (("temp", "temp"), "not examined together"),
    ],
)
def test_a_set_that_is_not_there(names, message):
    with pytest.raises(InputError, match=message):
        interactions().pair(*names)


def test_the_table_is_sorted_and_has_what_is_known():
    table = measured(p_values=np.array([0.01, 0.5, 1.0]), adjusted=np.array([0.03, 1.0, 1.0])).frame()
    assert table["feature_1"].tolist() == ["temp", "temp", "hum"]
    assert table["feature_2"].tolist() == ["wind", "hum", "wind"]
    assert table["interaction"].tolist() == [0.5, 0.2, 0.0]
    assert table["cost"].tolist() == [0.05, 0.15, 0.0]
    assert table["p_adjusted"].tolist() == [1.0, 0.03, 1.0]
    assert "p_value" not in interactions().frame()
    assert "cost" not in interactions().frame()
    single = interactions([0.1, 0.3], sets=(("temp",), ("hum",)), against="all").frame()
    assert single["feature"].tolist() == ["hum", "temp"]
    two = interactions([[0.2, 0.9], [0.5, 0.5], [0.0, 0.1]]).frame()
    assert two["output"].tolist() == ["yes"] * 3 + ["no"] * 3
    assert two["interaction"].tolist() == [0.2, 0.5, 0.0, 0.9, 0.5, 0.1]


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"se .*\(2,\).*3 sets"):
        interactions(se=np.zeros(2))
    with pytest.raises(InputError, match="1 parts but 0 costs"):
        interactions(parts=(("temp",),))


def test_words(golden):
    text = measured().text()
    golden("interactions", "pairs, with what they cost", text)
    assert "pdp(('temp', 'wind'))" in text
    strengths = np.array([5.0, 1.0, 0.0])
    golden("interactions", "pairs, the strongest has not the largest share", interactions(strength=strengths).text())
    golden("interactions", "pairs, unnormalised", interactions(strength=strengths, normalized=False).text())
    tested = interactions(p_values=np.ones(3), adjusted=np.array([0.2, 0.04, 1])).text()
    golden("interactions", "pairs, one of three significant", tested)
    golden("interactions", "pairs, none of three significant", interactions(adjusted=np.ones(3)).text())
    one = interactions([0.1, 0.3], sets=(("temp",), ("hum",)), against="all").text()
    golden("interactions", "single features", one)
    assert "interactions('hum')" in one
    golden("interactions", "pairs, two outputs", interactions([[0.2, 0.9], [0.5, 0.5], [0.0, 0.1]]).text())


def test_a_network_is_stored_and_comes_back(tmp_path, golden):
    network = measured().network(loss=0.1)
    golden("network", "one of three pairs", network.text())
    assert network.edges == (("temp", "hum"),)
    assert network.lost == pytest.approx(0.05)
    for name in ("network.json", "network.parquet"):
        loaded = pellucid.load(network.save(tmp_path / name))
        assert loaded == network
        assert loaded.text() == network.text()
    table = network.frame()
    assert table["features"].tolist() == ["temp", "hum", "wind", "temp × hum"]
    assert table["order"].tolist() == [1, 1, 1, 2]
    assert table["se"].tolist() == pytest.approx([0.04, 0.02, 0.015, 0.0075])
    result = pellucid.load(measured().save(tmp_path / "result.json"))
    assert result == measured()
    assert result.network(loss=0.1) == network


def test_an_empty_network_still_has_a_table(golden):
    nothing = replace(measured(), costs=np.zeros(6), cost_se=np.zeros(6), additive=np.zeros(1)).network()
    assert len(nothing.frame()) == 0
    assert nothing.left_out == ("temp", "hum", "wind")
    golden("network", "empty", nothing.text())


def test_pairs_by_name_and_in_order():
    ex = pellucid.Explainer(
        lambda x: x[:, 0] * x[:, 1] + x[:, 2], np.random.default_rng(0).normal(size=(60, 3)), checks=False
    )
    found = ex.interactions()
    assert found["x1", "x0"] == found["x0", "x1"] == found.pair("x0", "x1")
    assert next(iter(found)) == ("x0", "x1")
    assert len(found) == 3
