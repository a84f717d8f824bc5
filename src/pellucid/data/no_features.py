"""Columns of X that are no features: the outcome itself, and identifiers."""

from __future__ import annotations

import re

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.data.table import Data

_ENOUGH = 50  # rows; in fewer, columns are equal or distinct by chance
_CLASSES = 20  # more are no classes
_FIRST = 50  # rows that tell most columns from the outcome, or from an identifier
_ID = re.compile(  # a counter under another name may be a trend, which is a feature
    r"(^|[_\W])(id|ids|uuid|guid|key|index|rowid)$|^(id|uuid|guid)[_\W]|[a-z](Id|ID)$|^(unnamed: 0|row|row_?number)$"
)


def no_features(data: Data) -> list[str]:
    """A sentence for the outcome among the features, and one for each identifier: what it is and what to do."""
    if len(data) < _ENOUGH or data.caller in ("numpy", "sparse"):
        return []  # the columns of a bare matrix are what the model takes
    found = []
    for j, feature in enumerate(data.schema.features):
        drop = f"X.drop({'columns=' if data.caller == 'pandas' else ''}{feature.source!r})"
        if _is_outcome(data, j):
            found.append(
                f"the column {feature.source!r} of X equals y in every row: the outcome is among the features. Leave it"
                f" out ({drop}), and fit the model without it."
            )
        elif _tells_outcome(data, j):
            found.append(
                f"the column {feature.source!r} of X has one value for each value of y: it seems to be the outcome"
                f" under other names. Leave it out ({drop}), and fit the model without it."
            )
        elif _is_identifier(data, j):
            found.append(
                f"the column {feature.source!r} of X has a different value in each of the {len(data):,} rows, like an"
                f" identifier: what is found about it says nothing about other rows. Leave it out ({drop}), or let it"
                f" name the rows (row_labels={feature.source!r}), and fit the model without it."
            )
    return found


def _is_outcome(data: Data, j: int) -> bool:
    y = data.y
    if y is None or y.ndim != 1 or not _vary(y):
        return False
    codes = data.codes(j)
    feature = data.schema.features[j]
    own: AnyArray = feature.decode(codes[:_FIRST]) if feature.categories is not None else codes[:_FIRST]
    if not _equal(own, y[:_FIRST]):
        return False
    return _equal(feature.decode(codes) if feature.categories is not None else codes, y)


def _tells_outcome(data: Data, j: int) -> bool:
    """Whether a column of text has one level for each class: ``good`` and ``bad`` for 1 and 0."""
    y, feature = data.y, data.schema.features[j]
    if y is None or y.ndim != 1 or feature.missing or feature.categories is None:
        return False
    pairs = set(zip(data.codes(j)[:_FIRST].tolist(), y[:_FIRST].tolist(), strict=True))
    if not 1 < len(feature.categories) <= _CLASSES or len({b for _, b in pairs}) < len(pairs):
        return False
    pairs = set(zip(data.codes(j).tolist(), y.tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) > 1


def _vary(y: AnyArray) -> bool:
    return bool((y != y[0]).any())


def _equal(column: AnyArray, y: AnyArray) -> bool:
    """Whether a column holds the outcomes, whatever type they have."""
    if column.dtype.kind == "f":
        return y.dtype.kind in "biuf" and np.array_equal(column, y.astype(np.float64))
    return bool(all(str(a) == str(b) for a, b in zip(column.tolist(), y.tolist(), strict=True)))


def _is_identifier(data: Data, j: int) -> bool:
    """Text that never repeats, or whole numbers that never repeat and are called an id."""
    feature = data.schema.features[j]
    if feature.missing or feature.kind not in ("categorical", "integer"):
        return False
    if feature.categories is not None:
        return len(feature.categories) == len(data) and isinstance(feature.categories[0], str)
    if _ID.search(feature.source) is None and _ID.search(feature.source.lower()) is None:
        return False
    return len(np.unique(data.codes(j)[:_FIRST])) == _FIRST and feature.distinct == len(data)
