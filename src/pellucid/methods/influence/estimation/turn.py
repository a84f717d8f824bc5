"""What turning a prediction means: another class, or a number that is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import is_number
from pellucid.errors import InputError, nearest
from pellucid.models import Predictor
from pellucid.words import number


@dataclass(frozen=True, eq=False)
class Turn:
    """The prediction turns where ``toward' f - offset`` reaches zero.

    ``columns`` of a full prediction are shown; ``place`` is that of the target class (-1 for numbers).
    """

    present: str
    target: str
    toward: FloatArray
    offset: float
    columns: tuple[int, ...]
    place: int
    logarithmic: bool = False

    def score(self, full: FloatArray) -> float:
        """Below zero: not turned."""
        return float(self.toward @ full) - self.offset

    def distance(self, full: FloatArray) -> float:
        """The same on the scale that models add up on: of probabilities the logarithm of their ratio."""
        if self.place < 0 or not self.logarithmic:
            return self.score(full)
        own, other = np.clip(self.shown(full), 1e-12, None)
        return float(np.log(other / own))

    def reached(self, full: FloatArray) -> bool:
        """Whether the target is predicted; a tie of classes is not enough."""
        score = self.score(full)
        return score > 0 if self.place >= 0 else score >= -1e-9 * max(1.0, abs(self.offset))

    def shown(self, full: FloatArray) -> FloatArray:
        """The predicted number, or the probabilities of the present and the target class."""
        own = full[list(self.columns)]
        if self.place >= 0 and len(full) == 1:
            own = np.append(1 - full, full) if self.place == 1 else np.append(full, 1 - full)
        return np.asarray(own)


def find_turn(predictor: Predictor, full: FloatArray, target: Any) -> Turn:
    """From the present prediction to the target; of classes by default the second most likely."""
    if predictor.classes is None:
        return _number(full, target)
    names = [str(label) for label in predictor.classes]
    middle = 0.5 if predictor.raw_scale == "probability" else 0.0
    present = int(full.argmax()) if len(full) > 1 else int(full[0] > middle)
    if target is None:
        place = int(np.argsort(-full, kind="stable")[1]) if len(full) > 1 else 1 - present
    else:
        place = _class(predictor, names, target)
    if place == present:
        raise InputError(f"target={target!r} is what the model predicts already; give another class.")
    if len(full) == 1:
        toward = np.array([1.0 if place == 1 else -1.0])
        return Turn(names[present], names[place], toward, float(toward[0] * middle), (0,), place, middle > 0)
    toward = np.zeros(len(full))
    toward[place], toward[present] = 1.0, -1.0
    return Turn(names[present], names[place], toward, 0.0, (present, place), place, middle > 0)


def _class(predictor: Predictor, names: list[str], target: Any) -> int:
    for labels in (predictor.classes, predictor.labels, names):
        for k, label in enumerate(labels or ()):
            if (type(label) is type(target) and label == target) or str(label) == str(target):
                return k
    raise InputError(f"target={target!r} is no class of the model{nearest(str(target), names)}")


def _number(full: FloatArray, target: Any) -> Turn:
    if len(full) != 1:
        raise InputError(f"the model predicts {len(full)} numbers; poisoning is about one. Give output=.")
    if not is_number(target) or not np.isfinite(target):
        raise InputError(f"target must be a number that the prediction should reach, got {target!r}.")
    if float(target) == float(full[0]):
        raise InputError(f"target={target!r} is what the model predicts already; give another number.")
    sign = 1.0 if float(target) > float(full[0]) else -1.0
    return Turn(number(float(full[0])), number(float(target)), np.array([sign]), sign * float(target), (0,), -1)
