"""How near predictions come to a target on a scale on which effects roughly add up.

Probabilities are taken as log-odds, numbers as they are: if one change raises the log-odds by 0.8 and another by 0.5,
both together raise them by about 1.3. Searches guess from that which changes are worth asking the model about; the
guess decides what is asked, never what is answered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.counterfactual.search.problem import Problem
from pellucid.methods.counterfactual.search.target import Region
from pellucid.stats import logit

_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class Progress:
    """How far one region of a target is away: ``need`` at the row itself, ``gain`` of it for predictions."""

    problem: Problem
    region: Region
    start: float

    @property
    def need(self) -> float:
        """What has to be gained."""
        return -self.start

    def gain(self, full: FloatArray) -> FloatArray:
        """What predictions gain against the row."""
        return np.asarray(slack(self.problem, self.region, full) - self.start)

    def line(self, full: FloatArray) -> tuple[FloatArray, float, float]:
        """A number for each prediction, and between which ends it is in the region: on the scale of effects."""
        if self.region.rivals or len(self.region.low) != 1:
            return slack(self.problem, self.region, full), 0.0, np.inf
        reached, low, high = _reached(self.problem, self.region, full)
        open_end = self.problem.predictor.raw_scale == "probability" and not self.problem.target.explained
        return reached[:, 0], float(low[0]), np.inf if open_end and self.region.high[0] >= 1.0 else float(high[0])


def progress(problem: Problem, most: int = 3) -> list[Progress]:
    """For each region of the target, the nearest first."""
    own = problem.score(problem.x[None])
    found = [Progress(problem, region, float(slack(problem, region, own)[0])) for region in problem.target.regions]
    return sorted(found, key=lambda each: each.need)[:most]


def slack(problem: Problem, region: Region, full: FloatArray) -> FloatArray:
    """By how much predictions are inside the region (negative: outside), on the scale of effects."""
    outputs = problem.target.outputs(problem.predictor, full)
    if region.rivals:
        shares = _log(outputs) if problem.predictor.raw_scale == "probability" else outputs
        return np.asarray((shares @ region.matrix.T).min(axis=1))
    reached, low, high = _reached(problem, region, full)
    return np.asarray(np.minimum(reached - low, high - reached).min(axis=1))


def _reached(problem: Problem, region: Region, full: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The lines of a region at predictions, and their ends, on the scale of effects."""
    reached = problem.target.outputs(problem.predictor, full) @ region.matrix.T
    if problem.predictor.raw_scale == "probability" and not problem.target.explained:
        return _odds(reached), _odds(region.low), _odds(region.high)
    return reached, region.low, region.high


def _log(shares: FloatArray) -> FloatArray:
    return np.log(np.maximum(shares, _FLOOR))


def _odds(shares: FloatArray) -> FloatArray:
    return np.asarray(np.where(np.isfinite(shares), logit(np.clip(shares, 0.0, 1.0), _FLOOR), shares))
