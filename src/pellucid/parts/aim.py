"""How near a prediction of a text or an image comes to a target, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.explanations.counterfactual_words import percent_of
from pellucid.methods.counterfactual.search.target import Region, Target, read_target
from pellucid.models.outputs import LOGIT_FLOOR
from pellucid.parts.model import WholePredictor
from pellucid.stats import logit
from pellucid.words import listed, number

_HALF = float(np.nextafter(0.5, 1.0))
_FLOOR = LOGIT_FLOOR**2  # of probabilities that are compared on a logarithmic scale


@dataclass(frozen=True, eq=False)
class Aim:
    """A target for the full predictions ``(n, outputs)`` of a model."""

    target: Target
    predictor: WholePredictor

    @classmethod
    def at(cls, given: Any, predictor: WholePredictor, own: FloatArray) -> Aim:
        """The target that a user asks for; ``own`` (outputs,) is the full prediction of the text or image."""
        return cls(read_target(given, predictor, own), predictor)

    def miss(self, full: FloatArray) -> FloatArray:
        """How far predictions are from the target: 0 where it is reached."""
        return self.target.miss(self.target.outputs(self.predictor, full))

    def reached(self, full: FloatArray) -> BoolArray:
        """Which predictions are what is asked for."""
        return np.asarray(self.miss(full) == 0.0)

    def margin(self, full: FloatArray) -> FloatArray:
        """How far predictions are inside the target, negative outside."""
        outputs = self.target.outputs(self.predictor, full)
        inside = []
        for region in self.target.regions:
            low, high = self._ends(region)
            reached = outputs @ region.matrix.T
            inside.append(np.minimum(reached - low, high - reached).min(axis=1))
        return np.max(inside, axis=0)

    def nearness(self, full: FloatArray) -> FloatArray:
        """The same on log-odds where there are probabilities: what words and segments do adds up better there."""
        if not self._shares:
            return self.margin(full)
        inside = []
        for region in self.target.regions:
            low, high = self._ends(region)
            if region.rivals:
                reached = np.log(np.maximum(full, _FLOOR)) @ region.matrix.T
            else:
                reached = logit(full @ region.matrix.T, _FLOOR)
                low = np.where(np.isinf(low), low, logit(low, _FLOOR))
                high = np.where(np.isinf(high), high, logit(high, _FLOOR))
            inside.append(np.minimum(reached - low, high - reached).min(axis=1))
        return np.max(inside, axis=0)

    @property
    def _shares(self) -> bool:
        """Whether the target is about probabilities."""
        return self.predictor.raw_scale == "probability" and not self.target.explained

    def _ends(self, region: Region) -> tuple[FloatArray, FloatArray]:
        """Where the region ends; that no probability is below 0 or above 1 is no end."""
        if region.rivals or not self._shares:
            return region.low, region.high
        low, high = np.where(region.low <= 0, -np.inf, region.low), np.where(region.high >= 1, np.inf, region.high)
        return np.asarray(low), np.asarray(high)

    # -- words ---------------------------------------------------------------------------------------

    @property
    def by_class(self) -> bool:
        """Whether a class has to win, rather than a number to be reached."""
        if self.predictor.classes is None or self.target.explained:
            return False
        return all(
            region.rivals or (self.predictor.width == 2 and region.low.tolist() == [_HALF] and np.isinf(region.high[0]))
            for region in self.target.regions
        )

    def said(self, full: FloatArray) -> tuple[str, ...]:
        """What the model says, prediction by prediction: ``ham (69%)``, ``0.31`` or ``31% for spam``."""
        return tuple(self._class(row) if self.by_class else self._numbers(row) for row in full)

    def _class(self, row: FloatArray) -> str:
        place = int(np.argmax(row))
        name = str((self.predictor.classes or ())[place])
        if self.predictor.raw_scale == "probability":
            return f"{name} ({percent_of(float(row[place]))})"
        return f"{name} ({self.predictor.raw_scale} {number(float(row[place]))})"

    def _numbers(self, row: FloatArray) -> str:
        values, names = self.predictor.restrict(row[None])[0].tolist(), self.predictor.output_names
        if self.predictor.scale == "probability" and self.predictor.classes is not None:
            return listed([f"{percent_of(value)} for {name}" for value, name in zip(values, names, strict=True)], 4)
        if len(values) == 1:
            return number(values[0])
        return listed([f"{name} {number(value)}" for value, name in zip(values, names, strict=True)], 4)
