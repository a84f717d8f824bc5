"""Answer: the predictions that interventions ask for, whoever makes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Batch, Intervention, Run
from pellucid.stats import Moments

Engine = Literal["model", "trees", "sums"]


@dataclass(frozen=True, eq=False)
class Answer(ABC):
    """Predictions of the explained outputs, or of all (``full``), for one or several interventions over the same
    rows.
    """

    run: Run
    predictor: Predictor
    data: Data
    interventions: tuple[Intervention, ...]
    full: bool

    engine: ClassVar[Engine]

    @abstractmethod
    def stream(self, *, partial: bool = False) -> Iterator[Batch]:
        """Batches in a fixed order; with ``partial`` an interruption ends them, once something is known (see
        `Run.stream`).
        """

    def itself(self) -> FloatArray:
        """Predictions ``(rows, outputs)`` of the rows as they are."""
        return self.run.predict(self.predictor, self.data, full=self.full)

    def only(self, intervention: int) -> Self:
        """The same answer to one of the interventions."""
        return replace(self, interventions=(self.interventions[intervention],))

    def tables(self, *, partial: bool = False) -> Iterable[FloatArray]:
        """All predictions ``(variants, rows, outputs)`` of every intervention; what was not reached is NaN."""
        width = self.predictor.width if self.full else len(self.predictor.output_names)
        found = [
            np.full((intervention.variants, intervention.n_rows(self.data), width), np.nan)
            for intervention in self.interventions
        ]
        for batch in self.stream(partial=partial):
            found[batch.intervention][batch.variants, batch.rows] = batch.predictions
        return found

    def averaged(self, kept: IntArray) -> list[tuple[Moments, FloatArray]]:
        """For every intervention over all rows mean and spread over them, and the curves ``(variants, kept, outputs)``
        of some.
        """
        outputs = len(self.predictor.output_names)
        moments = [Moments(intervention.variants, outputs) for intervention in self.interventions]
        curves = [np.full((intervention.variants, len(kept), outputs), np.nan) for intervention in self.interventions]
        for batch in self.stream(partial=True):
            moments[batch.intervention].add(batch.variants, batch.predictions, self.data.weights[batch.rows])
            start, stop = np.searchsorted(kept, [batch.rows.start, batch.rows.stop])
            some = batch.predictions[:, kept[start:stop] - batch.rows.start]
            curves[batch.intervention][batch.variants, start:stop] = some
        return list(zip(moments, curves, strict=True))

    def collect(self) -> FloatArray:
        """All predictions of the only intervention."""
        (table,) = self.tables()
        return table


class ModelAnswer(Answer):
    """The model's own answers."""

    engine = "model"

    def stream(self, *, partial: bool = False) -> Iterator[Batch]:
        return self.run.stream(self.predictor, self.data, self.interventions, full=self.full, partial=partial)


def watched(run: Run, batches: Iterator[Batch], *, partial: bool) -> Iterator[Batch]:
    """Batches that ask no model; an interruption is noted where something is known already and that is enough."""
    done = False
    try:
        with run.until_interrupted(lambda: partial and done):
            for batch in batches:
                yield batch
                done = True
    finally:
        run.close()
