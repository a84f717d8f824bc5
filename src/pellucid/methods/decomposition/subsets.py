"""Which components a decomposition has."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from pellucid.data import Data
from pellucid.errors import InputError

MOST = 3  # features in one component: more can neither be drawn nor estimated
_MANY = 5_000

Subset = tuple[int, ...]


def subsets(data: Data, features: Any, order: int) -> list[Subset]:
    """Positions of the features of every component, single features first."""
    chosen = chosen_features(data, features)
    _check(order, len(chosen))
    counts = sum(comb(len(chosen), k) for k in range(1, order + 1))
    if counts > _MANY:
        raise InputError(
            f"order={order} of {len(chosen)} features has {counts:,} components; give fewer features (features=[...])"
            " or a lower order."
        )
    return [subset for k in range(1, min(order, len(chosen)) + 1) for subset in combinations(chosen, k)]


def chosen_features(data: Data, features: Any) -> Subset:
    """Positions, in the order of the columns, of all features or of those named; a group names its members."""
    if features is None:
        return tuple(range(len(data.schema.features)))
    single = isinstance(features, str | int | np.integer) or not isinstance(features, Iterable)
    named: list[int] = []
    for feature in [features] if single else list(features):
        group = data.schema.groups.get(feature) if isinstance(feature, str) else None
        named.extend((data.schema.index(feature),) if group is None else group)
    if not named:
        raise InputError("features=[] names no feature; give at least one, or leave it out for all.")
    twice = [j for k, j in enumerate(named) if j in named[:k]]
    if twice:
        raise InputError(f"feature {data.schema.names[twice[0]]!r} is given twice in features=; name each once.")
    return tuple(sorted(named))


def _check(order: int, p: int) -> None:
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 1:
        raise InputError(f"order={order!r}: give a whole number from 1 to {MOST}.")
    if order > MOST:
        raise InputError(
            f"order={order} is not offered: {p} features have 2^{p} = {2**p:,} components in all, of which those of"
            f" more than {MOST} features can be neither drawn nor estimated; use order={MOST} and read the residual."
        )
