"""Individual conditional expectation: the curves behind a partial dependence.

Goldstein, Kapelner, Bleich and Pitkin 2015.

Definition. The curve of row i is ``f(x_S, x_C^(i))`` along a grid of x_S; centred at an anchor x^a it is
``f^(i) - f(x^a, x_C^(i))``; its derivative shows where the prediction changes. Without interaction,
``f = g(x_S) + h(x_C)``, all centred curves and all derivatives coincide.

When it misleads: as partial dependence under correlation, curve by curve; hundreds of lines hide each
other, so the chart draws a sample of them under the average.

Cost. Grid points times rows; nothing where the model is read (see `pellucid.reading`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.checks import whole
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.explanations import Effect
from pellucid.methods.effects.pdp import pdp
from pellucid.models import Predictor
from pellucid.runner import Run


def ice(
    predictor: Predictor,
    data: Data,
    feature: Any,
    *,
    rows: Any = None,
    sample: int | None = None,
    grid: int = 50,
    at: Any = None,
    center: Any = None,
    derivative: bool = False,
    run: Run,
) -> Effect:
    """ICE curves of one feature, for all rows, some rows, or a random ``sample`` of them."""
    if sample is not None:
        if rows is not None:
            raise InputError("give rows= or sample=, not both.")
        sample = whole("sample", sample)
        rows = np.sort(run.generator("ice.rows").permutation(len(data))[:sample]).tolist()
    if rows is None or sample is not None:
        run.scales_with("sample", len(data) if rows is None else len(rows), least=10)
    if len(data.schema.indices(feature)) != 1:
        raise InputError("ice takes one feature; use pdp for the average effect of a pair.")
    return pdp(
        predictor,
        data,
        feature,
        grid=grid,
        at=at,
        kind="individual",
        center=center,
        derivative=derivative,
        rows=rows,
        run=run,
    )
