"""Columns laid over a stacked table: the quick way into a matrix equals exchanging whole columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.data.frames.doorway import as_frame
from pellucid.data.frames.frame import Overlay, StackedScratch

TABLES = {
    "matrix": lambda X: X,
    "block": lambda X: pd.DataFrame(X, columns=list("abc")),
    "columns": lambda X: pd.DataFrame(X, columns=list("abc")).astype({"b": "int64"}),
}


@pytest.mark.parametrize("kind", TABLES)
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_every_sequence_of_overlays_and_fills(kind, seed, steps):
    rng = np.random.default_rng(seed)
    n, variants = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    X = rng.integers(0, 9, size=(n, 3)).astype(float)
    frame = as_frame(TABLES[kind](X))
    scratch = frame.scratch(variants)
    extra = rng.integers(10, 99, size=(4, 3)).astype(float)
    pools = [frame.column(j, np.concatenate([extra[:, j], X[:, j]])) for j in range(3)]
    for _ in range(steps):
        features = np.flatnonzero(rng.random(3) < 0.7)
        some = int(rng.integers(1, variants + 1))
        plain = StackedScratch(frame, variants)
        if rng.random() < 0.3:
            index = {j: rng.integers(0, 4 + n, size=(some, n)) for j in features}
            columns = {j: (pools[j], index[j]) for j in features}
            found, expected = scratch.fill(columns, some * n), plain.fill(columns, some * n)
        else:
            overs = {
                j: Overlay(pools[j], rng.random(some) < 0.5, rng.integers(0, 4, some), 4 + np.arange(n))
                for j in features
            }
            found, expected = scratch.overlay(overs, some * n), plain.overlay(overs, some * n)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
