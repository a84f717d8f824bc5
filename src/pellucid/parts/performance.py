"""How good the predictions for texts or images are, where their outcomes are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations import Header, Performance
from pellucid.methods.performance import compare
from pellucid.models.outputs import Outputs
from pellucid.runner import Run

_SHOWN = 2_000  # whose outcome and prediction are kept for charts


@dataclass(frozen=True)
class _Answers:
    """A model, as a comparison with outcomes sees it."""

    outputs: Outputs

    @property
    def classes(self) -> tuple[Any, ...] | None:
        return None if self.outputs.classes is None else self.outputs.all_names

    @property
    def raw_scale(self) -> str:
        return self.outputs.scale

    @property
    def explained(self) -> tuple[int, ...]:
        return self.outputs.keep

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.outputs.names


def whole_performance(outputs: Outputs, y: FloatArray, full: FloatArray, noun: str, run: Run) -> Performance:
    """Full predictions of texts or images compared with outcomes: positions of classes, or numbers."""
    model = _Answers(outputs)
    some = np.unique(np.linspace(0, len(y) - 1, min(len(y), _SHOWN)).astype(np.intp))
    true = y[:, None] if model.classes is None else y
    header = Header(
        feature_names=(),
        output_names=model.output_names,
        scale=model.raw_scale,
        cost=run.cost(),
        settings={"method": "performance"},
        classes=model.classes or (),
    )
    return Performance(header=header, noun=noun, **compare(model, true, full, np.ones(len(y)), some))
