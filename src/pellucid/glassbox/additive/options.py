"""What people say about an additive model, checked and put into positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.checks import is_whole, one_of, whole
from pellucid.data.schema import Schema
from pellucid.errors import InputError
from pellucid.glassbox.additive.constraints import SHAPES
from pellucid.glassbox.additive.pairs import Settings

FAMILIES_NAMED = ("auto", "gaussian", "binomial", "multinomial", "poisson", "gamma")
_DIRECTIONS = {"increasing": (1, 0), "decreasing": (-1, 0), "convex": (0, 1), "concave": (0, -1)}


def settings_of(model: Any, schema: Schema) -> Settings:
    """The settings of a model that knows its columns."""
    shapes = _shapes(model.shapes, schema)
    return Settings(
        knots=whole("knots", model.knots, least=4, most=1000),
        pair_knots=whole("pair_knots", model.pair_knots, least=3, most=100),
        pairs=_pairs(model.pairs, schema, shapes),
        shapes=shapes,
    )


def is_of_classes(family: Any, y: Any) -> bool:
    """Whether a target is one of classes: told by the family, or, with "auto", by its values: labels that are no
    numbers, or at most two different ones.
    """
    one_of("family", family, FAMILIES_NAMED)
    if family != "auto":
        return family in ("binomial", "multinomial")
    values = np.asarray(y)
    if values.ndim != 1 or not len(values):
        return False
    if values.dtype.kind == "O":
        try:
            values = np.array(values.tolist())
        except ValueError:
            return False
    if values.dtype.kind in "iu":
        return len(np.unique(values)) <= 2
    return values.dtype.kind in "bUSO"


def check_target(family: str, y: AnyArray) -> FloatArray:
    """Targets of a regression, as numbers that the family can have."""
    numbers = np.asarray(y, dtype=np.float64)
    if family == "poisson" and (numbers < 0).any():
        raise InputError("family='poisson' is for counts; Some value(s) of y are out of the valid range: below zero.")
    if family == "gamma" and (numbers <= 0).any():
        raise InputError("family='gamma' is for positive amounts; Some value(s) of y are out of the valid range: <= 0.")
    return numbers


def _shapes(given: Any, schema: Schema) -> dict[int, tuple[int, int]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"shapes must be a dict such as {{'age': 'increasing'}}, got {given!r}.")
    found = {}
    for name, said in given.items():
        j = schema.index(name)
        feature = schema.features[j]
        if feature.nominal:
            raise InputError(f"shapes: {feature.name!r} is {feature.kind}; only numbers and dates rise or bend.")
        words = [said] if isinstance(said, str) else list(said) if isinstance(said, Iterable) else [said]
        directions = [_DIRECTIONS[one_of("shapes", word, SHAPES)] for word in words]
        rising, bending = ([each[axis] for each in directions if each[axis]] for axis in (0, 1))
        if not words or len(set(rising)) > 1 or len(set(bending)) > 1:
            raise InputError(f"shapes: {feature.name!r} cannot be {' and '.join(map(str, words))} at once.")
        found[j] = (rising[0] if rising else 0, bending[0] if bending else 0)
    return found


def _pairs(
    given: Any, schema: Schema, shapes: dict[int, tuple[int, int]]
) -> Literal["auto", "strong"] | int | tuple[tuple[int, int], ...]:
    if isinstance(given, str) and given in ("auto", "strong"):
        return "auto" if given == "auto" else "strong"
    if is_whole(given):
        return whole("pairs", given, least=0)
    listed = isinstance(given, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in given
    )
    if not listed:
        raise InputError(
            f"pairs must be 'auto', 'strong', a number of pairs or a list such as [('temp', 'season')], got {given!r}."
        )
    found = tuple(dict.fromkeys((min(pair), max(pair)) for pair in (schema.indices(pair) for pair in given)))
    for j in (j for pair in found for j in pair if j in shapes):
        raise InputError(
            f"pairs: {schema.features[j].name!r} has a shape to keep, which a pair could break; leave it out of one of"
            " the two."
        )
    return found
