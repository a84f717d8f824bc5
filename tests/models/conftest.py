"""A small table with every kind of column, and outcomes that depend on all of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def mixed() -> pd.DataFrame:
    """Float with missing values, integer, boolean, category and text."""
    rng = np.random.default_rng(7)
    n = 150
    temp = rng.normal(15, 8, n)
    temp[::6] = np.nan
    return pd.DataFrame(
        {
            "temp": temp,
            "day": rng.integers(0, 7, n),
            "open": rng.random(n) < 0.6,
            "sky": pd.Categorical(rng.choice(["clear", "fog", "rain"], n)),
            "town": rng.choice(["Bern", "Genf", "Zug"], n),
        }
    )


@pytest.fixture(scope="session")
def amount(mixed: pd.DataFrame) -> np.ndarray:
    """A number to predict."""
    sky = mixed["sky"].map({"clear": 3.0, "fog": 0.0, "rain": -4.0}).to_numpy(dtype=float)
    town = mixed["town"].map({"Bern": 0.0, "Genf": 2.0, "Zug": -1.0}).to_numpy(dtype=float)
    warm = mixed["temp"].fillna(5.0).to_numpy()
    return 0.3 * warm + mixed["day"].to_numpy() * (1 + mixed["open"].to_numpy()) + sky + town


@pytest.fixture(scope="session")
def verdict(amount: np.ndarray) -> np.ndarray:
    """Two classes with text labels."""
    return np.where(amount > np.median(amount), "yes", "no")


@pytest.fixture(scope="session")
def level(amount: np.ndarray) -> np.ndarray:
    """Three classes with text labels."""
    low, high = np.quantile(amount, [0.3, 0.7])
    return np.where(amount < low, "low", np.where(amount < high, "mid", "top"))
