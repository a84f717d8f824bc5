"""What is asked about interactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Run

Method = Literal["h", "greenwell", "shap"]
Against = Literal["pairs", "all", "triples"]


@dataclass(frozen=True, eq=False)
class Question:
    """Checked arguments: ``players`` are the names and columns of all players, ``sets`` positions of players, one tuple per value."""

    predictor: Predictor
    data: Data
    background: Any
    players: dict[str, tuple[int, ...]]
    sets: tuple[tuple[int, ...], ...]
    against: Against
    normalize: bool
    p_values: bool
    rows: int | None
    run: Run
