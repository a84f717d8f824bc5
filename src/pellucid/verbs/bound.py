"""What every verb is bound to: a model, data, and how work is done."""

from __future__ import annotations

from typing import Any

from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Limits, Run
from pellucid.runner.progress import Progress


class Bound:
    """A model and data; `_run` starts the work of one call."""

    predictor: Predictor
    data: Data
    background: Any
    _random_state: int
    _checks: bool
    _n_jobs: int | None
    _progress: Progress
    _limits: Limits
    _known: dict[str, Any]

    def _run(self, what: str) -> Run:
        return Run(
            n_jobs=self._n_jobs,
            progress=self._progress,
            what=what,
            seed=self._random_state,
            checks=self._checks,
            memory_of=self._known,
            limits=self._limits,
        )
