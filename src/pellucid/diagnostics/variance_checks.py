"""The caveats of variance-based importance: features that go together, overfitted features, wide intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray, standard_error
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.off_data import associations, off_data_caveat
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for
from pellucid.runner import Intervention, Run
from pellucid.words import number, percent

Players = dict[str, tuple[int, ...]]

_TOP = 5
_NOTICED = 0.05  # an index worth speaking of
_ASSOCIATED = 0.3
_WIDE = 0.1
_CHECKED = 0.1  # an index large enough to ask whether the outcome bears it out
_REAL = 0.25
_ROWS = 500
_FEWEST = 50
_SHUFFLES = 2
_KEY = 71


def variance_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: Players,
    total: FloatArray,
    half: FloatArray,
    method: str,
    tolerance: float | None,
) -> tuple[Caveat, ...]:
    """Everything known against these shares ``(players, outputs)`` on these data."""
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    caveats = list(general_caveats(predictor, data, run))
    overall = total.mean(axis=-1)
    caveats.extend(_independence(data, run, players, overall))
    names = np.array(list(players), dtype=object)[np.argsort(-overall, kind="stable")][:_TOP]
    for name in names:
        if len(players[name]) == 1 and overall[list(players).index(name)] >= _NOTICED:
            caveats.extend(off_data_caveat(data, players[name][0], run, method=method))
    caveats.extend(wide_intervals(players, total, half, run, tolerance))
    caveats.extend(overfitted(predictor, data, run, players, total))
    return tuple(caveats)


def _independence(data: Data, run: Run, players: Players, overall: FloatArray) -> Iterator[Caveat]:
    """Two features that matter go together, but were varied independently."""
    strengths = associations(data, run)
    if strengths is None:
        return
    names = [name for name, index in zip(players, overall, strict=True) if index >= _NOTICED]
    pairs = [
        (float(strengths[np.ix_(players[a], players[b])].max()), a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    ]
    strongest, a, b = max(pairs, default=(0.0, "", ""))
    if strongest > _ASSOCIATED:
        yield Caveat(
            code="independence-assumed",
            message=(
                f"{a} and {b} go together (association {number(strongest)}), but the shares of variance are those of"
                " independent features."
            ),
            value=strongest,
            threshold=_ASSOCIATED,
            advice="Use method='shapley-effects', or treat features that go together as one group (groups=).",
            feature=a,
        )


def wide_intervals(
    players: Players, values: FloatArray, half: FloatArray, run: Run, tolerance: float | None
) -> Iterator[Caveat]:
    """An important feature's share is known roughly only."""
    wanted = _WIDE if tolerance is None else tolerance
    width = np.where(np.isnan(half), 0.0, half).max(axis=-1)
    p = int(np.argmax(width))
    if len(width) and width[p] > wanted:
        name, rows = list(players)[p], run.cost().model_rows
        yield Caveat(
            code="rough-shares",
            message=(
                f"The share of {name}, {number(float(values[p].mean()))}, was sampled and is known to"
                f" ±{number(float(width[p]))} only (95% interval)."
            ),
            value=float(width[p]),
            threshold=wanted,
            advice=f"Give a larger budget= than the {rows:,} model rows asked here.",
            feature=name,
        )


def overfitted(predictor: Predictor, data: Data, run: Run, players: Players, total: FloatArray) -> Iterator[Caveat]:
    """The predictions depend on a feature, but the outcome does not bear that out.

    Giving rows another row's value of an independent feature increases the mean squared error by twice its total part
    of the variance if the model is right about the feature, and not at all if the outcome has nothing to do with it.
    """
    comparable = predictor.link == "identity" and (predictor.classes is None or predictor.raw_scale == "probability")
    if data.y is None or predictor.task == "scores" or not comparable or len(data) < _FEWEST:
        return
    overall = total.mean(axis=-1)
    order = [int(p) for p in np.argsort(-overall, kind="stable")[:_TOP] if overall[p] >= _CHECKED]
    if not order:
        return
    some = data.take(data.spread(_ROWS))
    with run.checking():
        borne_out = _borne_out(predictor, some, run, [list(players.values())[p] for p in order])
    for p, (share, error) in zip(order, borne_out, strict=True):
        if share + 2 * error < _REAL:
            name = list(players)[p]
            yield Caveat(
                code="not-borne-out",
                message=(
                    f"The predictions depend on {name} (share {number(float(overall[p]))}), but the outcome bears out"
                    f" only {percent(max(share, 0.0))} of that: the model has overfitted to it, or is wrong about it"
                    " here."
                ),
                value=1.0 - share,
                threshold=1.0 - _REAL,
                advice="Compare with importance(method='permutation') on held-out data.",
                feature=name,
            )


def _borne_out(predictor: Predictor, some: Data, run: Run, columns: list[tuple[int, ...]]) -> list[tuple[float, float]]:
    """For each player the increase of the squared error as a share of what a right model has, with its standard
    error.
    """
    before = run.predict(predictor, some, full=True)
    outcome = outcome_for(predictor, some)
    y = outcome if predictor.classes is None else np.eye(before.shape[1])[outcome.astype(np.intp)]
    donors = np.stack([run.generator(_KEY, s).permutation(len(some)) for s in range(_SHUFFLES)])
    found = []
    for player in columns:
        pools = tuple(some.frame.native_column(j) for j in player)
        index = np.broadcast_to(donors[:, :, None], (*donors.shape, len(player)))
        after = run.collect(predictor, some, Intervention(player, pools, index), full=True)
        increase = (np.square(y - after) - np.square(y - before)).sum(axis=2).mean(axis=0)
        change = np.square(after - before).sum(axis=2).mean(axis=0)
        expected = float(np.average(change, weights=some.weights))
        share = float(np.average(increase, weights=some.weights)) / expected if expected > 0 else 1.0
        error = float(standard_error(increase - share * change, some.weights))
        found.append((share, error / expected if expected > 0 else 0.0))
    return found


def effect_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: Players,
    values: FloatArray,
    half: FloatArray,
    tolerance: float | None,
) -> tuple[Caveat, ...]:
    """Everything known against Shapley effects ``(players, outputs)`` on these data."""
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    caveats = list(general_caveats(predictor, data, run))
    caveats.extend(wide_intervals(players, values, half, run, tolerance))
    caveats.extend(overfitted(predictor, data, run, players, values))
    with run.checking():
        caveats.extend(_borrowed(predictor, data, run, players, values))
    return tuple(caveats)


def _borrowed(predictor: Predictor, data: Data, run: Run, players: Players, values: FloatArray) -> Iterator[Caveat]:
    """A feature that changes no prediction has a share, for the company it keeps."""
    some = data.take(data.spread(_ROWS))
    before = run.predict(predictor, some)
    donors = run.generator(_KEY).permutation(len(some))[None, :, None]
    for (name, player), value in zip(players.items(), values.mean(axis=-1), strict=True):
        if value < _NOTICED:
            continue
        pools = tuple(some.frame.native_column(j) for j in player)
        index = np.broadcast_to(donors, (1, len(some), len(player)))
        after = run.collect(predictor, some, Intervention(player, pools, index))[0]
        if np.array_equal(after, before):
            yield Caveat(
                code="borrowed-share",
                message=(
                    f"The predictions do not use {name} at all; its share of {number(float(value))} is for going"
                    " together with features that they use."
                ),
                value=float(value),
                threshold=_NOTICED,
                advice="method='sobol' tells which features the model uses.",
                feature=name,
            )
            return
