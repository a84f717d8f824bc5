"""Scenes of fitted linear models: each assumption broken, with the number one expects, and one in which it holds."""

import numpy as np
import pandas as pd

from methods.caveat_scenes import fires, sample, silent
from pellucid.glassbox import GeneralizedLinearModel, LinearModel, LogisticModel


def noise(n=400, seed=5):
    return np.random.default_rng(seed).normal(size=n)


def fitted(y, X=None, **options):
    return LinearModel(**options).fit(sample() if X is None else X, y).coefficients()


@fires("curved")
def a_parabola():
    # Hinges at quartiles follow a square with some 90% of its variance; noise of a tenth leaves that.
    X = sample()
    return fitted(X[:, 0] ** 2 + 0.1 * noise()), (0.7, 0.99)


@fires("curved")
def a_parabola_of_log_odds():
    X = sample(2000)
    p = 1 / (1 + np.exp(1 - X[:, 0] ** 2))
    return LogisticModel().fit(X, np.random.default_rng(1).random(2000) < p).coefficients(), (0.03, 0.3)


@silent("curved")
def a_line_with_noise():
    return fitted(sample()[:, 0] + noise())


@silent("curved")
def a_parabola_in_bins():
    return fitted(sample()[:, 0] ** 2 + noise(), transforms={0: "bins"})


@silent("curved")
def a_line_whose_noise_grows():
    X = sample()
    return fitted(X[:, 0] + np.abs(X[:, 0]) * noise())


@fires("uneven-variance")
def noise_that_grows_with_a_feature():
    # Squared errors grow as x^4, and lean to one side so that a line through them sees it.
    X = np.random.default_rng(0).normal(size=(4000, 2))
    e = noise(4000) * X[:, 0] ** 2 * (1 + 0.2 * X[:, 0])
    return fitted(X[:, 0] + e, X), (1.7, 3.5)


@silent("uneven-variance")
def noise_of_one_size():
    return fitted(sample()[:, 0] + noise())


@silent("uneven-variance")
def robust_errors_that_allow_for_it():
    X = sample()
    return fitted(X[:, 0] + np.exp(X[:, 0]) * noise(), robust="HC3")


@fires("not-gaussian")
def two_outliers_at_the_edge():
    X = np.column_stack([np.append(np.linspace(-1, 1, 198), [4.0, -4.0]), noise(200)])
    return fitted(X[:, 0] + np.append(0.05 * noise(198), [5.0, 5.0]), X), (1 / 10, 1.0)


@silent("not-gaussian")
def gaussian_errors():
    return fitted(sample()[:, 0] + noise())


@silent("not-gaussian")
def skewed_errors_of_many_rows():
    X = sample(4000)
    return fitted(X[:, 0] + np.random.default_rng(3).exponential(size=4000), X)


@fires("inflated")
def two_copies_of_a_feature():
    X = sample()
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    r2 = np.corrcoef(X.T)[0, 1] ** 2  # the variance inflation of two features is 1 / (1 - r^2)
    return fitted(X[:, 0] + noise(), X), 1 / (1 - r2)


@silent("inflated")
def two_weakly_correlated_features():
    X = sample()
    X[:, 1] += X[:, 0]
    return fitted(X[:, 0] + noise(), X)


@fires("aliased")
def a_feature_twice():
    X = sample()[:, [0, 1, 0]]
    return fitted(X[:, 0] + noise(), X), 1 / 3


@silent("aliased")
def every_feature_once():
    return fitted(sample()[:, 0] + noise())


def counts(scatter=None):
    X = sample(1000)
    draw, mean = np.random.default_rng(2), np.exp(1 + 0.3 * X[:, 0])
    y = draw.poisson(mean if scatter is None else mean * draw.gamma(scatter, 1 / scatter, size=1000))
    return GeneralizedLinearModel(family="poisson").fit(X, y).coefficients()


@fires("overdispersed")
def counts_of_a_negative_binomial():
    return counts(1.0), (3.0, 5.0)  # 1 + E mu^2 / E mu, about 4


@silent("overdispersed")
def counts_of_a_poisson():
    return counts()


@fires("link")
def an_inverse_fitted_with_a_logarithm():
    x = np.linspace(0.1, 2, 1000)[:, None]
    y = np.random.default_rng(4).gamma(20, 1 / x[:, 0] / 20)
    return GeneralizedLinearModel(family="gamma").fit(x, y).coefficients(), (0.3, 0.99)


@silent("link")
def the_link_of_the_truth():
    x = np.linspace(0.1, 2, 1000)[:, None]
    y = np.random.default_rng(4).gamma(20, 1 / x[:, 0] / 20)
    return GeneralizedLinearModel(family="gamma", link="inverse").fit(x, y).coefficients()


def amounts(highest):
    """1 / y = 1.05 - x on average: beyond x = 1.05 there is no mean."""
    x = np.linspace(0, highest, 200)[:, None]
    y = np.random.default_rng(6).gamma(400, 1 / (1.05 - x[:, 0]) / 400)
    return GeneralizedLinearModel(family="gamma", link="inverse").fit(x, y).coefficients()


@fires("outside-link")
def a_pole_just_beyond_the_data():
    return amounts(1.0), (0.01, 0.08)  # the sum falls to 0.05, and by another 0.1


@silent("outside-link")
def a_pole_far_beyond_the_data():
    return amounts(0.5)


@silent("outside-link")
def a_link_that_has_a_mean_for_every_sum():
    return counts()


@fires("separated")
def classes_on_both_sides_of_a_gap():
    x = np.arange(20.0)[:, None]
    return LogisticModel().fit(x, x[:, 0] > 9).coefficients(), 1.0


@silent("separated")
def classes_that_overlap():
    X = pd.DataFrame(sample(), columns=["a", "b"])
    return LogisticModel().fit(X, X["a"] + noise() > 0).coefficients()
