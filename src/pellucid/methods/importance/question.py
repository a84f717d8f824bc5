"""What is asked about importance: the options of every method in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Run


@dataclass(frozen=True, eq=False)
class Question:
    """The model, the data, and the options; a method reads those that concern it."""

    predictor: Predictor
    data: Data
    background: Any
    loss: Any
    compare: Any
    repeats: int
    scheme: Any
    p_values: bool
    grid: int
    holdout: Data | None
    folds: int | None
    refit: Any
    budget: int | None
    tolerance: float | None
    run: Run
