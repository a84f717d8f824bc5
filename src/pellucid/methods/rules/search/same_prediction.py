"""What counts as the same prediction: the same class, or a number in an interval around the row's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import is_number, positive
from pellucid.errors import InputError
from pellucid.explanations.rule import HALF_WIDTH


class Predicting(Protocol):
    """What has to be known of a model to compare its predictions: a `Predictor`, or anything else that says this
    much.
    """

    @property
    def classes(self) -> tuple[Any, ...] | None: ...

    @property
    def task(self) -> str: ...

    def restrict(self, full: FloatArray) -> FloatArray:
        """The columns of a full prediction that are explained."""
        ...


class SamePrediction(ABC):
    """Reduces a full prediction to an answer per row, and compares answers with that of an explained row."""

    @abstractmethod
    def answers(self, full: FloatArray) -> FloatArray:
        """``(rows, k)``: all that is remembered of a prediction."""

    @abstractmethod
    def same(self, answers: FloatArray, row: int) -> BoolArray:
        """Whether the answers are those of the explained row."""

    @abstractmethod
    def interval(self, row: int) -> FloatArray:
        """``(outputs, 2)``: the numbers that count as the same; empty for classes."""

    @abstractmethod
    def prediction(self, row: int) -> Any:
        """What is predicted for the explained row."""


class SameClass(SamePrediction):
    """The most probable class."""

    def __init__(self, predictor: Predicting, explained: FloatArray) -> None:
        self._labels = predictor.classes or ()
        self._explained = self.answers(explained)

    def answers(self, full: FloatArray) -> FloatArray:
        return full.argmax(axis=1).astype(np.float64)[:, None]

    def same(self, answers: FloatArray, row: int) -> BoolArray:
        return np.asarray(answers[:, 0] == self._explained[row, 0])

    def interval(self, row: int) -> FloatArray:  # noqa: ARG002  the same for all rows
        return np.empty((0, 2))

    def prediction(self, row: int) -> Any:
        label = self._labels[int(self._explained[row, 0])]
        return label.item() if isinstance(label, np.generic) else label


class InInterval(SamePrediction):
    """Every explained output in an interval, ``limits`` (rows, outputs, 2)."""

    def __init__(self, predictor: Predicting, explained: FloatArray, limits: FloatArray) -> None:
        self._predictor, self._limits = predictor, limits
        self._explained = self.answers(explained)

    def answers(self, full: FloatArray) -> FloatArray:
        return self._predictor.restrict(full)

    def same(self, answers: FloatArray, row: int) -> BoolArray:
        low, high = self._limits[row, :, 0], self._limits[row, :, 1]
        return np.asarray(((answers >= low) & (answers <= high)).all(axis=1))

    def interval(self, row: int) -> FloatArray:
        return self._limits[row]

    def prediction(self, row: int) -> Any:
        numbers = self._explained[row].tolist()
        return numbers[0] if len(numbers) == 1 else tuple(numbers)


def same_prediction(
    predictor: Predicting, within: Any, explained: FloatArray, spread: Callable[[], FloatArray]
) -> SamePrediction:
    """By class for a classifier, unless an interval is given; ``spread`` gives the standard deviation of each
    output.
    """
    if within is None and predictor.task == "classification" and predictor.classes is not None:
        return SameClass(predictor, explained)
    own = predictor.restrict(explained)
    if within is None:
        half = HALF_WIDTH * spread()
    else:
        pair = np.asarray(within, dtype=np.float64) if _is_pair(within) else None
        if pair is not None:
            outside = ~((own >= pair[0]) & (own <= pair[1])).all(axis=1)
            if outside.any():
                row = int(np.flatnonzero(outside)[0])
                raise InputError(
                    f"within={tuple(pair.tolist())} does not hold the prediction {own[row].tolist()} of row {row}; give"
                    " an interval that does, or a half width."
                )
            return InInterval(predictor, explained, np.broadcast_to(pair, (*own.shape, 2)))
        half = np.full(own.shape[1], _half_width(within))
    slack = 1e-9 * np.maximum(np.abs(own), 1e-300)  # the row's own prediction is inside, whatever the batch
    return InInterval(predictor, explained, np.stack([own - half - slack, own + half + slack], axis=-1))


def _is_pair(within: Any) -> bool:
    if isinstance(within, tuple | list) and len(within) == 2:
        low, high = within
        if all(is_number(end) for end in within) and low < high:
            return True
    if isinstance(within, tuple | list | np.ndarray):
        raise InputError(f"within={within!r} is no interval; give (low, high) with low below high, or a half width.")
    return False


def _half_width(within: Any) -> float:
    return positive("within", within, also="(low, high)")


def within_words(within: Any) -> Any:
    """An interval of predictions, or a half width, as it is kept in the settings."""
    return [float(end) for end in within] if isinstance(within, tuple | list) else within
