"""What a coefficient says, in a sentence.

- identity:         one unit more adds b to the prediction
- log:              one unit more multiplies the prediction by exp(b), whatever the other features are
- logit, softmax:   one unit more multiplies the odds by exp(b)
- other links:      one unit more adds b to the sum
- a level:          compared with the reference level
- a product:        the slope of one where the other is at a level, or by how much the slope changes with the other
- with a product:   the coefficient of a feature is its slope where the other is at its reference or zero, and is told
  so
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.linear.slopes import Slope, references
from pellucid.words import number

if TYPE_CHECKING:
    from pellucid.glassbox.linear.terms import LinearTerms


def reading_of(model: LinearTerms, names: tuple[str, ...], theta: FloatArray, wide: FloatArray) -> tuple[str, ...]:
    """A sentence for every coefficient of the first output."""
    outcome = model._estimates()[0][0]
    of = f" of {outcome}" if outcome != "prediction" else ""
    said = [f"Where every column is zero, the sum is {number(float(theta[0, 0]))}."]
    for said_of, b, w in zip(_subjects(model), theta[1:, 0], wide[1:, 0], strict=True):
        said.append(f"{said_of.words} {_change(model._link_name, float(b), float(w), of, said_of.unit)}.")
    return tuple(said[: len(names)])


def slope_words(model: LinearTerms, slope: Slope, wide: float) -> str:
    """The sentence of one slope."""
    outcome = model._estimates()[0][0]
    of = f" of {outcome}" if outcome != "prediction" else ""
    i = next(j for j, columns in enumerate(model._columns) if slope.column in columns.names)
    own = _own_subjects(model, i)[slope.place]
    said = _change(model._link_name, slope.value, wide, of, own.unit)
    return f"Where {slope.where}, {own.words.removesuffix(',')} {said}."


@dataclass(frozen=True)
class _Subject:
    """What changes, in words, and how many units of the column that is."""

    words: str
    unit: float = 1.0


def _change(link: str, b: float, wide: float, of: str, unit: float) -> str:
    b, wide = unit * b, unit * wide
    if link in ("log", "logit", "softmax"):
        what = "the prediction" if link == "log" else f"the odds{of}"
        return f"multiplies {what} by {_factor(b)}{_span(_factor(b - wide), _factor(b + wide))}"
    what = "the prediction" if link == "identity" else f"the {link.replace('_', ' ')} of the prediction"
    size = abs(b)
    verb = "raises" if b >= 0 else "lowers"
    return f"{verb} {what} by {number(size)}{_span(number(size - wide), number(size + wide))}"


def _factor(b: float) -> str:
    """What a coefficient multiplies by, in words."""
    with np.errstate(over="ignore"):
        return number(float(np.exp(b)))


def _span(low: str, high: str) -> str:
    """The interval beside a value; nothing where it is not known."""
    return "" if low == number(np.nan) else f" ({low} to {high})"


def _subjects(model: LinearTerms) -> list[_Subject]:
    """What changes with each column."""
    own = [_own_subjects(model, j) for j in range(len(model._columns))]
    said = []
    for j, subjects in enumerate(own):
        where = references(model, j)
        said += [_Subject(_where(each.words, where), each.unit) for each in subjects]
    for i, j in model._pairs:
        for a in own[i]:
            said += [_Subject(_together(a.words, b.words), a.unit * b.unit) for b in own[j]]
    return said


def _where(words: str, where: str) -> str:
    return words if not where else f"{words.removesuffix(',')}, where {where},"


def _together(first: str, second: str) -> str:
    """The subject of a product."""
    first, second = (words.partition(", compared")[0] for words in (first, second))
    return f"{first} together with {second}, beyond their separate effects,"


def _own_subjects(model: LinearTerms, j: int) -> list[_Subject]:
    """One unit more of each column of a feature, or a level instead of the reference."""
    feature, columns = model._schema.features[j], model._columns[j]
    found = []
    for name in columns.names:
        level = name.removeprefix(f"{feature.name}: ")
        if columns.levels is None and name == f"{feature.name}: missing":
            found.append(_Subject(f"{feature.name} missing, compared with its mean,"))
        elif columns.levels is not None:
            equals = "missing" if level == "missing" else level if columns.transform == "bins" else f"= {level}"
            found.append(_Subject(f"{feature.name} {equals}, compared with {columns.reference},"))
        elif feature.kind == "boolean":
            found.append(_Subject(f"{feature.name} = yes"))
        elif columns.transform == "log":
            found.append(_Subject(f"{feature.name} doubled", float(np.log(2.0))))
        else:
            found.append(_Subject(f"{feature.name} +1{' day' if feature.kind == 'date' else ''}"))
    return found
