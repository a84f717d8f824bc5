"""The charts of interactions and networks: their data, and that they can be drawn."""

import numpy as np
import pytest

from explanations.test_interactions import interactions, measured
from pellucid import InputError
from pellucid.charts.interactions import interaction_data, matrix_data
from pellucid.charts.interactions.network import edge_data, node_data, triple_data
from pellucid.explanations.interactions import Interactions


def many(n, strength=1.0, seed=0):
    """A result with costs for n features, most pairs idle, and a triple."""
    names = [f"feature {j}" for j in range(n)]
    rng = np.random.default_rng(seed)
    pairs = tuple((a, b) for k, a in enumerate(names) for b in names[k + 1 :])
    values = strength * rng.random(len(pairs)) * (rng.random(len(pairs)) < 0.15)
    values[:3] = strength
    triple = tuple(names[:3])
    parts = (*((name,) for name in names), *pairs, triple)
    costs = np.concatenate([np.linspace(0.9, 0.05, n), values / (2 * n), [0.02]])
    return interactions(values, sets=pairs, parts=parts, costs=costs, cost_se=costs / 10, additive=np.array([0.3]))


def test_bars_show_the_strongest_first_and_hide_what_does_not_interact():
    rows = interaction_data(measured())
    assert [(row["set"], row["value"]) for row in rows] == [("temp × wind", 0.5), ("temp × hum", 0.2)]
    assert rows[0]["strength"] == 1.5
    assert rows[0]["interval_text"] == "0.4 to 0.6"
    assert rows[1]["cost_text"].startswith("15% ")
    assert [row["set"] for row in interaction_data(measured(), 1)] == ["temp × wind"]
    idle = interactions([0.0, 0.0, 0.0])
    assert len(interaction_data(idle)) == 3
    assert "no interaction at all" in str(idle.plot().spec["title"])


def test_bars_that_the_outcome_does_not_confirm_are_pale():
    tested = interactions(p_values=np.ones(3), adjusted=np.array([0.2, 0.04, 1.0]))
    assert [row["confirmed"] for row in interaction_data(tested)] == [True, False]
    assert "pale: not confirmed" in str(tested.plot().spec["title"])


def test_unnormalised_values_stand_beside_normalised_ones():
    assert "in units of the" in str(measured().plot().spec)
    alone = interactions(normalized=False).plot().spec
    assert "concat" not in alone
    assert "unnormalised H" in str(alone)


def test_unknown_values_are_left_out_of_the_drawing():
    rows = interaction_data(interactions([0.3, np.nan, 0.1]))
    assert [row["value"] for row in rows] == [0.3, 0.1]


def test_the_matrix_is_symmetric_and_without_a_diagonal():
    rows = matrix_data(measured())
    cells = {(row["feature"], row["other"]): row["value"] for row in rows}
    assert len(cells) == 6
    assert all(cells[b, a] == value for (a, b), value in cells.items())
    assert cells["temp", "wind"] == 0.5
    assert measured().plot(kind="matrix").spec["$schema"]
    one = interactions([0.1, 0.3], sets=(("temp",), ("hum",)), against="all")
    with pytest.raises(InputError, match=r"kind='matrix' .*against='all'"):
        one.plot(kind="matrix")


@pytest.mark.parametrize("option", [{"kind": "bar chart"}, {"max_display": 0}, {"max_display": True}, {"knid": "bars"}])
def test_options_are_checked(option):
    with pytest.raises(InputError, match=r"known|whole number|did you mean"):
        measured().plot(**option)


def test_several_outputs_have_a_view_each():
    several = interactions([[0.2, 0.9], [0.5, 0.5], [0.0, 0.1]])
    assert [row["output"] for row in interaction_data(several)] == ["yes"] * 3 + ["no"] * 3
    for kind in ("bars", "matrix"):
        assert len(several.plot(kind=kind).spec["concat"]) == 2


def test_nodes_stand_on_a_circle_and_edges_end_at_them():
    network = many(6).network(loss=0.001)
    nodes = node_data(network)
    assert [row["x"] ** 2 + row["y"] ** 2 for row in nodes] == pytest.approx([1.0] * len(nodes), abs=1e-5)
    assert {row["feature"] for row in nodes} == set(network.feature_names)
    places = {(row["x"], row["y"]) for row in nodes}
    assert len(places) == len(nodes)
    edges = edge_data(network)
    assert len(edges) == len(network.edges) >= 3
    assert all((row["x"], row["y"]) in places and (row["x2"], row["y2"]) in places for row in edges)
    assert [row["cost"] for row in edges] == sorted((row["cost"] for row in edges), reverse=True)
    assert len(edge_data(network, 2)) == 2
    corners = triple_data(network)
    assert [row["corner"] for row in corners] == [0, 1, 2]
    assert {(row["x"], row["y"]) for row in corners} <= places


@pytest.mark.parametrize("n", [2, 3, 12, 13, 30])
def test_networks_of_all_sizes_are_drawn(n, tmp_path):
    network = (many(n) if n > 2 else small()).network(loss=0.001)
    assert network.plot().spec["$schema"]
    turned = [row["turn"] for row in node_data(network)]
    assert all(turn == 0 for turn in turned) == (len(turned) <= 12)
    assert network.plot(width=300).save(tmp_path / "network.png").stat().st_size > 5000


def small() -> Interactions:
    parts = (("a",), ("b",), ("a", "b"))
    costs = np.array([0.6, 0.5, 0.1])
    return interactions([0.4], sets=(("a", "b"),), parts=parts, costs=costs, cost_se=costs / 9)


def test_a_network_of_nothing_is_drawn():
    nothing = interactions(
        parts=(("temp",), ("hum",), ("temp", "hum")), costs=np.zeros(3), cost_se=np.zeros(3)
    ).network()  # fmt: skip
    assert nothing.plot().spec["$schema"]
    assert "not needed: temp and hum" in " ".join(nothing.plot().spec["title"]["subtitle"])
