"""Predictions of many texts or images: how good they are, and which texts or images are worth showing one by one.

Definitions. Where one number is explained (a regression, or one of two classes), the *extremes* have the highest and
the lowest prediction, and *typical* is the one with the median prediction, among those of each class where there are
classes. Of several classes each of those predicted most often has its most certain one. The *least certain* one has
the smallest lead of its class over the next. With a known outcome, the *most mistaken* ones give the true class the
lowest probability, or are farthest from the true number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data.table import plain_array
from pellucid.errors import InputError, nearest
from pellucid.models.outputs import Outputs
from pellucid.parts.model import Models, WholeModel
from pellucid.parts.performance import whole_performance
from pellucid.report.cards import Plain, section
from pellucid.report.performance import TITLE, score_section
from pellucid.report.work import Work
from pellucid.words import counted, number, percent

MOST = 2000  # whose predictions are looked at
_FIRST = 32  # asked for first, to see how long the model takes
_CLASSES = 4  # of many, that have an example each
_MISTAKES = 2
_ROUNDING = 1e-9  # relative; differences below this are noise of the arithmetic

Reasons = dict[int, list[str]]  # why each text or image is shown, by its position


@dataclass(frozen=True, eq=False)
class Seen:
    """What the model says of the texts or images at ``places``: ``full`` has all outputs, ``explained`` those that are
    explained; ``y`` holds positions of classes or numbers, where the outcome is known.
    """

    noun: str
    model: str
    library: str
    total: int
    places: IntArray
    outputs: Outputs
    scale: str
    full: FloatArray
    explained: FloatArray
    y: FloatArray | None

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes."""
        return None if self.outputs.classes is None else self.outputs.all_names

    @property
    def best(self) -> IntArray:
        """The predicted class of each."""
        return np.asarray(self.full.argmax(axis=1))

    def output(self, i: int) -> str:
        """The output that is explained for number ``i``: its class where that is explained, else the first."""
        name = self.outputs.all_names[int(self.best[i])]
        several = self.classes is not None and len(self.outputs.names) > 1
        return name if several and name in self.outputs.names else self.outputs.names[0]

    def outcome(self, i: int) -> str:
        """What is predicted for number ``i``, and what is true where that is known."""
        if self.classes is None:
            said = f"Prediction {number(float(self.full[i, 0]))}"
            return said if self.y is None else f"{said}, true value {number(float(self.y[i]))}"
        k = int(self.best[i])
        sure = f" ({percent(float(self.full[i, k]))})" if self.outputs.scale == "probability" else ""
        said = f"Predicted: {self.classes[k]}{sure}"
        return said if self.y is None else f"{said}, true: {self.classes[int(self.y[i])]}"


def look(
    models: Models,
    wholes: Sequence[Any],
    y: Any,
    noun: str,
    ask: Callable[[WholeModel, list[Any]], FloatArray],
    work: Work,
) -> Seen:
    """The predictions of at most `MOST` texts or images, evenly spaced; ``ask`` gives those of a list of them.

    Of a slow model fewer.
    """
    model = models.classes
    first = _asked(model, list(wholes[:_FIRST]), ask, work)
    most = min(work.affordable(MOST), len(wholes))
    places = np.unique(np.linspace(0, len(wholes) - 1, most).astype(np.intp))
    blocks = [places[start : start + _FIRST] for start in range(0, len(places), _FIRST)]
    raw = np.concatenate([_asked(model, [wholes[i] for i in block], ask, work) for block in blocks])
    predictor, _ = model.learn(first, first)
    shown, explained = models.explained.learn(raw, raw)
    known = None if y is None else _outcome(y, len(wholes), predictor.outputs, model.labels)[places]
    return Seen(
        noun,
        model.adapter.name,
        model.adapter.library,
        len(wholes),
        places,
        shown.outputs,
        shown.scale,
        predictor.outputs.complete(raw),
        explained,
        known,
    )


def _asked(
    model: WholeModel, some: list[Any], ask: Callable[[WholeModel, list[Any]], FloatArray], work: Work
) -> FloatArray:
    with work.run.counting(len(some)):
        return ask(model, some)


def _outcome(y: Any, n: int, outputs: Outputs, labels: tuple[Any, ...] | None) -> FloatArray:
    """The outcome as numbers: positions of classes, by name or by the model's own label, or values."""
    given = plain_array(y)
    if given.shape != (n,):
        raise InputError(f"y must hold one outcome for each of the {n:,}, got an array of shape {given.shape}.")
    if outputs.classes is None:
        if len(outputs.all_names) > 1:
            raise InputError(
                f"y can be compared with one predicted number, not with {len(outputs.all_names)}; leave it out."
            )
        try:
            return given.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"y holds {given[0]!r}, but the model predicts numbers; give numbers as y.") from None
    names = [*enumerate(labels or ()), *enumerate(outputs.classes)]
    known = {str(label): k for k, label in names}
    for i, label in enumerate(given.tolist()):
        if str(label) not in known:
            raise InputError(f"y[{i}] is {label!r}, which is not a class of the model{nearest(str(label), known)}")
    return np.array([known[str(label)] for label in given.tolist()], dtype=np.float64)


# -- which ones --------------------------------------------------------------------------------------


def choose(seen: Seen) -> Reasons:
    """Places among those that were looked at, and why each is shown."""
    single = seen.classes is None or len(seen.classes) == 2 or len(seen.outputs.names) == 1
    found = _of_one_number(seen) if single else _of_classes(seen)
    if seen.classes is not None and len(seen.places) > 1:
        ranked = np.sort(seen.full, axis=1)
        found.append((int(np.argmin(ranked[:, -1] - ranked[:, -2])), "least certain"))
    reasons: Reasons = {}
    for i, why in [*found, *_mistaken(seen)]:
        reasons.setdefault(i, [])
        reasons[i] += [why] if why not in reasons[i] else []
    return reasons


def _of_one_number(seen: Seen) -> list[tuple[int, str]]:
    score = seen.explained[:, 0]
    if np.ptp(score) <= _ROUNDING * np.abs(score).max(initial=0.0):
        return [(0, "typical")]
    what = quantity(seen, seen.outputs.names[0])
    ends = [(int(np.argmax(score)), f"highest {what}"), (int(np.argmin(score)), f"lowest {what}")]
    if seen.classes is None:
        return [(_middle(score, np.arange(len(score))), "typical"), *ends]
    own = [(name, np.flatnonzero(seen.best == k)) for k, name in enumerate(seen.classes)]
    return [*((_middle(score, some), f"typical {name}") for name, some in own[:_CLASSES] if len(some)), *ends]


def _middle(score: FloatArray, some: IntArray) -> int:
    """The one with the median score among some."""
    return int(some[np.argsort(score[some], kind="stable")[(len(some) - 1) // 2]])


def _of_classes(seen: Seen) -> list[tuple[int, str]]:
    best, names = seen.best, seen.classes or ()
    often = np.argsort(-np.bincount(best, minlength=len(names)), kind="stable")[:_CLASSES]
    found = []
    for k in sorted(int(k) for k in often):
        own = np.flatnonzero(best == k)
        if len(own):
            found.append((int(own[np.argmax(seen.full[own, k])]), f"most certain {names[k]}"))
    return found


def _mistaken(seen: Seen) -> list[tuple[int, str]]:
    if seen.y is None:
        return []
    if seen.classes is None:
        return [(int(np.argmax(np.abs(seen.full[:, 0] - seen.y))), "largest error")]
    true = seen.full[np.arange(len(seen.y)), seen.y.astype(np.intp)]
    wrong = np.flatnonzero(seen.best != seen.y)
    return [(int(i), "most mistaken") for i in wrong[np.argsort(true[wrong], kind="stable")][:_MISTAKES]]


def quantity(seen: Seen, output: str) -> str:
    """What is explained, in words: ``probability of spam``."""
    noun = "prediction" if seen.scale == "response" else seen.scale
    return noun if output in ("prediction", "output") else f"{noun} of {output}"


# -- how good ----------------------------------------------------------------------------------------


def model_section(seen: Seen, work: Work) -> tuple[Plain, list[str]]:
    """How well the model predicts, beside a constant, with charts, and a sentence of it for the top of the page."""
    if seen.y is None or len(seen.y) < 2:
        why = "no outcome was given (y=)" if seen.y is None else f"there is one {seen.noun}"
        return section("model", TITLE, [f"How well the model predicts is unknown: {why}."]), []
    found = whole_performance(seen.outputs, seen.y, seen.full, seen.noun, work.run)
    constant = "the class frequencies" if found.classes else f"the mean of the outcome ({number(float(seen.y.mean()))})"
    size = counted(len(seen.places), seen.noun)
    against = f"The model is compared with a constant, {constant}, on the {size} of this report."
    return score_section(found, against, brief=True), [found.findings()[0]]
