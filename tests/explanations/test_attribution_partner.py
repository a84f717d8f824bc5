"""The partner of a feature: the one its contributions depend on besides its own value."""

import numpy as np
import pytest

import pellucid
from explanations.test_attribution import attribution
from pellucid.explanations.attribution_partner import explained, groups, partner

N = 400


def scene(effect, n=N, seed=0, **more):
    """Contributions of x that are ``effect(x, z, w, k)``; z and w are numbers, k a category."""
    generator = np.random.default_rng(seed)
    x, z, w = generator.normal(size=(3, n))
    k = generator.choice(np.array(["a", "b", "c"], dtype=object), n)
    values = np.zeros((n, 4))
    values[:, 0] = effect(x, z, w, k) + 0.01 * generator.normal(size=n)
    fields = {"feature_names": ("x", "z", "w", "k"), "members": (("x",), ("z",), ("w",), ("k",))}
    return attribution(values, **{**fields, "data": (x, z, w, k), **more})


@pytest.mark.parametrize(
    ("effect", "other"),
    [
        (lambda x, z, w, k: x * z, "z"),
        (lambda x, z, w, k: x * (z + 0.3 * w), "z"),
        (lambda x, z, w, k: np.sin(3 * x) * w, "w"),
        (lambda x, z, w, k: x * (k == "b"), "k"),
        (lambda x, z, w, k: (x > 0) * (w > 1), "w"),
    ],
)
def test_the_residual_tells_the_partner(effect, other):
    assert partner(scene(effect), "x") == other


def test_a_curve_alone_has_no_partner():
    assert partner(scene(lambda x, z, w, k: 5 * (x > 0.3)), "x") is None
    assert partner(scene(lambda x, z, w, k: 0 * x), "x") is None


def test_noise_has_no_partner():
    assert [partner(scene(lambda x, z, w, k: 0 * x, seed=seed), "x") for seed in range(10)] == [None] * 10


def test_missing_values_and_few_rows_are_no_trouble():
    found = scene(lambda x, z, w, k: x * z)
    gaps = found.data[1].copy()
    gaps[::7] = np.nan
    holes = found.data[0].copy()
    holes[::5] = np.nan
    assert partner(attribution_with(found, (holes, gaps, *found.data[2:])), "x") == "z"
    for n in (1, 2, 5):
        assert partner(scene(lambda x, z, w, k: x * z, n=n), "x") in (None, "z", "w", "k")


def attribution_with(found, data):
    return attribution(found.values, feature_names=found.feature_names, members=found.entries.members, data=data)


def test_interaction_values_decide_where_there_are_any():
    pairs = np.zeros((N, 4, 4))
    pairs[:, 0, 0] = 9.0
    pairs[:, 0, 2] = pairs[:, 2, 0] = -0.5
    pairs[:, 0, 1] = np.tile([0.9, -0.2], N // 2)  # 0.55 on average
    found = scene(lambda x, z, w, k: x * (k == "b"), interaction_values=pairs)
    assert partner(found, "x") == "z"
    assert partner(scene(lambda x, z, w, k: x * z, interaction_values=np.zeros((N, 4, 4))), "x") is None


def test_the_share_is_that_of_a_slow_count():
    generator = np.random.default_rng(1)
    own, column = generator.integers(0, 3, 60), generator.choice(np.array(["a", "b"], dtype=object), 60)
    residual = generator.normal(size=(60, 2))
    left = 0.0
    for bin_number in range(3):
        for label in "ab":
            cell = residual[(own == bin_number) & (column == label)]
            left += ((cell - cell.mean(axis=0)) ** 2).sum()
    expected = 1 - (left / (60 - 6)) / ((residual**2).sum() / (60 - 3))
    assert explained(residual, own, column) == pytest.approx(expected)


def test_groups_are_equally_large_and_keep_equal_values_together():
    numbers = groups(np.arange(100.0), 4)
    assert np.bincount(numbers).tolist() == [25, 25, 25, 25]
    assert len(set(groups(np.ones(10), 3))) == 1
    gaps = groups(np.array([np.nan, 1.0, 2.0]), 2)
    assert gaps[0] == -1
    assert gaps[1] != gaps[2]
    days = np.array(["2024-01-01", "NaT", "2024-01-03"], dtype="datetime64[D]")
    assert groups(days, 2).tolist() == [0, -1, 1]


def test_rare_categories_are_together():
    column = np.array([f"c{i}" for i in range(20)] * 2 + ["common"] * 30, dtype=object)
    assert len(set(groups(column, 1).tolist())) == 7


def test_unknown_feature():
    with pytest.raises(pellucid.InputError, match=r"'seasn'.*'season'"):
        partner(attribution(), "seasn")


# -- no partner where there is none ------------------------------------------------------------------


@pytest.mark.parametrize("n", [20, 45, 60, 150, N])
@pytest.mark.parametrize("curve", [lambda a: a, np.square, np.exp, lambda a: np.floor(4 * a), np.sin])
def test_a_feature_that_goes_with_it_is_no_partner_of_an_additive_one(curve, n):
    for seed in range(5):
        generator = np.random.default_rng(seed)
        a = generator.normal(size=n)
        b = a + 0.5 * generator.normal(size=n)
        values = np.stack([curve(a) - curve(a).mean(), np.zeros(n)], axis=1)
        found = attribution(values, feature_names=("a", "b"), members=(("a",), ("b",)), data=(a, b))
        assert partner(found, "a") is None


def test_a_partner_that_goes_with_the_feature_is_found():
    generator = np.random.default_rng(0)
    a, c = generator.normal(size=(2, N))
    b = a + 0.5 * generator.normal(size=N)
    values = np.stack([a * b, np.zeros(N), np.zeros(N)], axis=1)
    names = ("a", "b", "c")
    found = attribution(values, feature_names=names, members=tuple((n,) for n in names), data=(a, b, c))
    assert partner(found, "a") == "b"


def test_interactions_that_are_mere_rounding_are_none():
    pairs = np.zeros((N, 4, 4))
    pairs[:, 0, 0] = 5.0
    pairs[:, 0, 1] = pairs[:, 1, 0] = 1e-12
    assert partner(scene(lambda x, z, w, k: 5 * x, interaction_values=pairs), "x") is None
    pairs[:, 0, 1] = pairs[:, 1, 0] = 1e-3
    assert partner(scene(lambda x, z, w, k: 5 * x, interaction_values=pairs), "x") == "z"
