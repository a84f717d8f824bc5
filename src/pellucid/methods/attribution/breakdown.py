"""Break-down: a prediction built up step by step, one feature after the other.

Staniak and Biecek 2018 (breakDown, live); pairs that enter together: Gosiewska and Biecek 2019 (iBreakDown).

Definition. The features enter a game v in an order; each contributes what the worth gains when it enters:

    contribution of i = v(those before i, and i) - v(those before i)

From nobody, the average prediction, the steps lead to everybody, the prediction. Here v is the marginal game.

Estimator. The definition along one order of each row, which is
- greedy (``order=None``): of those who are left, the one that changes the worth most is next; of several outputs the
  one that changes most counts;
- given (``order=[...]``): every player once, by name or position; an entry of several enters as one step;
- all (``order="all"``): the mean over all orders, which is the Shapley value (`shapley_exact`).

``interactions=True`` ranks players by ``|v(i) - v(nobody)|`` and pairs by what they do together beyond that,
``|v(ij) - v(i) - v(j) + v(nobody)|``, and goes down the list: a pair enters as one step ``i:j`` if both are still
outside, that is, if their interaction is larger than the effect of either alone.

When it misleads:
1. contributions depend on the order wherever features interact: one explanation of many. The caveat "order" says how
   much, from the contributions in other orders; without interactions all orders agree, with the Shapley values too;
2. features that enter early get the interactions for themselves or leave them all to the last: a contribution is no
   property of the feature alone;
3. correlated features: the model is evaluated at rows that do not occur.

Cost. Trees and sums are read, against every background row. Others are asked, at each row, in coalitions of the
background's size: p (p+1) / 2 - 1 for the greedy order, p - 1 for a given one,
p (p+1) / 2 and p - 2 more at most with interactions; the check of the order at most 62, or 32 (p-1), in up to five
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import flag, is_whole
from pellucid.data import Data
from pellucid.diagnostics.by_method import attribution_caveats
from pellucid.errors import InputError, nearest
from pellucid.explanations import Attribution, Caveat, Entries, Header, changed, squeeze_outputs
from pellucid.games import Game, all_coalitions
from pellucid.games.marginal import MarginalGame, Players
from pellucid.methods.attribution.estimation.read_worths import SumWorths, TreeWorths, marginal_game
from pellucid.methods.attribution.shap import entries_of, reference_of
from pellucid.methods.attribution.shapley_exact import shapley_exact
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, percent, quantity

Step = tuple[int, ...]
MOST_PLAYERS = 8  # whose orders are all gone through
ORDER_SHARE = 0.25  # of the row's largest contribution: a contribution that varies by more depends on the order
_NOISE = 8 * np.finfo(np.float64).eps  # of the row's worths: rounding, no effect
_CHECKED = 5  # rows whose order is checked
_LISTED = 5  # steps whose orders are all gone through by the check


def breakdown(
    predictor: Predictor,
    data: Data,
    row: Any,
    *,
    background: Any = None,
    order: Any = None,
    interactions: bool = False,
    run: Run,
) -> Attribution:
    """What each feature (or group) adds to the prediction of a row, or of some rows, as it enters after the others."""
    explained, players = data.rows(row), data.schema.players()
    interactions = flag("interactions", interactions)
    given, every = _given_steps(order, tuple(players), interactions, data.schema.readable), isinstance(order, str)
    game = marginal_game(predictor, data, explained, players, background, run)
    worths = _Worths(game)
    paths = [_steps(worths, i, given, interactions) for i in range(game.rows)]
    used = {step for path in paths for step in path}
    steps = sorted(used, key=lambda step: (len(step), step))
    if every:
        values = shapley_exact(game).values
    else:
        values = np.zeros((game.rows, len(steps), game.outputs))
        for i, path in enumerate(paths):
            values[i, [steps.index(step) for step in path]] = worths.gains(i, path)
    names = _names(steps, players)
    orders = "all" if every else [[names[step] for step in path] for path in paths]
    asks = {"order": orders, "interactions": interactions}
    result = _wrapped(predictor, data, explained, _entries(players, names), game, values, asks, run)
    caveats = attribution_caveats(
        predictor,
        data,
        run,
        _by_player(result, values, steps, players),
        rows=explained,
        players=players,
        games=lambda: None,
    )
    if run.checks and not every:
        with run.checking():
            caveats += _order_caveat(result, worths, paths, steps)
    return run.finish(result, caveats)


def _wrapped(
    predictor: Predictor,
    data: Data,
    rows: Data,
    entries: Players,
    game: MarginalGame | TreeWorths | SumWorths,
    values: FloatArray,
    asks: Mapping[str, Any],
    run: Run,
) -> Attribution:
    shown = squeeze_outputs(values)
    two = predictor.classes if predictor.classes is not None and len(predictor.classes) == 2 else None
    asks = asks if two is None else {**asks, "classes": [str(label) for label in two]}
    prediction = run.predict(predictor, rows)  # once more: what is missing shows a model that is not steady
    return Attribution(
        method="breakdown",
        game="marginal",
        reference=reference_of(game.donors, game.base_se, len(data)),
        header=Header(
            readable=data.schema.readable,
            scale=predictor.scale,
            feature_names=tuple(entries),
            output_names=predictor.output_names,
            cost=run.cost(),
            library=data.caller,
            row_labels=rows.row_labels,
            settings={"method": "breakdown", **asks, "background": game.donors, "random_state": run.seed},
        ),
        values=shown,
        se=np.zeros(shown.shape),
        base=squeeze_outputs(game.ends()[0][0]),
        prediction=squeeze_outputs(prediction),
        entries=entries_of(data, rows, entries),
    )


def _by_player(result: Attribution, values: FloatArray, steps: Sequence[Step], players: Players) -> Attribution:
    """For the checks that go by feature: what a pair contributes is shared equally."""
    share = np.array([[(i in step) / len(step) for i in range(len(players))] for step in steps])
    alone = squeeze_outputs(np.einsum("rsk,sp->rpk", values, share))
    return changed(
        result, values=alone, se=np.zeros(alone.shape), feature_names=tuple(players), entries=Entries(data=())
    )


def _entries(players: Players, names: Mapping[Step, str]) -> dict[str, tuple[int, ...]]:
    """The columns of each step, by its name."""
    members = list(players.values())
    return {name: tuple(j for i in step for j in members[i]) for step, name in names.items()}


def _names(steps: Sequence[Step], players: Players) -> dict[Step, str]:
    """``a:b`` for a and b together; with a number where a feature or another step is called that."""
    alone, found = tuple(players), dict[Step, str]()
    for step in steps:
        name = joint = ":".join(alone[i] for i in step)
        taken, again = {*(alone if len(step) > 1 else ()), *found.values()}, 2
        while name in taken:
            name, again = f"{joint} ({again})", again + 1
        found[step] = name
    return found


# -- the order ---------------------------------------------------------------------------------------


def _given_steps(
    order: Any, names: tuple[str, ...], interactions: bool, readable: Mapping[str, str]
) -> list[Step] | None:
    """The steps that the caller names, every player once; None where they are to be found."""
    if order is None:
        return None
    if interactions:
        instead = "shap(interactions=True)" if isinstance(order, str) else "a pair as one entry of order="
        raise InputError(f"interactions=True finds pairs and order= says who enters; give one of them, or {instead}.")
    if isinstance(order, str):
        if order != "all":
            raise InputError(f"order={order!r} is no order; give a list of all features, 'all' or None.")
        if len(names) > MOST_PLAYERS:
            raise InputError(
                f"order='all' goes through all orders of at most {MOST_PLAYERS} features, but there are {len(names)};"
                " use shap, which gives their mean."
            )
        return [(i,) for i in range(len(names))]
    if not isinstance(order, Iterable):
        raise InputError(f"order={order!r} is no order; give a list of all features, 'all' or None.")
    steps = [
        tuple(
            _player(readable.get(one, one), names) for one in (entry if isinstance(entry, tuple | list) else (entry,))
        )
        for entry in order
    ]
    entered = [i for step in steps for i in step]
    twice = [names[i] for place, i in enumerate(entered) if i in entered[:place]]
    if twice:
        raise InputError(f"order names {twice[0]!r} twice; name every feature once.")
    missing = [name for i, name in enumerate(names) if i not in entered]
    if missing:
        raise InputError(f"order leaves out {listed(missing)}; name every feature once.")
    return [tuple(sorted(step)) for step in steps if step]


def _player(given: Any, names: tuple[str, ...]) -> int:
    """The place of a player given by name or place."""
    if is_whole(given):
        if 0 <= given < len(names):
            return int(given)
        raise InputError(
            f"order: position {given} is out of range; there are {len(names)} features (groups count as one)."
        )
    if given not in names:
        raise InputError(f"order: there is no feature or group {given!r}{nearest(str(given), names)}")
    return names.index(given)


def _steps(worths: _Worths, row: int, given: list[Step] | None, interactions: bool) -> list[Step]:
    if given is not None:
        return given
    return _with_pairs(worths, row) if interactions else _greedy(worths, row)


def _greedy(worths: _Worths, row: int) -> list[Step]:
    """Who changes the worth most is next; the first of several who change it equally."""
    p = worths.players
    known = np.zeros(p, dtype=np.bool_)
    order: list[Step] = []
    while len(order) < p:
        left = np.flatnonzero(~known)
        candidates = known | np.eye(p, dtype=np.bool_)[left]
        gain = np.abs(worths.of(row, candidates) - worths.of(row, known[None])).max(axis=1)
        best = int(left[np.argmax(gain >= gain.max() - worths.noise(row))])
        known[best] = True
        order.append((best,))
    return order


def _with_pairs(worths: _Worths, row: int) -> list[Step]:
    """Down the list of effects and interactions; alone before in a pair where these are equal."""
    p = worths.players
    steps: list[Step] = [(i,) for i in range(p)] + list(combinations(range(p), 2))
    coalitions = np.array([[i in step for i in range(p)] for step in steps], dtype=np.bool_)
    beyond = worths.of(row, coalitions) - worths.of(row, np.zeros((1, p), dtype=np.bool_))
    for s, step in enumerate(steps[p:], start=p):
        beyond[s] -= beyond[list(step)].sum(axis=0)
    size = np.abs(beyond).max(axis=1)
    size[size <= worths.noise(row)] = 0.0
    entered: list[Step] = []
    outside = set(range(p))
    for s in np.argsort(-size, kind="stable"):
        if outside.issuperset(steps[s]):
            entered.append(steps[s])
            outside.difference_update(steps[s])
    return entered


class _Worths:
    """What coalitions are worth, each asked once in a row; players that change nothing in a row are left out."""

    def __init__(self, game: Game) -> None:
        self._game, self._active = game, game.active
        self.players = game.players
        nobody, everybody = game.ends()
        empty = np.zeros(game.players, dtype=np.bool_)
        self._found: list[dict[bytes, FloatArray]] = [
            {empty.tobytes(): nobody[i], self._active[i].tobytes(): everybody[i]} for i in range(game.rows)
        ]

    def of(self, row: int, coalitions: BoolArray) -> FloatArray:
        """``(coalitions, outputs)``."""
        found, acting = self._found[row], coalitions & self._active[row]
        new = np.unique([known for known in acting if known.tobytes() not in found], axis=0)
        if len(new):
            worth = self._game.worth(new, np.array([row]))[0]
            found.update(zip((known.tobytes() for known in new), worth, strict=True))
        return np.array([found[known.tobytes()] for known in acting])

    def knows(self, row: int, coalitions: BoolArray) -> BoolArray:
        """Which of them have been asked for."""
        return np.array([known.tobytes() in self._found[row] for known in coalitions & self._active[row]])

    def noise(self, row: int) -> float:
        """What counts as rounding in a row."""
        return _NOISE * max(float(np.abs(worth).max()) for worth in self._found[row].values())

    def gains(self, row: int, steps: Sequence[Step]) -> FloatArray:
        """``(steps, outputs)``: what the worth gains at each step; nothing where that is mere rounding."""
        known = np.zeros((len(steps) + 1, self.players), dtype=np.bool_)
        for s, step in enumerate(steps):
            known[s + 1 :, list(step)] = True
        gains = np.diff(self.of(row, known), axis=0)
        return np.where(np.abs(gains) > self.noise(row), gains, 0.0)


# -- how much the order matters ----------------------------------------------------------------------


def _order_caveat(
    result: Attribution, worths: _Worths, paths: Sequence[Sequence[Step]], steps: Sequence[Step]
) -> tuple[Caveat, ...]:
    """Fires where a contribution varies over the orders by a good part of the row's largest contribution."""
    worst, message, feature = 0.0, "", ""

    def amount(value: float) -> str:
        return quantity(value, result.scale, change=True)

    for i, path in enumerate(paths[:_CHECKED]):
        gains = _gains_in_orders(worths, i, path)
        low, high = gains.min(axis=0), gains.max(axis=0)
        largest = np.abs(worths.gains(i, path)).max(axis=0)
        share = (high - low) / np.where(largest > worths.noise(i), largest, np.inf)
        s, k = (int(place) for place in np.unravel_index(int(np.argmax(share)), share.shape))
        if share[s, k] > worst:
            worst, feature = float(share[s, k]), result.feature_names[steps.index(path[s])]
            of = f" to {result.output_names[k]}" if len(result.output_names) > 1 else ""
            tried = "over all orders" if len(path) <= _LISTED else "over the orders that were tried"
            message = (
                f"The contribution of {feature}{of} in row {result.row_labels.name(i)} runs from"
                f" {amount(float(low[s, k]))} to {amount(float(high[s, k]))} {tried} in which the features can enter;"
                f" that is {percent(worst)} of the largest contribution."
            )
    if worst <= ORDER_SHARE:
        return ()
    advice = "Use shap, which gives the mean over all orders."
    return (Caveat("order", message, worst, ORDER_SHARE, advice, feature),)


def _gains_in_orders(worths: _Worths, row: int, path: Sequence[Step]) -> FloatArray:
    """``(ways to enter, steps of the path, outputs)``: what each step gains in all orders of a few steps.

    Of more, what each gains as the first, after each of the earlier parts of the path whose gains the search for the
    path has found already, in its own place, and, in the first half of the path, as the last.
    """
    n = len(path)
    if n > _LISTED:
        without, entered = (np.stack(part) for part in zip(*_places(worths, row, path), strict=True))
        worth = worths.of(row, np.stack([without, without | entered]).reshape(-1, worths.players))
        return np.diff(worth.reshape(2, n, n + 1, -1), axis=0)[0].swapaxes(0, 1)
    masks, some = np.arange(2**n), all_coalitions(n)
    known = np.zeros((len(some), worths.players), dtype=np.bool_)
    for s, step in enumerate(path):
        known[:, list(step)] = some[:, [s]]
    v = worths.of(row, known)
    others = [masks[masks >> s & 1 == 0] for s in range(n)]
    return np.stack([v[S | 1 << s] - v[S] for s, S in enumerate(others)], axis=1)


def _places(worths: _Worths, row: int, path: Sequence[Step]) -> Iterator[tuple[BoolArray, BoolArray]]:
    """For each step, n + 1 coalitions that it enters after, and itself."""
    n = len(path)
    before = np.zeros((n + 1, worths.players), dtype=np.bool_)
    for s, step in enumerate(path):
        before[s + 1 :, list(step)] = True
    for s, step in enumerate(path):
        entered = np.zeros((n + 1, worths.players), dtype=np.bool_)
        entered[:, list(step)] = True
        early = worths.knows(row, before | entered) & (np.arange(n + 1) < s)
        places = np.where(early, np.arange(n + 1), s)
        places[0] = 0
        without = before[places]
        if 2 * s < n:
            without[-1] = before[-1] & ~entered[0]
        yield without, entered
