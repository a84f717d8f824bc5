"""The design of pairs: none twice, longer designs contain shorter ones, all of a size equally likely."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from pellucid.methods.attribution.estimation.pairs import PairDesign

many = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 10_000)


def design(p, seed=0, **options):
    return PairDesign(p, np.random.default_rng(seed), **options)


def keys(halves):
    return [half.tobytes() for half in halves]


def pair_keys(halves):
    """Either half names the pair."""
    return [min(half.tobytes(), (~half).tobytes()) for half in halves]


@many
@given(seeds, st.integers(2, 40), st.integers(0, 300))
def test_no_pair_comes_twice_and_halves_are_the_smaller_ones(seed, p, n):
    made = design(p, seed)
    halves = made.between(0, n)
    assert len(halves) == min(n, made.total)
    assert len(set(pair_keys(halves))) == len(halves)
    sizes = halves.sum(axis=1)
    assert (sizes >= 1).all()
    assert (2 * sizes <= p).all()
    assert halves[2 * sizes == p, 0].all()


@many
@given(seeds, st.integers(2, 40), st.integers(0, 200), st.integers(0, 200))
def test_a_longer_design_goes_on_where_the_shorter_one_ends(seed, p, m, more):
    one, other = design(p, seed), design(p, seed)
    whole = one.between(0, m + more)
    parts = np.concatenate([other.between(0, m), other.between(m, m + more)])
    assert sorted(keys(whole)) == sorted(keys(parts))


@pytest.mark.parametrize("p", [2, 3, 4, 5, 8, 11])
def test_the_whole_design_is_all_pairs(p):
    made = design(p)
    assert made.total == 2 ** (p - 1) - 1
    halves = made.between(0, made.total)
    expected = {min(mask, 2**p - 1 - mask) for mask in range(1, 2**p - 1)}  # a pair by the smaller of its two numbers
    masks = halves.astype(int) @ (1 << np.arange(p))
    assert {min(mask, 2**p - 1 - mask) for mask in masks.tolist()} == expected
    np.testing.assert_array_equal(made.between(0, 10 * made.total), halves)


@many
@given(st.integers(2, 1200), st.integers(0, 3000), st.integers(0, 50))
def test_allocations_add_up_and_never_shrink(p, n, more):
    made = design(p)
    now, later = made.allocation(n), made.allocation(n + more)
    assert sum(now) == min(n, made.total)
    assert sum(later) == min(n + more, made.total)
    assert all(a <= b for a, b in zip(now, later, strict=True))
    assert all(a <= comb(p, s + 1) for s, a in enumerate(now))


@pytest.mark.parametrize(("p", "n"), [(10, 200), (30, 500), (200, 2000), (1200, 4000)])
def test_sizes_are_drawn_in_proportion_to_the_root_of_their_weight(p, n):
    """Neyman: the weight of a stratum's pairs is 1 / sqrt(s (p - s)), unless it is exhausted; single players come first."""
    counts = np.array(design(p).allocation(n), dtype=float)
    sizes = np.arange(1, len(counts) + 1)
    totals = np.array([float(min(comb(p, int(s)) // (2 if 2 * s == p else 1), 2**62)) for s in sizes])
    level = counts * np.sqrt(sizes * (p - sizes))
    open_, rest = counts < totals, sizes > 1
    step = np.sqrt(sizes * (p - sizes))
    rate = (level + step)[open_ & rest].min()
    assert (level[rest] <= rate + 1e-9).all()
    assert counts[0] >= counts[1:].max(initial=0) or counts[0] == totals[0]


@pytest.mark.parametrize("p", [2, 3, 64, 65, 257, 1023, 1200])
def test_many_players_do_not_overflow(p):
    made = design(p)
    halves = made.between(0, 700)
    asked, share = made.asked(700, halves)
    sizes = halves.sum(axis=1)
    counts = np.bincount(sizes, minlength=p + 1)
    np.testing.assert_array_equal(asked, counts[sizes])
    assert np.isfinite(share).all()
    assert ((share >= 0) & (share <= 1)).all()
    for size, found in zip(sizes[::50], share[::50], strict=True):
        total = comb(p, int(size)) // (2 if 2 * size == p else 1)
        assert found == pytest.approx(int(counts[size]) / total)


@pytest.mark.parametrize("listed", [20_000, 0])
@pytest.mark.parametrize(("p", "n", "size"), [(6, 16, 2), (6, 16, 3), (7, 24, 2), (7, 24, 3)])
def test_all_pairs_of_a_size_are_equally_likely(listed, p, n, size):
    repetitions, found = 800, {}
    for seed in range(repetitions):
        halves = design(p, seed, listed=listed).between(0, n)
        some = halves[halves.sum(axis=1) == size]
        for key in pair_keys(some):
            found[key] = found.get(key, 0) + 1
    total = comb(p, size) // (2 if 2 * size == p else 1)
    drawn = design(p).allocation(n)[size - 1]
    assert 0 < drawn < total
    share = drawn / total
    counts = np.array([*found.values(), *[0] * (total - len(found))])
    # Draws without replacement are less uneven than independent ones, by the part that is not drawn.
    statistic = np.sum((counts - repetitions * share) ** 2) / (repetitions * share * (1 - share))
    statistic *= (total - 1) / total
    assert chi2.ppf(1e-4, total - 1) < statistic < chi2.ppf(1 - 1e-4, total - 1)


@pytest.mark.parametrize("listed", [20_000, 0])
def test_members_are_equally_likely_and_so_are_pairs_of_them(listed):
    """Also among designs of many players, whose coalitions are too many to count."""
    p, halves = 12, []
    for seed in range(400):
        some = design(p, seed, listed=listed).between(0, 60)
        halves.append(some[some.sum(axis=1) == 4])
    together = np.concatenate(halves).astype(float)
    n = len(together)
    members = together.mean(axis=0)
    np.testing.assert_allclose(members, 4 / p, atol=5 * np.sqrt(4 / p * (1 - 4 / p) / n))
    both = together.T @ together / n
    expected = 4 * 3 / (p * (p - 1))
    off = both[~np.eye(p, dtype=bool)]
    np.testing.assert_allclose(off, expected, atol=5 * np.sqrt(expected * (1 - expected) / n))


def test_drawn_and_listed_strata_are_both_repeatable():
    for listed in (20_000, 0):
        first, again, other = (design(9, seed, listed=listed).between(0, 50) for seed in (3, 3, 4))
        np.testing.assert_array_equal(first, again)
        assert keys(first) != keys(other)


def test_drawn_strata_go_on_until_they_are_exhausted():
    made = design(6, listed=0)
    assert len(set(pair_keys(made.between(0, 31)))) == 31
