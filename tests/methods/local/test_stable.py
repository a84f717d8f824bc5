"""As many samples as it takes: the stopping rule is the index that is reported."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden_files import masked
from methods.local.asking import explain, line, table, waves
from pellucid.methods.local.surrogate.local_fit import _best, _stable
from pellucid.methods.local.surrogate.stability import agreement, common, selection
from pellucid.methods.local.surrogate.width import WidthFits

ROWS = np.random.default_rng(0).normal(size=(300, 8))


def alike(X):
    """Eight features, each a little less important than the one before."""
    return np.tanh(X) @ (0.9 ** np.arange(8)) + 0.5 * X[:, 0] * X[:, 1]


def nearly(X):
    """Eight features that hardly differ in importance."""
    return np.tanh(X) @ (0.98 ** np.arange(8)) + 0.5 * X[:, 0] * X[:, 1]


def test_a_tolerance_is_kept_or_the_caveat_says_so():
    loose, strict, never = (
        explain(f, ROWS, 0, features=4, samples=samples, tolerance=tolerance, checks=True)
        for f, samples, tolerance in ((alike, 500, 0.2), (alike, 500, 0.05), (nearly, 100, 0.0001))
    )
    assert loose.settings["samples"] == 500
    assert "grown_from" not in loose.settings
    assert loose.stability[0] < 0.95 <= strict.stability[0]
    assert strict.settings["samples"] > strict.settings["grown_from"] == 500
    assert never.settings["samples"] == 16 * 100
    caveat = next(one for one in never.caveats if one.code == "unstable")
    assert (caveat.threshold, caveat.value) == (0.0001, pytest.approx(1 - never.stability[0]))
    assert "unstable" not in {one.code for one in (*loose.caveats, *strict.caveats)}


def test_without_a_number_of_samples_they_are_doubled_up_to_four_times(golden):
    found = explain(nearly, ROWS, [0, 1, 2], features=4)
    assert found.settings["tolerance"] == 0.05
    assert found.settings["samples"] in (5000, 10_000, 20_000)
    assert found.settings["samples"] > 5000
    golden("local", "several rows", masked(found.text()))
    calm = explain(line([4.0, 2.0, 1.0, 0.5, 0, 0, 0, 0]), ROWS, 0, features=4)
    assert calm.settings["samples"] == 5000
    assert calm.stability[0] == 1.0
    given_ = explain(alike, ROWS, 1, features=4, samples=500)
    assert given_.settings["samples"] == 500
    assert given_.stability[0] < 0.95


def test_only_rows_that_need_them_get_more_samples():
    """A row has the same explanation alone and among rows that need more, and "around" asks for those rows only."""
    rows = [0, 1, 2, 3]
    for sampler in ("data", "around"):
        options = {"features": 4, "samples": 400, "tolerance": 0.03, "sampler": sampler}
        together = explain(alike, ROWS, rows, **options)
        alone = [explain(alike, ROWS, i, **options) for i in rows]
        for i, one in enumerate(alone):
            np.testing.assert_allclose(one.weights[0], together.weights[i], rtol=1e-10)
            assert one.stability[0] == pytest.approx(together.stability[i])
        if sampler == "around":
            needed = [one.settings["samples"] for one in alone]
            assert len(set(needed)) > 1
            assert together.cost.model_rows == sum(one.cost.model_rows for one in alone)


def test_the_width_stays_while_samples_are_added():
    first = explain(alike, ROWS, 1, features=4, samples=500)
    more = explain(alike, ROWS, 1, features=4, samples=500, tolerance=0.05)
    assert more.settings["samples"] > 500
    assert more.width[0] == pytest.approx(first.width[0])
    assert more.effective[0] > 1.8 * first.effective[0]


@st.composite
def width_searches(draw):
    n = draw(st.integers(1, 8))
    share = st.floats(0, 1)
    parts = {name: np.array([[draw(share)] for _ in range(n)]) for name in ("near", "stability", "agreement")}
    blank = np.zeros((n, 1))
    return WidthFits(
        widths=np.arange(1.0, n + 1), effective=np.ones(n), fidelity=blank, selection=blank,
        weights=np.zeros((n, 1, 1)), spread=np.zeros((n, 1, 1)), **parts,
    )  # fmt: skip


@given(width_searches(), st.floats(0.1, 1))
@settings(max_examples=200, deadline=None)
def test_where_samples_do_not_help_the_best_stable_width_is_taken(found, least):
    at = _best(found)
    chosen = _stable(found, at, least)
    enough = [k for k in range(len(found.widths)) if found.stability[k, 0] >= least]
    if at in enough or not enough:
        assert chosen == at
    else:
        assert chosen in enough
        assert found.score[chosen] == max(found.score[k] for k in enough)


def test_an_interruption_leaves_what_is_known():
    def impatient(X):
        if len(X) == 1000:  # of the second doubling
            raise KeyboardInterrupt
        return alike(X)

    found = explain(impatient, ROWS, 0, features=4, samples=500, tolerance=0.0001, checks=True)
    assert found.settings["samples"] == 1000
    assert found.stability[0] < 0.9999
    assert "partial" in {caveat.code for caveat in found.caveats}


# -- the indices ----------------------------------------------------------------------------------------


@given(
    st.lists(
        st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.0, 1.0, 3.0]), min_size=4, max_size=4),
        min_size=2, max_size=5,
    )
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_indices_are_means_over_pairs_of_repeats(repeats):
    weights = np.array(repeats)
    shared, weighted, like = [], [], []
    for i in range(len(weights)):
        for j in range(i):
            a, b = weights[i], weights[j]
            most = max((a != 0).sum(), (b != 0).sum())
            shared.append(((a != 0) & (b != 0)).sum() / most if most else 1.0)
            total = np.abs(a).sum() + np.abs(b).sum()
            on_both = sum(abs(u) + abs(v) for u, v in zip(a, b, strict=True) if u and v)
            weighted.append(on_both / total if total else 1.0)
            top = sum(max(abs(u), abs(v)) for u, v in zip(a, b, strict=True))
            same = sum(min(abs(u), abs(v)) for u, v in zip(a, b, strict=True) if u * v > 0)
            like.append(same / top if top else 1.0)
    assert selection(weights != 0) == pytest.approx(np.mean(shared))
    assert common(weights) == pytest.approx(np.mean(weighted))
    assert agreement(weights) == pytest.approx(np.mean(like))


# -- samples that are kept --------------------------------------------------------------------------------


def test_an_explainer_asks_for_its_samples_once():
    from pellucid import Explainer

    X, asked = table(200, 3), []

    def model(Z):
        asked.append(len(Z))
        return waves(Z)

    ex = Explainer(model, X, checks=False)
    first = ex.lime(0, samples=1000)
    asked.clear()
    again, other = ex.lime(0, samples=1000), ex.lime(1, samples=1000)
    assert max(asked) < 100
    assert again.values.tobytes() == first.values.tobytes()
    assert first.cost.model_rows > 1000 > again.cost.model_rows
    np.testing.assert_array_equal(other.values, Explainer(waves, X, checks=False).lime(1, samples=1000).values)
    for options in ({"samples": 1020}, {"sampler": "gaussian", "samples": 1000}, {"samples": 1000}):
        asked.clear()
        ex.lime(0, **options)
        assert max(asked) >= 1000  # other samples; and the first ones are no longer kept


def test_a_model_that_contradicts_itself_is_asked_again():
    from pellucid import Explainer

    X, generator, asked = table(200, 3), np.random.default_rng(0), []

    def model(Z):
        asked.append(len(Z))
        return waves(Z) + generator.normal(size=len(Z))

    ex = Explainer(model, X, checks=False)
    ex.lime(0, samples=1000)
    asked.clear()
    ex.lime(0, samples=1000)
    assert max(asked) == 1000
