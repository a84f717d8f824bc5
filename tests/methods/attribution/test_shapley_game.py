"""Any cooperative game: what a caller gives, gets, and is told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from pellucid.methods.attribution.shapley_game import shapley
from reference.indices import interaction_matrix
from reference.indices import shapley as enumerated


def by_table(v):
    """A game given by its table, whatever the number of outputs."""
    p = (len(v) - 1).bit_length()
    return lambda coalitions: v[coalitions.astype(int) @ (1 << np.arange(p))]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 3), st.sampled_from(["auto", "exact", "kernel"]))
def test_equals_the_definition(seed, p, outputs, method):
    v = np.random.default_rng(seed).normal(size=(2**p, outputs))
    found = shapley(by_table(v), p, method=method, order=2)
    expected, pairs = enumerated(v), interaction_matrix(v)
    if outputs == 1:
        expected, pairs = expected[..., 0], pairs[..., 0]
    np.testing.assert_allclose(found.values[0], expected, atol=1e-9)
    np.testing.assert_allclose(found.interaction_values[0], pairs, atol=1e-9)
    np.testing.assert_array_equal(found.se, 0)
    np.testing.assert_allclose(found.base, v[0] if outputs > 1 else v[0, 0])
    np.testing.assert_allclose(found.prediction[0], v[-1] if outputs > 1 else v[-1, 0])


def test_shapes_and_names():
    one = shapley(lambda S: S.sum(axis=1), 3)
    assert one.values.shape == one.se.shape == (1, 3)
    assert one.feature_names == ("player 0", "player 1", "player 2")
    assert one.output_names == ("worth",)
    assert one.interaction_values is None
    two = shapley(lambda S: np.column_stack([S.sum(axis=1), S[:, 0]]), 3, names=["a", "b", "c"], order=2)
    assert two.values.shape == (1, 3, 2)
    assert two.interaction_values.shape == (1, 3, 3, 2)
    assert two.feature_names == ("a", "b", "c")
    assert two.output_names == ("worth 0", "worth 1")


def test_known_games():
    """Gloves: one left and two right gloves. Airport: runways of 1, 2 and 3. A veto player among four."""
    gloves = shapley(lambda S: S[:, 0] & (S[:, 1] | S[:, 2]), 3)
    np.testing.assert_allclose(gloves.values, [[2 / 3, 1 / 6, 1 / 6]], atol=1e-12)
    airport = shapley(lambda S: (S * [1.0, 2.0, 3.0]).max(axis=1), 3)
    np.testing.assert_allclose(airport.values, [[1 / 3, 5 / 6, 11 / 6]], atol=1e-12)
    veto = shapley(lambda S: S[:, 0] & (S[:, 1:].sum(axis=1) >= 1), 4)
    np.testing.assert_allclose(veto.values, [[3 / 4, 1 / 12, 1 / 12, 1 / 12]], atol=1e-12)


def test_many_players_are_estimated_with_errors():
    """A majority of weighted votes among forty players: symmetric players get equal shares, within the errors."""
    votes = np.repeat([1.0, 2.0], 20)

    def value(S):
        return 1 / (1 + np.exp(-(S @ votes - votes.sum() / 2) / 4))

    for method, name in (("auto", "kernel"), ("permutation", "permutation")):
        found = shapley(value, 40, method=method)
        assert found.method == name
        phi, se = found.values[0], found.se[0]
        for group in (slice(20), slice(20, 40)):
            spread = np.abs(phi[group] - phi[group].mean())
            assert (spread <= 5 * se[group] + 1e-9).all()
        assert phi[20:].mean() / phi[:20].mean() == pytest.approx(2, rel=0.1)
        assert float(found.base + phi.sum()) == pytest.approx(float(found.prediction[0]))
        assert se.max() > 0


def test_coalitions_are_counted_and_a_function_may_write_into_them():
    def value(coalitions):
        worth = coalitions.sum(axis=1) * 1.0
        coalitions[:] = False
        return worth

    found = shapley(value, 5)
    np.testing.assert_allclose(found.values, 1.0, atol=1e-12)
    assert found.cost.model_rows == 2**5


def test_the_budget_is_a_number_of_coalitions():
    asked = []

    def value(coalitions):
        asked.append(len(coalitions))
        return np.sqrt(coalitions.sum(axis=1))

    found = shapley(value, 25, budget=200)
    assert found.cost.model_rows == sum(asked) == 202  # nobody and everybody besides


def test_the_seed_decides():
    def value(S):
        return np.sin(S @ np.arange(18.0))

    first, again, other = (shapley(value, 18, random_state=seed, budget=400) for seed in (0, 0, 1))
    assert first.values.tobytes() == again.values.tobytes()
    assert first.values.tobytes() != other.values.tobytes()


def test_a_tolerance_is_met():
    found = shapley(lambda S: np.tanh(S.sum(axis=1) / 5.0 - 2), 30, tolerance=0.02)
    low, high = found.interval()
    assert (high - low).max() / 2 <= 0.02
    assert (found.se > 0).any()


def test_a_tolerance_that_few_coalitions_meet_takes_few():
    found = shapley(lambda S: np.tanh(S.sum(axis=1) / 5.0), 16, tolerance=0.1)
    assert found.cost.model_rows < 2**14


def test_progress_is_told():
    seen = []
    shapley(lambda S: np.sqrt(S.sum(axis=1)), 16, progress=lambda *now: seen.append(now))
    assert seen
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3"])
def test_numbers_of_players_that_are_none(n):
    with pytest.raises(pellucid.InputError, match=r"n must .*at least 1"):
        shapley(lambda S: S.sum(axis=1), n)


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (lambda S: S.sum(axis=1)[:-1], {}, r"returned shape .* return one number per coalition"),
        (lambda S: np.zeros((len(S), 1, 1)), {}, "return one number per coalition"),
        (lambda S: ["a"] * len(S), {}, "returned something that is not a number"),
        (lambda S: np.where(S[:, 1] & ~S[:, 0], np.nan, 1.0), {}, r"not finite for the coalition of players \[1"),
        (lambda S: S.sum(axis=1), {"order": 4}, "order must be"),
        (lambda S: S.sum(axis=1), {"names": ["a", "a", "b"]}, "names has 'a' twice; give each player its own"),
        (lambda S: S.sum(axis=1), {"names": ["a", "b", "c", "c"]}, "names has 4 names for 3 players"),
        (lambda S: S.sum(axis=1), {"method": "tree"}, "method='tree' is not known"),
        (lambda S: S.sum(axis=1), {"random_state": -1}, "random_state must be"),
        (lambda S: S.sum(axis=1), {"random_state": "a"}, "random_state must be a whole number"),
        (lambda S: S.sum(axis=1), {"random_state": True}, "random_state must be a whole number"),
        (np.zeros(8), {}, "value is ndarray, which cannot be called; give a function of coalitions"),
        (lambda S: S.sum(axis=1) + 0j, {}, "returned complex numbers; return real ones"),
        (lambda S: [1j] * len(S), {}, "returned complex numbers; return real ones"),
        (lambda S: np.zeros((len(S), 0)), {}, "returned no outputs"),
        (lambda S: np.zeros((len(S), 1 + S.all())), {}, "returned 2 outputs after 1; return as many"),
        (lambda S: np.zeros((len(S), 1 + (len(S) > 1))), {}, "returned 2 outputs after 1; return as many"),
    ],
)  # fmt: skip
def test_refusals_name_the_remedy(value, options, message):
    with pytest.raises(pellucid.InputError, match=message):
        shapley(value, 3, **options)


@pytest.mark.parametrize("amount", [0, -5, "many", float("nan")])
@pytest.mark.parametrize("name", ["budget", "tolerance"])
def test_amounts_that_are_none(name, amount):
    with pytest.raises(pellucid.InputError, match=f"{name} must be"):
        shapley(lambda S: S.sum(axis=1), 20, **{name: amount})


def test_one_player_gets_everything():
    for method in ("auto", "exact", "kernel", "permutation"):
        found = shapley(lambda S: 3.0 + 2.0 * S[:, 0], 1, method=method)
        np.testing.assert_allclose(found.values, [[2.0]], atol=1e-12)
        np.testing.assert_allclose(found.base, 3.0)
