"""Simulated data: the true effects are known, so that an explanation can be compared with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pellucid.datasets.dataset import Dataset
from pellucid.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from pellucid.arrays import FloatArray

    MainEffect = Callable[[ArrayLike], FloatArray]
    Interaction = Callable[[ArrayLike, ArrayLike], FloatArray]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Dataset):
    """A data set with the function that made it: ``y = truth(X) + gaussian noise``.

    ``truth`` is the intercept plus every main effect plus every interaction. ``effects`` has one function
    per column of ``X`` (zero for a column that does nothing), ``interactions`` one per pair of columns.
    The main effects are not centred; ``noise`` is the standard deviation of the noise.
    """

    intercept: float
    effects: Mapping[str, MainEffect]
    interactions: Mapping[tuple[str, str], Interaction]
    noise: float

    def truth(self, X: pd.DataFrame) -> FloatArray:
        """The expected target of each row of ``X``, which may hold any values of the features."""
        return _expected(X, self.intercept, self.effects, self.interactions)


def simulate_bike(n: int = 1000, seed: int = 0, correlated: bool = True, *, noise: float = 250.0) -> Simulation:
    """Imagined daily bicycle rentals whose true effects are known.

    Each row is a day drawn at random from two years of 52 weeks. The target ``rentals`` lies between 0
    and 9000 and is not rounded, so that it is exactly ``truth(X)`` plus noise:

    =================  ==========================================================================
    column             effect on the rentals (intercept 3400)
    =================  ==========================================================================
    season             winter -300, spring 0, summer +150, fall +250
    workingday         True +100, False -250
    weather            good 0, misty -350, bad -1200 (an ordered category)
    temp               2400 exp(-((temp - 20) / 14)²): rises up to 20 °C, then falls
    felt_temp          none; about equal to ``temp``
    humidity           -15 for each % above 60, none below
    windspeed          -10 for each km/h; missing counts as the usual 12 km/h
    days_since_start   +3 for each day, 0 to 727
    moon_phase         none; related to nothing
    workingday, temp   -20 (workingday - 5/7) (temp - 15): warmth matters more on days off
    =================  ==========================================================================

    The windspeed of 4 % of the rows, rounded to a whole number of rows and chosen at random, is missing.

    With ``correlated=True``, temp follows the season, felt_temp the temp, and humidity, weather and
    windspeed one another. With ``correlated=False`` the values of each column are shuffled on their own:
    the same values, but independent features. The interaction then averages to zero over either of its
    features (their means are 5/7 and 15), so that the partial dependence of a feature on the truth is
    its effect plus a constant, up to the chance in the sample.

    ``seed`` fixes every number; ``noise`` is the standard deviation of the noise.

    Example:
        >>> from pellucid.datasets import simulate_bike
        >>> days = simulate_bike(n=200, seed=1)
        >>> X, y = days
        >>> days.effects["temp"]([6.0, 20.0, 34.0]).round()
        array([ 883., 2400.,  883.])
    """
    from pellucid.checks import bounded, flag, whole  # on use: it loads numpy

    n, seed, noise = whole("n", n), whole("seed", seed, least=0), bounded("noise", noise, least=0)
    correlated = flag("correlated", correlated)
    from pellucid.datasets import rentals

    X, errors = rentals.draw(n, seed, correlated=correlated)
    expected = _expected(X, rentals.INTERCEPT, rentals.EFFECTS, rentals.INTERACTIONS)
    return Simulation(
        name="simulate_bike",
        X=X,
        y=(noise * errors + expected).rename("rentals"),
        target="rentals",
        description=f"Simulated daily bicycle rentals (n={n}, seed={seed}, correlated={correlated}).",
        licence="none needed: simulated",
        citation="pellucid.datasets.simulate_bike",
        intercept=rentals.INTERCEPT,
        effects=dict(rentals.EFFECTS),
        interactions=dict(rentals.INTERACTIONS),
        noise=noise,
    )


def _expected(
    X: pd.DataFrame,
    intercept: float,
    effects: Mapping[str, MainEffect],
    interactions: Mapping[tuple[str, str], Interaction],
) -> FloatArray:
    import numpy as np

    absent = [name for name in effects if name not in X.columns]
    if absent:
        raise InputError(f"X has no column {absent[0]!r}; give every feature: {', '.join(map(repr, effects))}.")
    total = np.full(len(X), intercept)
    for name, effect in effects.items():
        total += effect(X[name])
    for (first, second), interaction in interactions.items():
        total += interaction(X[first], X[second])
    return total
