"""What a counterfactual has to reach, as linear conditions on the model's outputs.

A `Region` is met by predictions f for which low <= A f <= high: an interval of one output is one line of A, "this class
wins" one line for each other class (their difference is above 0). A `Target` is met where one of its regions is: "any
other class" has one region for each of them. `miss` is 0 there and else how far predictions are from it (L1, as o1 of
Dandl et al. 2020; for several classes by how much the class falls short of the strongest rival).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import is_number
from pellucid.errors import InputError, nearest
from pellucid.models.adapter import Scale
from pellucid.models.predictor import Link

TINY = float(np.nextafter(0.0, 1.0))  # the least number above 0: a difference of at least this is a strict win
_COMPARISON = re.compile(r"\s*(<=|>=|<|>|≤|≥)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)\s*")
_SIGN = re.compile(r"\s*(?:<=|>=|<|>|≤|≥)\s*(.*?)\s*", re.DOTALL)
_NOT = re.compile(r"\s*(?:not\s+|!=\s*|≠\s*)(.+?)\s*", re.DOTALL)


class Predictor(Protocol):
    """What a target has to know of a model, be it one of tables, of texts or of images."""

    @property
    def classes(self) -> tuple[Any, ...] | None: ...
    @property
    def labels(self) -> tuple[Any, ...] | None: ...
    @property
    def output_names(self) -> tuple[str, ...]: ...
    @property
    def link(self) -> Link: ...
    @property
    def scale(self) -> Scale: ...
    @property
    def raw_scale(self) -> Scale: ...
    @property
    def width(self) -> int: ...
    @property
    def explained(self) -> tuple[int, ...]: ...
    def restrict(self, full: FloatArray) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class Region:
    """Predictions f with low <= A f <= high: ``matrix`` (lines, outputs), ``low`` and ``high`` (lines,)."""

    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    rivals: bool = False

    def miss(self, outputs: FloatArray) -> FloatArray:
        """How far each prediction is from the region."""
        reached = outputs @ self.matrix.T
        short = np.maximum(np.maximum(self.low - reached, reached - self.high), 0.0)
        return np.asarray(short.max(axis=1, initial=0.0) if self.rivals else short.sum(axis=1))

    def met(self, outputs: FloatArray) -> BoolArray:
        """Which predictions are in the region."""
        reached = outputs @ self.matrix.T
        return np.asarray(((reached >= self.low) & (reached <= self.high)).all(axis=1))


@dataclass(frozen=True, eq=False)
class Target:
    """One of some regions of the outputs, and how people say it.

    The outputs are all columns of a full prediction, on the model's own scale; with ``explained`` those that are
    explained, on the scale that is (log-odds). ``value`` is the number that was asked for, where it was one.
    """

    regions: tuple[Region, ...]
    words: str
    explained: bool = False
    value: float | None = None

    def outputs(self, predictor: Predictor, full: FloatArray) -> FloatArray:
        """The outputs that the regions are about."""
        return predictor.restrict(full) if self.explained else full

    def miss(self, outputs: FloatArray) -> FloatArray:
        """How far predictions ``(n, outputs)`` are from the target: 0 where it is reached, and only there."""
        found = np.min([region.miss(outputs) for region in self.regions], axis=0)
        met = np.any([region.met(outputs) for region in self.regions], axis=0)
        # A difference of the least number above 0 is lost beside larger ones: what is not reached is off by something.
        return np.asarray(np.where(met, 0.0, np.maximum(found, TINY)))


def read_target(given: Any, predictor: Predictor, own: FloatArray) -> Target:
    """The target that a user asks for; ``own`` (outputs,) is the full prediction of the row."""
    if isinstance(given, Target):
        return given
    if isinstance(given, np.ndarray | np.generic):
        given = given.tolist()
    if predictor.classes is not None:
        found = _classes(given, predictor, own)
        if found is not None:
            return found
    if given is None:
        raise InputError(
            "target must say what to predict instead, such as '>= 1000', (900, 1100) or 1000; a model of numbers has no"
            " other class to aim at."
        )
    if isinstance(given, Mapping):
        return _several(given, predictor, own)
    output = _only_output(given, predictor)
    low, high, words = _interval(given, _explained(predictor, own)[output])
    region = _ends(len(_explained(predictor, own)), {output: (low, high)})
    return _placed(
        predictor, region, f"{_called(predictor, output)}{words}", float(given) if is_number(given) else None
    )


def _explained(predictor: Predictor, own: FloatArray) -> FloatArray:
    return predictor.restrict(own[None])[0]


def _called(predictor: Predictor, output: int) -> str:
    if predictor.scale == "probability":
        return f"P({predictor.output_names[output]}) "
    return f"{predictor.output_names[output]} "


def _placed(predictor: Predictor, region: Region, words: str, value: float | None) -> Target:
    """A region of the explained outputs as one of all outputs, unless they are on another scale."""
    if predictor.link != "identity":
        return Target((region,), words, explained=True, value=value)
    matrix = np.zeros((len(region.matrix), predictor.width))
    matrix[:, list(predictor.explained)] = region.matrix
    return Target((Region(matrix, region.low, region.high),), words, value=value)


def _ends(outputs: int, ends: Mapping[int, tuple[float, float]]) -> Region:
    matrix = np.zeros((len(ends), outputs))
    matrix[np.arange(len(ends)), list(ends)] = 1.0
    low, high = np.array(list(ends.values()), dtype=np.float64).T
    return Region(matrix, low, high)


def _only_output(given: Any, predictor: Predictor) -> int:
    if len(predictor.output_names) > 1:
        names = ", ".join(repr(name) for name in predictor.output_names[:8])
        raise InputError(
            f"target={given!r} does not say for which output; give a dict, such as"
            f" {{{predictor.output_names[0]!r}: {given!r}}}, for some of {names}."
        )
    return 0


def _several(given: Mapping[Any, Any], predictor: Predictor, own: FloatArray) -> Target:
    """Intervals of several outputs, all of which have to be reached."""
    names, now = predictor.output_names, _explained(predictor, own)
    ends: dict[int, tuple[float, float]] = {}
    words = []
    for name, wanted in given.items():
        if str(name) not in names:
            raise InputError(f"target: {name!r} is not an explained output{nearest(str(name), names)}")
        output = names.index(str(name))
        low, high, said = _interval(wanted, now[output])
        ends[output] = (low, high)
        words.append(f"{_called(predictor, output)}{said}")
    if not ends:
        raise InputError("target={} names no output; give an interval for at least one.")
    return _placed(predictor, _ends(len(names), ends), " and ".join(words), None)


def _said(end: float) -> str:
    """The end of an interval: six digits, of a large number all that stand before the point."""
    return f"{end:,.0f}" if 1e5 <= abs(end) < 1e15 else f"{end:,.6g}"


def _interval(given: Any, now: float) -> tuple[float, float, str]:
    """The ends of what is asked for, both included, and how it is said.

    A number is to be reached: at least it from below, at most it from above.
    """
    if is_number(given):
        return (
            (float(given), np.inf, f">= {_said(given)}")
            if now < given
            else (-np.inf, float(given), f"<= {_said(given)}")
        )
    if isinstance(given, str):
        said = _COMPARISON.fullmatch(given)
        if said:
            sign, number = said[1].replace("≤", "<=").replace("≥", ">="), float(said[2]) / (100 if said[3] else 1)
            return *_compared(sign, number), f"{sign} {_said(number)}"
        beyond = _SIGN.fullmatch(given)
        if beyond:
            raise InputError(
                f"target={given!r} compares with {beyond[1]!r}, which is not a number; give a comparison such as"
                " '>= 0.5'."
            )
    if isinstance(given, tuple | list) and len(given) == 2 and all(end is None or is_number(end) for end in given):
        low, high = (-np.inf if given[0] is None else given[0]), (np.inf if given[1] is None else given[1])
        if low <= high:
            return float(low), float(high), _between(float(low), float(high))
        raise InputError(f"target={given!r} has its low end above its high one; turn them round.")
    raise InputError(
        f"target={given!r} is not understood; give a number, a comparison such as '>= 1000', an interval (low,"
        " high) or,"
        " for a classifier, a class."
    )


def _between(low: float, high: float) -> str:
    if low == -np.inf:
        return f"<= {_said(high)}"
    return f">= {_said(low)}" if high == np.inf else f"in [{_said(low)}, {_said(high)}]"


def _compared(sign: str, number: float) -> tuple[float, float]:
    return {
        "<=": (-np.inf, number),
        ">=": (number, np.inf),
        "<": (-np.inf, float(np.nextafter(number, -np.inf))),
        ">": (float(np.nextafter(number, np.inf)), np.inf),
    }[sign]


# -- classes -----------------------------------------------------------------------------------------


def _classes(given: Any, predictor: Predictor, own: FloatArray) -> Target | None:
    """A class that is to win, several of which one is, or any but one; None where the target names no class."""
    names = [str(name) for name in predictor.classes or ()]
    if given is None:
        now = int(own.argmax())
        return _any_but(now, predictor, f"a class other than {names[now]}")
    place = _class_of(given, predictor)
    if place is not None:
        return _one_of((place,), predictor, f"class {names[place]}")
    if isinstance(given, str):
        said = _NOT.fullmatch(given)
        place = None if said is None else _class_of(said[1].strip("'\""), predictor)
        if place is not None:
            return _any_but(place, predictor, f"any class but {names[place]}")
        if _SIGN.fullmatch(given):
            _interval(given, 0.0)  # refuses a comparison with anything but a number
            return None
        raise InputError(f"target={given!r} is no class of the model{nearest(given, names)}")
    if isinstance(given, list | set | frozenset) or (isinstance(given, tuple) and not all(map(is_number, given))):
        places = [_class_of(label, predictor) for label in given]
        if places and all(place is not None for place in places):
            kept = tuple(sorted({place for place in places if place is not None}))
            if len(kept) == len(names):
                raise InputError(f"target={given!r} names every class of the model; leave at least one out.")
            return _one_of(kept, predictor, " or ".join(f"class {names[place]}" for place in kept))
    return None


def _class_of(given: Any, predictor: Predictor) -> int | None:
    """The position of a class that is given by its name or its label."""
    labels, names = predictor.labels or (), [str(name) for name in predictor.classes or ()]
    if isinstance(given, str):
        return (
            names.index(given) if given in names else next((k for k, x in enumerate(labels) if str(x) == given), None)
        )
    if isinstance(given, Iterable | Mapping):
        return None
    given = given.item() if isinstance(given, np.generic) else given
    # True is not the label 1 of several; but where the labels are True and False, 1 and 0 can mean nothing else.
    truths = all(isinstance(label, bool) for label in labels)
    same = [
        k
        for k, label in enumerate(labels)
        if (truths or isinstance(given, bool) == isinstance(label, bool)) and label == given
    ]
    return same[0] if same else None


def _one_of(places: tuple[int, ...], predictor: Predictor, words: str) -> Target:
    """One of these classes is more probable than every other."""
    others = [k for k in range(predictor.width) if k not in places]
    return Target(tuple(_wins(place, others, predictor) for place in places), words)


def _any_but(place: int, predictor: Predictor, words: str) -> Target:
    others = [k for k in range(predictor.width) if k != place]
    if not others:
        raise InputError("target=None asks for another class, but the model knows only one.")
    return Target(tuple(_wins(other, [place], predictor) for other in others), words)


def _wins(place: int, others: Iterable[int], predictor: Predictor) -> Region:
    """A class before others, strictly; of two classes with probabilities: above one half."""
    others = list(others)
    if predictor.width == 2 and predictor.raw_scale == "probability":
        return _ends(2, {place: (float(np.nextafter(0.5, 1.0)), np.inf)})
    matrix = np.zeros((len(others), predictor.width))
    matrix[:, place] = 1.0
    matrix[np.arange(len(others)), others] = -1.0
    return Region(matrix, np.full(len(others), TINY), np.full(len(others), np.inf), rivals=True)
