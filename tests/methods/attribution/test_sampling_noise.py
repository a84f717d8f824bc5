"""Caveats of sampled, conditional and long lists of contributions: when they fire, with which number, and when not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_files import masked
from pellucid import Attribution
from pellucid.diagnostics.disagreement import conditional_game
from pellucid.diagnostics.left_over import dense_answer
from pellucid.diagnostics.sampling_noise import imprecise
from pellucid.explanations.attribution import Entries, Reference
from pellucid.explanations.explanation import Header
from pellucid.runner import Cost
from pellucid.stats import Z95

Z = Z95


def attribution(values, se=0.0, *, game="marginal", outputs=("prediction",), model_rows=1000):
    values = np.asarray(values, dtype=float)
    p = values.shape[1]
    base = np.zeros(values.shape[2:])
    names = tuple(f"x{j}" for j in range(p))
    return Attribution(
        values=values, se=np.broadcast_to(np.asarray(se, dtype=float), values.shape), base=base,
        prediction=base + values.sum(axis=1), header=Header(feature_names=names, output_names=outputs, scale="response", cost=Cost(model_rows, 0.0, 1, 0.0), settings={"method": "shap"}),
        entries=Entries((np.zeros(len(values)),) * p), method="permutation", game=game, reference=Reference(50),
    )  # fmt: skip


def only(caveats, code):
    found = list(caveats)
    assert [caveat.code for caveat in found] == [code]
    assert found[0].value > found[0].threshold
    assert found[0].advice.endswith(".")
    return found[0]


# -- imprecise ---------------------------------------------------------------------------------------


def test_exact_contributions_are_precise():
    assert list(imprecise(attribution([[1.0, -2.0, 0.001]]))) == []


def test_narrow_intervals_are_precise():
    assert list(imprecise(attribution([[4.0, -3.0, 2.0]], [[0.5, 0.5, 0.5]]))) == []


def test_the_worst_of_the_top_contributions_is_told(golden):
    found = only(imprecise(attribution([[4.0, -3.0, 1.0]], [[0.1, 0.1, 0.3]])), "imprecise")
    assert found.value == pytest.approx(Z * 0.3)
    assert found.feature == "x2"
    golden("caveats", "imprecise: one contribution of three", str(found))


def test_the_sign_and_the_order_that_intervals_leave_open(golden):
    values, errors = [[4.0, -3.9, 1.0]], [[0.1, 0.1, 0.6]]
    found = only(imprecise(attribution(values, errors)), "imprecise")
    assert found.value == pytest.approx(Z * 0.6)
    golden("caveats", "imprecise: a sign and an order left open", str(found))


@pytest.mark.parametrize(
    ("gap", "open_"), [(Z * np.hypot(0.3, 0.4) - 0.01, True), (Z * np.hypot(0.3, 0.4) + 0.01, False)]
)
def test_an_order_is_open_when_the_difference_is_within_its_own_interval(gap, open_):
    values, errors = [[10.0, 10.0 - gap, 1.1]], [[0.3, 0.4, 0.5]]
    found = only(imprecise(attribution(values, errors)), "imprecise")
    assert ("order of x0 and x1" in found.message) == open_


def test_what_nobody_reads_may_be_imprecise():
    # 0.9 of 20 is below 5% of the row; the sixth of six is below the top five.
    assert list(imprecise(attribution([[10.0, 9.1, 0.9]], [[0.1, 0.1, 0.9]]))) == []
    six = [[5.0, 4.0, 3.0, 3.0, 3.0, 2.0]]
    assert list(imprecise(attribution(six, [[0.1, 0.1, 0.1, 0.1, 0.1, 2.0]]))) == []
    assert list(imprecise(attribution(six, [[0.1, 0.1, 0.1, 0.1, 2.0, 0.1]]))) != []


def test_one_row_of_ten_may_be_imprecise():
    values, errors = np.ones((10, 3)), np.full((10, 3), 0.01)
    errors[7, 1] = 5.0
    assert list(imprecise(attribution(values, errors))) == []
    errors[3, 2] = 0.4
    found = only(imprecise(attribution(values, errors)), "imprecise")
    assert (found.feature, found.value) == ("x2", pytest.approx(Z * 0.4))
    assert "x2 in row 3" in found.message


def test_rows_are_counted_as_rows_with_several_outputs():
    values, errors = np.ones((2, 3, 2)), np.full((2, 3, 2), 0.01)
    errors[1, 0, :] = 0.5
    found = only(imprecise(attribution(values, errors, outputs=("no", "yes"))), "imprecise")
    assert "x0 in row 1" in found.message


@given(ratio=st.floats(0.6, 50.0), rows=st.integers(1, 10**7))
def test_the_budget_advised_is_enough(ratio, rows):
    """With that many times the rows the error shrinks with the root of the number, and the caveat is gone."""
    values = [[3.0, 2.0, 1.0]]
    first = only(imprecise(attribution(values, [[0.0, 0.0, ratio / Z]], model_rows=rows)), "imprecise")
    budget = int(first.advice.split("budget=")[2].split(")")[0])
    again = ratio / Z / np.sqrt(budget / rows)
    assert list(imprecise(attribution(values, [[0.0, 0.0, 0.999999 * again]]))) == []
    assert budget <= 1.1 * (ratio / 0.5) ** 2 * rows + 1


def test_unknown_contributions_and_errors_are_no_ground_to_judge():
    values = [[np.nan] * 3, [4.0, 3.0, 2.0]]
    assert list(imprecise(attribution(values, [[np.nan] * 3, [0.1, np.nan, 0.1]]))) == []
    assert only(imprecise(attribution(values, [[np.nan] * 3, [0.1, np.nan, 0.9]])), "imprecise").feature == "x2"


# -- conditional-game --------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["marginal", "path"])
def test_other_games_keep_dummy_and_symmetry(game):
    assert list(conditional_game(attribution([[1.0, 2.0]], game=game), 3.0)) == []


def test_the_conditional_game_is_always_told():
    found = only(conditional_game(attribution([[1.0, 2.0]], game="conditional"), None), "conditional-game")
    assert "rests on" not in found.message
    assert (found.value, found.threshold) == (1.0, 0.0)


@pytest.mark.parametrize(("rows", "few"), [(4.0, True), (19.9, True), (20.1, False), (400.0, False)])
def test_few_rows_behind_a_coalition_are_a_warning_of_their_own(rows, few, golden):
    found = only(conditional_game(attribution([[1.0, 2.0]], game="conditional"), rows), "conditional-game")
    assert found.value == pytest.approx(1 / np.sqrt(rows))
    assert found.threshold == pytest.approx(1 / np.sqrt(20) if few else 0.0)
    assert ("more reference rows" in found.advice) == few
    kind = "few" if few else "enough"
    golden("caveats", f"conditional-game: {kind} rows behind a coalition", masked(str(found)))


# -- many-small --------------------------------------------------------------------------------------


def test_many_equal_features_are_too_many_to_read(golden):
    found = only(dense_answer(attribution(np.ones((3, 25)))), "many-small")
    assert found.value == pytest.approx(1.0)
    golden("caveats", "many-small: equal features", str(found))


def test_twenty_equal_features_are_no_small_pieces():
    assert list(dense_answer(attribution(np.ones((1, 20))))) == []
    assert list(dense_answer(attribution(np.ones((1, 21))))) != []


@pytest.mark.parametrize(("pieces", "share", "fires"), [(11, 0.31, True), (10, 0.31, False), (11, 0.29, False)])
def test_how_many_pieces_and_how_much_of_the_whole(pieces, share, fires):
    row = np.concatenate([[1 - share], np.full(pieces, share / pieces), np.zeros(30)])
    found = list(dense_answer(attribution([row, -row])))
    assert [caveat.value for caveat in found] == ([pytest.approx(share)] if fires else [])


def test_features_that_do_nothing_are_no_pieces():
    assert list(dense_answer(attribution(np.zeros((2, 50))))) == []
    assert list(dense_answer(attribution([[1.0, 0.5, *np.zeros(50)]]))) == []


@given(seed=st.integers(0, 10**6), outputs=st.integers(1, 3))
def test_the_fidelity_lost_is_that_of_the_sparse_view(seed, outputs):
    values = np.random.default_rng(seed).normal(size=(4, 40, outputs))
    values[0] = 0.0
    names = tuple(f"c{k}" for k in range(outputs))
    full = attribution(values[:, :, 0] if outputs == 1 else values, outputs=names)
    found = only(dense_answer(full), "many-small")
    said = float(found.advice.split("it sums ")[1].split("%")[0])
    assert said == pytest.approx(100 * full.sparse(5).entries.hidden.mean(), abs=0.5)
