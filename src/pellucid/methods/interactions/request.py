"""What is asked about interactions, checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np

from pellucid.data import Data
from pellucid.errors import InputError, nearest
from pellucid.models import Predictor
from pellucid.runner import Run

Method = Literal["h", "greenwell", "shap"]
Against = Literal["pairs", "all", "triples"]

_SIZES: dict[Against, int] = {"all": 1, "pairs": 2, "triples": 3}
_MOST = {"all": 20_000, "pairs": 20_000, "triples": 5_000}


@dataclass(frozen=True, eq=False)
class Request:
    """Checked arguments: ``players`` are the names and columns of all players, ``sets`` positions of players, one tuple
    per value.
    """

    predictor: Predictor
    data: Data
    background: Any
    players: dict[str, tuple[int, ...]]
    sets: tuple[tuple[int, ...], ...]
    against: Against
    normalize: bool
    p_values: bool
    rows: int | None
    run: Run

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all players."""
        return tuple(self.players)

    @cached_property
    def set_names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the players in each set."""
        return tuple(tuple(self.names[i] for i in players) for players in self.sets)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the players that are asked about, in the order in which the sets mention them."""
        return tuple(dict.fromkeys(name for names in self.set_names for name in names))


def players_of(data: Data) -> dict[str, tuple[int, ...]]:
    """The players of the table, at least two; there must be rows to compare, too."""
    players = data.schema.players()
    if len(players) < 2:
        what = "group" if data.schema.groups else "feature"
        raise InputError(f"X has one {what} only; an interaction is between two, so give X with more.")
    if np.count_nonzero(data.weights > 0) < 2:
        raise InputError("X has one row that counts; interactions are differences between rows, so give more rows.")
    return players


def chosen_sets(
    data: Data, players: dict[str, tuple[int, ...]], features: Any, against: Against
) -> tuple[tuple[int, ...], ...] | None:
    """Pairs (or triples) that are named one by one, as ``[("a", "b"), ("c", "d")]``; None where features are named."""
    if isinstance(features, str) or not isinstance(features, Iterable):
        return None
    given = list(features)
    if not given or not all(isinstance(item, tuple | list) for item in given):
        return None
    size, found = _SIZES[against], []
    for item in given:
        members = sorted({_player(data, players, feature) for feature in item})
        if size == 1 or len(item) != size or len(members) != size:
            wanted = "features, not pairs" if size == 1 else f"sets of {size} different features"
            raise InputError(f"features= has {tuple(item)!r}; against={against!r} is about {wanted}.")
        if tuple(members) in found:
            raise InputError(f"features= has {tuple(item)!r} twice; give each set once.")
        found.append(tuple(members))
    return tuple(found)


def asked_about(data: Data, players: dict[str, tuple[int, ...]], features: Any) -> list[int] | None:
    """The positions of the players that ``features`` names; None for all."""
    if features is None:
        return None
    several = isinstance(features, Iterable) and not isinstance(features, str)
    asked = [_player(data, players, feature) for feature in (features if several else [features])]
    if not asked:
        raise InputError("features= is empty; name at least one feature, or leave it out for all.")
    twice = [i for place, i in enumerate(asked) if i in asked[:place]]
    if twice:
        name = list(players)[twice[0]]
        raise InputError(f"{name!r} is given twice in features=; give different features.")
    return asked


def too_many(n: int, against: Against) -> bool:
    """Whether all sets among ``n`` players are more than are answered at once."""
    return comb(n, _SIZES[against]) > _MOST[against]


def sets_of(asked: list[int] | None, n: int, against: Against) -> tuple[tuple[int, ...], ...]:
    """The sets asked about among ``n`` players: all, those with one of them, or those among several."""
    size = _SIZES[against]
    if asked is not None and len(asked) == 1 and size > 1:
        first, others, drawn = tuple(asked), [i for i in range(n) if i != asked[0]], size - 1
    else:
        first, others, drawn = (), list(range(n)) if asked is None else asked, size
    if len(first) + len(others) < size:
        raise InputError(
            f"against='triples' needs three features, and there are {len(first) + len(others)}; name more, or use"
            " against='pairs'."
        )
    count = comb(len(others), drawn)
    if count > _MOST[against]:
        raise InputError(
            f"{len(first) + len(others):,} features have {count:,} {'values' if against == 'all' else against}, more"
            f" than the {_MOST[against]:,} that are answered at once; name those that matter, such as"
            " features=ex.importance().top(20)."
        )
    return tuple((*first, *rest) for rest in combinations(others, drawn))


def _player(data: Data, players: dict[str, tuple[int, ...]], feature: Any) -> int:
    """The position of a player, given by its name or by the position of its column."""
    names = list(players)
    if isinstance(feature, str) and feature in players:
        i = names.index(feature)
    elif isinstance(feature, str) and feature not in (*data.schema.names, *data.schema.readable):
        raise InputError(f"there is no feature {feature!r}{nearest(feature, names)}")
    else:
        j = data.schema.index(feature)
        i = next(i for i, columns in enumerate(players.values()) if j in columns)
        if len(players[names[i]]) > 1 or names[i] != data.schema.names[j]:
            raise InputError(
                f"feature {data.schema.names[j]!r} belongs to the group {names[i]!r}; name the group, or use an"
                " Explainer without groups=."
            )
    if all(data.schema.features[j].empty for j in players[names[i]]):
        raise InputError(f"feature {names[i]!r} is missing in every row; there is nothing to vary.")
    return i
