"""The network: what is left out never loses more than it says, and nothing is kept without its parts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_files import masked
from pellucid import Explainer, InputError
from pellucid.explanations.network import left_out
from reference.exclusion import cost, loss_without
from strategies import QUICK

SETS = [frozenset(u) for n in (1, 2, 3, 4) for u in combinations("abcd", n)]
VARIANCES = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 0.05), st.floats(0.05, 5)), min_size=15, max_size=15)


def exact(variances):
    """Components and the costs of all sets of at most three of four features."""
    parts = dict(zip(SETS, variances, strict=True))
    return parts, {u: cost(parts, u) for u in SETS if len(u) <= 3}


@given(VARIANCES, st.floats(0, 0.6))
@QUICK
def test_the_true_loss_is_within_the_bound_and_the_bound_within_the_loss(variances, loss):
    parts, costs = exact(variances)
    dropped, lost = left_out(costs, loss)
    assert loss_without(parts, dropped) <= lost + 1e-9
    assert lost <= loss * (1 + 1e-9) + 1e-12
    assert not any(u < v for u in dropped for v in dropped)


@given(VARIANCES, st.floats(0, 0.6))
@QUICK
def test_nothing_more_could_be_left_out(variances, loss):
    """No set that is kept fits into what is left of the loss, even counting what it would free."""
    _, costs = exact(variances)
    dropped, lost = left_out(costs, loss)
    for u in costs:
        if any(v <= u for v in dropped):
            continue
        freed = sum(costs[v] for v in dropped if u < v)
        assert lost - freed + costs[u] > loss - 1e-9


@given(VARIANCES)
@QUICK
def test_a_loss_of_nothing_leaves_out_what_does_nothing(variances):
    parts, costs = exact(variances)
    dropped, lost = left_out(costs, 0.0)
    assert lost == 0
    for u, share in costs.items():
        assert (share == 0) == any(v <= u for v in dropped)
    assert loss_without(parts, dropped) == 0


def test_a_feature_left_out_stands_for_its_pairs():
    costs = {frozenset("a"): 0.5, frozenset("b"): 0.5, frozenset("c"): 0.008}
    costs |= {frozenset("ab"): 0.3, frozenset("ac"): 0.006, frozenset("bc"): 0.006}
    dropped, lost = left_out(costs, 0.01)
    assert dropped == {frozenset("c")}
    assert lost == pytest.approx(0.008)


def explain(f, p=4, n=300, **options):
    X = np.random.default_rng(0).normal(size=(n, p))
    return Explainer(f, X, feature_names=list("abcdefgh")[:p], progress=False, **options)


def test_an_additive_model_has_no_edges(golden):
    result = explain(lambda X: np.exp(X[:, 0]) + X[:, 1]).interactions(method="greenwell")
    network = result.network()
    assert network.edges == ()
    assert network.values.shape == (0,)
    assert set(network.feature_names) == {"a", "b"}
    assert network.left_out == ("c", "d")
    assert network.lost == 0
    golden("network", "an additive model", network.text())


def test_edges_nodes_and_triples_of_a_known_model(golden):
    result = explain(lambda X: X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] + 0.01 * X[:, 0] * X[:, 3]).interactions(
        method="greenwell"
    )
    network = result.network()
    assert {frozenset(edge) for edge in network.edges} == {frozenset("ab"), frozenset("ac"), frozenset("bc")}
    assert [frozenset(triple) for triple in network.triples] == [frozenset("abc")]
    assert network.left_out == ()
    assert 0 < network.lost < 0.001
    assert network.additive == pytest.approx(0.5, abs=0.15)
    finer = result.network(loss=0)
    assert ("a", "d") in finer.edges
    assert finer.lost == 0
    golden("network", "three of six pairs and a triple", masked(network.text()))


def test_a_large_loss_leaves_nothing():
    result = explain(lambda X: X[:, 0] * X[:, 1]).interactions(method="greenwell")
    network = result.network(loss=0.999)
    assert len(network.edges) <= 1
    assert network.lost <= 0.999


@pytest.mark.parametrize("loss", [-0.1, 1, True, "little", np.nan])
def test_a_loss_is_a_share(loss):
    result = explain(lambda X: X[:, 0] * X[:, 1], p=2, n=20).interactions(method="greenwell")
    with pytest.raises(InputError, match=r"loss must .*at least 0"):
        result.network(loss)


def test_of_several_outputs_the_mean_or_one():
    def f(X):
        return np.column_stack([X[:, 0] * X[:, 1], X[:, 0] + X[:, 1]])

    result = explain(f, p=2).interactions(method="greenwell")
    assert result.costs.shape == (3, 2)
    first, second = result.output_names
    assert result.network(output=second).edges == ()
    assert result.network(output=first).values[0] == pytest.approx(1, abs=0.05)
    assert result.network().values[0] == pytest.approx(result.costs[2].mean())
    assert result.network(output=first).output_names == (first,)
    with pytest.raises(InputError, match="there is no output 'third'"):
        result.network(output="third")


def test_correlated_features_are_a_caveat_of_the_network_too():
    x = np.random.default_rng(1).normal(size=400)
    X = np.column_stack([x, x + 0.05 * np.random.default_rng(2).normal(size=400)])
    result = Explainer(lambda X: X[:, 0] * X[:, 1], X, progress=False).interactions(method="greenwell")
    assert "off-data" in {caveat.code for caveat in result.caveats}
    assert "off-data" in {caveat.code for caveat in result.network().caveats}
