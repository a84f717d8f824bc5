"""Which method takes the function apart."""

from __future__ import annotations

from typing import Any, Literal

from pellucid.data import Data
from pellucid.explanations.decomposition import Decomposition
from pellucid.models import Predictor
from pellucid.runner import Run

Method = Literal["marginal", "anova", "generalized", "ale"]
Density = Literal["data", "uniform", "support"]


def decompose(
    predictor: Predictor,
    data: Data,
    *,
    background: Any,
    method: Method = "marginal",
    order: int = 2,
    features: Any = None,
    grid: int | None = None,
    density: Density = "data",
    run: Run,
) -> Decomposition:
    """The function in parts."""
    raise NotImplementedError
