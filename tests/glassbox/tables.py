"""Tables for glass boxes: numbers, categories, booleans, dates and missing values, with outcomes that depend on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def mixed(n: int = 300, seed: int = 0, *, missing: bool = True) -> tuple[pd.DataFrame, Any]:
    """Rentals-like rows and a mean that depends on them; noise is added by the caller."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "temp": rng.normal(15.0, 8.0, n),
            "hum": rng.uniform(20.0, 100.0, n),
            "season": pd.Categorical(rng.choice(["spring", "summer", "winter"], n)),
            "holiday": rng.random(n) < 0.2,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D"),
        }
    )
    if missing:
        X.loc[::13, "hum"] = np.nan
    summer = (X["season"] == "summer").to_numpy()
    mean = 2.0 + 0.1 * X["temp"] - 0.02 * X["hum"].fillna(40.0) + 0.5 * summer - 0.4 * X["holiday"]
    return X, mean.to_numpy(dtype=np.float64)
