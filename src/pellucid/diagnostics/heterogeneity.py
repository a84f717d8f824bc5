"""An average hides that rows respond differently: how much, and what separates them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.general import SAMPLE_ROWS, exchanged_predictions, sample_predictions
from pellucid.explanations import Caveat, Colouring
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import percent

_SIZE = 0.01  # effects smaller than this share of the predictions' spread are not worth a warning
_OPPOSED = 0.2  # share of rows that go against the average
_LOCAL_SIZE = 0.1  # of a step across a quarter of the rows, as a share of the spread of the predictions
_SHARE = 0.4  # share of the effect that is interaction
_EXPLAINED = 0.05
_BINS = 5
_BLIND_SHARE = 0.1


# Local changes of some rows across wide bins, the bin of each, and the spread of the predictions.
Changes = Callable[[Data], tuple[FloatArray, IntArray, FloatArray]]


@dataclass(frozen=True)
class Heterogeneity:
    """Share of the curves' variance not shared by all rows, and share of rows opposed to the average."""

    interaction: float
    opposed: float


def measure(curves: FloatArray) -> Heterogeneity:
    """Spread of centred ICE curves ``(rows, grid..., outputs)``; the worst output counts.

    Centred curves c_i split into their mean (the partial dependence) and the rest; without
    interaction the rest is zero.
    """
    flat = _known(curves)
    if flat.shape[1] < 2 or len(flat) < 3:
        return Heterogeneity(0.0, 0.0)
    heights = flat.mean(axis=1)
    centred = flat - heights[:, None]
    average = centred.mean(axis=0)
    total = np.einsum("rgk,rgk->k", centred, centred) / len(centred)
    shared = np.square(average).sum(axis=0)
    level = heights.var(axis=0) * flat.shape[1] + total
    relevant = total > _SIZE**2 * level
    if not (relevant & (total > 0)).any():
        return Heterogeneity(0.0, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        interaction = np.where(relevant, 1 - shared / total, 0.0)
    worst = int(np.nanargmax(interaction))
    agreement = centred[:, :, worst] @ average[:, worst]
    return Heterogeneity(float(np.clip(interaction[worst], 0.0, 1.0)), float((agreement < 0).mean()))


def _known(curves: FloatArray) -> FloatArray:
    """The curves ``(rows, grid, outputs)`` where they are known in all rows."""
    flat = curves.reshape(len(curves), -1, curves.shape[-1])
    known = np.isfinite(flat)
    return flat if known.all() else flat[:, known.all(axis=(0, 2))]


def heterogeneity_caveat(data: Data, chosen: tuple[int, ...], curves: FloatArray, rows: IntArray) -> Iterator[Caveat]:
    """The average of one feature hides interactions."""
    found = measure(curves)
    if found.interaction < _SHARE and found.opposed < _OPPOSED:
        return
    name = data.schema.names[chosen[0]]
    splitter = best_splitter(data.take(rows), chosen, curves)
    split = f" It differs most by {splitter.feature}." if splitter else ""
    yield Caveat(
        code="heterogeneous",
        message=(
            f"The average hides different effects of {name}: {percent(found.interaction)} of the effect is interaction"
            f" with other features, and in {percent(found.opposed)} of the rows it is opposite to the average.{split}"
        ),
        value=found.interaction,
        threshold=_SHARE,
        advice=f"Look at the individual curves: ice({name!r}).",
        feature=name,
    )


def local_heterogeneity(
    data: Data, j: int, changes: FloatArray, cell: IntArray, spread: FloatArray
) -> Iterator[Caveat]:
    """The average of local changes ``(rows, outputs)``, from one end of a wide bin to the other, hides interactions.

    Within a bin all rows make the same step, so whatever their changes differ by is interaction.
    """
    means = np.stack([changes[cell == c].mean(axis=0) for c in range(int(cell.max(initial=0)) + 1)])[cell]
    total = np.square(changes).mean(axis=0)
    relevant = total > np.square(_LOCAL_SIZE * spread)
    if not relevant.any():
        return
    shared = np.where(relevant, np.square(changes - means).mean(axis=0) / np.where(total > 0, total, 1.0), 0.0)
    worst = int(np.argmax(shared))
    opposed = float((changes[:, worst] * means[:, worst] < 0).mean())
    if shared[worst] < _SHARE:
        return
    name = data.schema.names[j]
    yield Caveat(
        code="heterogeneous",
        message=(
            f"The average hides different effects of {name}: {percent(float(shared[worst]))} of its local changes is"
            f" interaction with other features, and in {percent(opposed)} of the rows they are opposite to the average."
        ),
        value=float(shared[worst]),
        threshold=_SHARE,
        advice=f"Look at the individual curves: ice({name!r}), or interactions({name!r}).",
        feature=name,
    )


def best_splitter(data: Data, chosen: tuple[int, ...], curves: FloatArray) -> Colouring | None:
    """The feature whose values (in up to five bins) explain most of the difference between centred curves."""
    flat = _known(curves)
    if flat[0].size < 2 or len(flat) < 10:
        return None
    centred = (flat - flat.mean(axis=1, keepdims=True)).reshape(len(flat), -1)
    rest = centred - centred.mean(axis=0)
    total = float(np.vdot(rest, rest))
    if total <= 1e-18 * float(np.vdot(flat, flat)) or total == 0:
        return None
    scores = {k: _explained(rest, total, data.codes(k)) for k in range(len(data.schema.features)) if k not in chosen}
    if not scores:
        return None
    best = max(scores, key=lambda k: scores[k])
    if scores[best] < _EXPLAINED:
        return None
    feature = data.schema.features[best]
    return Colouring(feature.name, feature.decode(data.codes(best)), scores[best])


def _explained(rest: FloatArray, total: float, codes: FloatArray) -> float:
    """Adjusted share of variance between the groups of a feature; missing is a group of its own."""
    values = np.unique(codes[~np.isnan(codes)])
    if len(values) > _BINS:
        cuts = np.unique(np.quantile(codes[~np.isnan(codes)], np.linspace(0, 1, _BINS + 1)[1:-1]))
        groups = np.searchsorted(cuts, codes, side="left")
    else:
        groups = np.searchsorted(values, codes)
    groups = np.where(np.isnan(codes), groups.max() + 1, groups)
    labels, index = np.unique(groups, return_inverse=True)
    n, g = len(rest), len(labels)
    if g < 2 or n <= g:
        return 0.0
    members = (index[None, :] == np.arange(g)[:, None]).astype(np.float64)
    counts = members.sum(axis=1)
    means = members @ rest / counts[:, None]
    between = float((counts[:, None] * np.square(means)).sum())
    return 1.0 - (1.0 - between / total) * (n - 1) / (n - g)


def hidden_interaction(predictor: Predictor, data: Data, run: Run, values: FloatArray) -> Iterator[Caveat]:
    """Compare with the root mean squared change of the prediction when the feature is shuffled."""
    some = data.take(data.spread(SAMPLE_ROWS))
    before = predictor.restrict(sample_predictions(predictor, some, run))
    donors = run.generator("heterogeneity.donors").permutation(len(some))[None]
    after = exchanged_predictions(predictor, some, [(j,) for j in range(len(values))], donors, run)
    change = np.square(after - before).sum(axis=(1, 2, 3))
    moved, shown = np.sqrt(change), values
    if moved.sum() <= 0:
        return
    moved_share = moved / moved.sum()
    shown_share = shown / shown.sum() if shown.sum() > 0 else np.zeros(len(shown))
    for j in np.flatnonzero((moved_share >= _BLIND_SHARE) & (shown_share < moved_share / 4)):
        name = data.schema.names[j]
        yield Caveat(
            code="hidden-interaction",
            message=(
                f"{name} moves single predictions ({percent(float(moved_share[j]))} of all movement) but hardly their"
                " average: it acts through interactions, which this importance cannot see."
            ),
            value=float(moved_share[j]),
            threshold=_BLIND_SHARE,
            advice="Use method='permutation'.",
            feature=name,
        )
