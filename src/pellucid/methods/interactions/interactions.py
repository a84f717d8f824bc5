"""Which method answers a question about interactions."""

from __future__ import annotations

from typing import Any

from pellucid.data import Data
from pellucid.explanations.interactions import Interactions
from pellucid.methods.interactions.question import Against, Method
from pellucid.models import Predictor
from pellucid.runner import Run


def interactions(
    predictor: Predictor,
    data: Data,
    features: Any = None,
    *,
    background: Any,
    method: Method = "h",
    against: Against = "pairs",
    normalize: bool = True,
    p_values: bool = False,
    rows: int | None = None,
    run: Run,
) -> Interactions:
    """How strongly features act together."""
    raise NotImplementedError
