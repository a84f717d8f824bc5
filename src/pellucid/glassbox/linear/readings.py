"""What a coefficient says, in a sentence.

- identity:         one unit more adds b to the prediction
- log:              one unit more multiplies the prediction by exp(b), whatever the other features are
- logit, softmax:   one unit more multiplies the odds by exp(b)
- other links:      one unit more adds b to the sum
- a level:          compared with the reference level
- a product:        by how much the slope of one changes with the other
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.words import number, value_name

if TYPE_CHECKING:
    from pellucid.glassbox.linear.terms import LinearTerms


def reading_of(model: LinearTerms, names: tuple[str, ...], theta: FloatArray, wide: FloatArray) -> tuple[str, ...]:
    """A sentence for every coefficient of the first output."""
    subjects = ["Where every column is zero, the sum", *_subjects(model)]
    link = model._link_name
    outcome = model._estimates()[0][0]
    of = f" of {outcome}" if outcome != "prediction" else ""
    said = [f"{subjects[0]} is {number(float(theta[0, 0]))}."]
    for subject, b, w in zip(subjects[1:], theta[1:, 0], wide[1:, 0], strict=True):
        said.append(f"{subject} {_change(link, float(b), float(w), of)}.")
    return tuple(said[: len(names)])


def _change(link: str, b: float, wide: float, of: str) -> str:
    if link in ("log", "logit", "softmax"):
        what = "the prediction" if link == "log" else f"the odds{of}"
        return f"multiplies {what} by {_factor(b)}{_span(_factor(b - wide), _factor(b + wide))}"
    what = "the prediction" if link == "identity" else f"the {link.replace('_', ' ')} of the prediction"
    size = abs(b)
    verb, side = ("adds", "to") if b >= 0 else ("takes", "from")
    return f"{verb} {number(size)}{_span(number(size - wide), number(size + wide))} {side} {what}"


def _factor(b: float) -> str:
    """What a coefficient multiplies by, in words."""
    with np.errstate(over="ignore"):
        return number(float(np.exp(b)))


def _span(low: str, high: str) -> str:
    """The interval beside a value; nothing where it is not known."""
    return "" if low == number(np.nan) else f" ({low} to {high})"


def _subjects(model: LinearTerms) -> list[str]:
    """What changes with each column: one unit more, or a level instead of the reference."""
    said, own = [], []
    for feature, columns in zip(model._schema.features, model._columns, strict=True):
        mine = []
        for name in columns.names:
            if name == f"{feature.name}: missing":
                usual = f"{value_name(feature.categories[0])}" if feature.categories else "its mean"
                mine.append(f"{feature.name} missing, compared with {usual},")
            elif feature.categories is not None:
                level = name.removeprefix(f"{feature.name}: ")
                mine.append(f"{feature.name} = {level}, compared with {value_name(feature.categories[0])},")
            elif feature.kind == "boolean":
                mine.append(f"{feature.name} = yes")
            else:
                unit = " day" if feature.kind == "date" else ""
                mine.append(f"{feature.name} +1{unit}")
        own.append(list(zip(columns.names, mine, strict=True)))
        said += mine
    for i, j in model._pairs:
        said += [f"{a} together with {b.removesuffix(',')}" for _, a in own[i] for _, b in own[j]]
    return said
