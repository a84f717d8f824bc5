"""Clusters of features that go together."""

from __future__ import annotations

from pellucid.data import Data
from pellucid.explanations import Clusters
from pellucid.models import Predictor
from pellucid.runner import Run


def clusters(predictor: Predictor, data: Data, *, threshold: float = 0.5, run: Run) -> Clusters:
    """Features that go together, as clusters."""
    raise NotImplementedError
