"""The imagined city behind `simulate_bike`: how its days are drawn and what each feature does.

The effects are bounded, or nearly so, and the intercept is large enough that the rentals stay positive
without clipping, which would add interactions that nobody wrote down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike

from pellucid.arrays import FloatArray
from pellucid.errors import InputError, nearest

YEAR = 364  # 52 weeks: seasons and weekdays are balanced, so that the two means below are exact
MEAN_WORKINGDAY = 5 / 7
MEAN_TEMP = 15.0
USUAL_WINDSPEED = 12.0
MISSING_SHARE = 0.04

INTERCEPT = 3400.0
SEASON = {"winter": -300.0, "spring": 0.0, "summer": 150.0, "fall": 250.0}
WEATHER = {"good": 0.0, "misty": -350.0, "bad": -1200.0}


def season_effect(season: ArrayLike) -> FloatArray:
    """A constant per season."""
    return _per_level(season, SEASON, "season")


def workingday_effect(workingday: ArrayLike) -> FloatArray:
    """+100 on working days, -250 on days off: zero on average."""
    return np.where(np.asarray(workingday, dtype=bool), 100.0, -250.0)


def weather_effect(weather: ArrayLike) -> FloatArray:
    """A constant per weather."""
    return _per_level(weather, WEATHER, "weather")


def temp_effect(temp: ArrayLike) -> FloatArray:
    """A bell with its top at 20 °C."""
    return np.asarray(2400.0 * np.exp(-np.square((_numbers(temp) - 20.0) / 14.0)))


def humidity_effect(humidity: ArrayLike) -> FloatArray:
    """Flat up to 60 %, then falling in a straight line."""
    return -15.0 * np.maximum(_numbers(humidity) - 60.0, 0.0)


def windspeed_effect(windspeed: ArrayLike) -> FloatArray:
    """A falling straight line; a missing value counts as the usual windspeed."""
    speed = _numbers(windspeed)
    return -10.0 * np.where(np.isnan(speed), USUAL_WINDSPEED, speed)


def days_effect(days_since_start: ArrayLike) -> FloatArray:
    """A rising straight line."""
    return 3.0 * _numbers(days_since_start)


def no_effect(values: ArrayLike) -> FloatArray:
    """Zero, whatever the value."""
    return np.zeros(len(_numbers(values)))


def workingday_temp(workingday: ArrayLike, temp: ArrayLike) -> FloatArray:
    """Warmth matters less on working days; zero on average over either feature."""
    return -20.0 * (_numbers(workingday) - MEAN_WORKINGDAY) * (_numbers(temp) - MEAN_TEMP)


EFFECTS: Mapping[str, Callable[[ArrayLike], FloatArray]] = {
    "season": season_effect,
    "workingday": workingday_effect,
    "weather": weather_effect,
    "temp": temp_effect,
    "felt_temp": no_effect,
    "humidity": humidity_effect,
    "windspeed": windspeed_effect,
    "days_since_start": days_effect,
    "moon_phase": no_effect,
}
INTERACTIONS: Mapping[tuple[str, str], Callable[[ArrayLike, ArrayLike], FloatArray]] = {
    ("workingday", "temp"): workingday_temp
}


def draw(n: int, seed: int, *, correlated: bool) -> tuple[pd.DataFrame, pd.Series]:
    """The features of n days, and a standard normal error for each."""
    # One stream per purpose: with and without shuffling, the values and the errors are the same.
    values, gaps, errors, shuffle = np.random.default_rng(seed).spawn(4)
    X = _days(n, values)
    X.loc[gaps.choice(n, size=round(MISSING_SHARE * n), replace=False), "windspeed"] = np.nan
    if not correlated:
        X = pd.DataFrame({name: X[name].array[shuffle.permutation(n)] for name in X.columns})
    return X, pd.Series(errors.standard_normal(n))


def _days(n: int, rng: Generator) -> pd.DataFrame:
    day = rng.integers(0, 2 * YEAR, n)
    coldest = 20  # days after the new year
    temp = MEAN_TEMP - 11.0 * np.cos(2 * np.pi * (day - coldest) / YEAR) + 4.0 * rng.standard_normal(n)
    wet = rng.standard_normal(n)  # what humidity, weather and wind have in common
    humidity = 100.0 / (1.0 + np.exp(-0.5 - 0.56 * wet - 0.42 * rng.standard_normal(n)))
    windspeed = np.exp(2.4 + 0.12 * wet + 0.38 * rng.standard_normal(n))
    felt_temp = temp + 0.06 * (humidity - 60.0) - 0.1 * (windspeed - USUAL_WINDSPEED) + rng.normal(0, 0.8, n)
    weather = np.digitize(wet, [0.4, 1.75])
    return pd.DataFrame(
        {
            "season": pd.Categorical.from_codes(day % YEAR // (YEAR // 4), categories=list(SEASON)),
            "workingday": day % 7 < 5,
            "weather": pd.Categorical.from_codes(weather, categories=list(WEATHER), ordered=True),
            "temp": temp.round(2),
            "felt_temp": felt_temp.round(2),
            "humidity": humidity.round(2),
            "windspeed": windspeed.round(2),
            "days_since_start": day,
            "moon_phase": rng.random(n).round(3),
        }
    )


def _per_level(values: ArrayLike, effect: Mapping[str, float], name: str) -> FloatArray:
    levels = np.asarray(values, dtype=object).tolist()
    unknown = [level for level in levels if level not in effect]
    if unknown:
        raise InputError(f"{name} is {unknown[0]!r} in a row{nearest(str(unknown[0]), effect)}")
    return np.array([effect[level] for level in levels], dtype=np.float64)


def _numbers(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64)
