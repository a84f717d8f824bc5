"""Columns that follow each other along curves: what shows as such, and any columns drawn given any others."""

import numpy as np
import pandas as pd
import pytest

from pellucid.data import Data
from pellucid.data.sampling.conditional_draws import joint_of
from pellucid.data.sampling.structure import Structure
from pellucid.data.sampling.walk_draws import CopulaDraw, draws_for
from reference.rejection import given_by_rejection

N = 400


def parabola(rng, n=N):
    x = rng.normal(size=n)
    return np.column_stack([x, x**2 + 0.3 * rng.normal(size=n), rng.normal(size=n)])


def ring(rng, n=N):
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + 0.1 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def drawn(joint, rows, known, n, seed=0, particles=200):
    uniforms = np.random.default_rng(seed).random((particles, len(rows), joint.uniforms))
    return joint.draw(rows, np.array(known), n, uniforms)


def test_normal_rows_are_left_to_the_copula():
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(0.3 * np.eye(4) + 0.7)
    data = Data.of(rng.normal(size=(N, 4)) @ root.T)
    structure, joint = joint_of(data)
    assert structure.after == ()
    assert joint is None
    assert isinstance(draws_for(data, rng, joint), CopulaDraw)


def test_a_known_structure_is_learned_again_as_it_is():
    X = parabola(np.random.default_rng(0))
    structure = joint_of(Data.of(X))[0]
    assert structure.after == (1,)
    assert structure.given == ((0,),)  # x2 tells nothing
    assert structure.gain[0] > 1
    again, other = joint_of(Data.of(X[::2]), structure)
    assert again is structure
    assert [link.j for link in other.links] == [1]


@pytest.mark.parametrize("table", [parabola, ring])
def test_draws_are_those_of_many_rows_of_which_the_fitting_ones_are_kept(table):
    """The slow way: rows are drawn from the whole distribution, and those near the known values are kept."""
    X = table(np.random.default_rng(1))
    joint = joint_of(Data.of(X))[1]
    follows = joint.links[0].j
    row = X[np.argmin(np.abs(X[:, follows] - np.quantile(X[:, follows], 0.7)))]
    known = np.arange(X.shape[1]) == follows
    fast = drawn(joint, row[None], known, 400, particles=2000)
    slow = given_by_rejection(joint, row, known, 30_000, 0.03, np.random.default_rng(2))
    assert len(slow) > 150
    assert fast.effective[0] > 50
    other = 1 - follows
    for power in (1, 2):  # two humps: the mean says nothing, the square all
        mine, theirs = fast.codes[0, :, other] ** power, slow[:, other] ** power
        assert mine.mean() == pytest.approx(theirs.mean(), abs=6 * theirs.std() / np.sqrt(len(theirs)))
    assert (fast.codes[0, :, follows] == row[follows]).all()


def left(joint, X, known, f):
    """2 E Var[f | known]: the mean square of what draws change."""
    codes = drawn(joint, X, known, 5).codes
    return float(np.square(f(codes) - f(X)[:, None]).mean())


def by_copula(X, known, f, data=None):
    """The same by a copula of all columns."""
    draw = CopulaDraw(data or Data.of(X))
    codes = draw(X, np.array(known)[None, None].repeat(len(X), axis=0), np.random.default_rng(0))[:, 0]
    return float(np.square(f(codes) - f(X)).mean())


def test_what_a_parabola_leaves_open_whichever_columns_are_known():
    X = parabola(np.random.default_rng(3))
    joint = joint_of(Data.of(X))[1]
    truths = [
        ([True, False, False], lambda x: x[..., 1], 2 * 0.09),
        ([False, True, False], lambda x: x[..., 0] ** 2, 0.1275),  # integrated over the density
        ([False, True, False], lambda x: x[..., 0], 2.0),
        ([False, False, True], lambda x: x[..., 1] - x[..., 0] ** 2, 2 * 0.09),  # the two are drawn together
    ]
    for known, f, truth in truths:
        assert left(joint, X, known, f) == pytest.approx(truth, rel=0.2)
    for known, f, truth in (truths[0], truths[1], truths[3]):
        assert by_copula(X, known, f) > 10 * truth


def test_a_category_that_turns_a_slope():
    rng = np.random.default_rng(4)
    c, x = rng.integers(0, 2, N), rng.normal(size=N)
    y = np.where(c == 0, x, -x) + 0.3 * rng.normal(size=N)
    data = Data.of(pd.DataFrame({"c": np.array(["u", "v"])[c], "x": x, "y": y}))
    joint = joint_of(data)[1]
    rows = np.column_stack([c, x, y]).astype(float)
    assert left(joint, rows, [True, True, False], lambda r: r[..., 2]) == pytest.approx(0.18, rel=0.25)
    assert left(joint, rows, [True, False, True], lambda r: r[..., 1]) == pytest.approx(0.18 / 1.09, rel=0.25)
    assert by_copula(rows, [True, True, False], lambda r: r[..., 2], data) > 5 * 0.18
    # of the category little is left where x is far from 0
    far = np.abs(x) > 1
    codes = drawn(joint, rows[far], [False, True, True], 5).codes[..., 0]
    assert (codes == rows[far, :1]).mean() > 0.95


def test_values_are_missing_where_a_curve_says_so():
    rng = np.random.default_rng(5)
    x = rng.normal(size=N)
    y = np.where(np.abs(x) > 1.5, np.nan, x**2 + 0.2 * rng.normal(size=N))
    data = Data.of(pd.DataFrame({"x": x, "y": y}))
    assert joint_of(data)[1] is None  # given one column near rows say as much
    joint = joint_of(data, Structure((1,), (1.0,), ((0,),)))[1]
    rows = np.column_stack([x, y])
    gone = np.isnan(drawn(joint, rows, [True, False], 5).codes[..., 1]).mean(axis=1)
    assert gone[np.abs(x) > 2].mean() > 0.6
    assert gone[np.abs(x) < 1].mean() < 0.1
    back = drawn(joint, rows[np.isnan(y)], [False, True], 5).codes[..., 0]  # that y is missing tells that x is far out
    assert (np.abs(back) > 1.2).mean() > 0.6
