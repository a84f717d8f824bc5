"""How near a sample is to the row, how much it counts, and how wide the neighbourhood is.

A sample z counts pi(z) = exp(-D(x, z)^2 / width^2), or by a kernel of the caller's own, with one of the distances
(`pellucid.data.distance`), taken in the columns of the representation:

- ``"euclidean"``: each number by its standard deviation, a category or bin that differs counts one;
- ``"gower"``: the mean over features of |x - z| / range, a category or bin that differs counts one;
- ``"cosine"``: one minus the cosine between the two rows, numbers measured from their means.

Reference. Cleveland 1979 (bandwidths of local regression); Visani, Bagli and Chesani 2020, "OptiLIME" (fidelity against
stability).

Definition. A narrow kernel rests on few samples and gives another answer each time; a wide one describes somewhere
else. Of each width of a grid, from one that leaves hardly enough samples to one that lets nearly all count, two things
are measured:

- *near*: the weighted R2 of its local model on the samples nearest to the row, which it was not fitted to (folds of
  blocks). The nearest samples are the same for all widths, those that the narrowest kernel with an effective size of
  200 samples (or of a tenth of them), a fifth of which differ from the row, weighs: a wide kernel is judged by how well
  it does near the row, not by how well it describes what it looks at;
- *stability*: `agreement` of repeats (see `stability`).

The chosen width is the narrowest whose product of the two is within 0.01 of the largest: it is the most about the row.
Nothing of this costs model rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data.distance import Kernel, cosine, kernels, length
from pellucid.explanations import WidthSearch, squeeze_outputs
from pellucid.methods.local.surrogate.fitting import Linear, Moments, combined, fit, fold_counts
from pellucid.methods.local.surrogate.stability import agreement, common, selection
from pellucid.stats import effective_sizes

Distance = Literal["euclidean", "gower", "cosine"]
DISTANCES = ("euclidean", "gower", "cosine")
TRIED = 9
_TEXTBOOK = 0.75
_FINE = 24
_EVERY = 5
_LEAST, _LEAST_PER_COLUMN = 30.0, 3.0  # effective samples behind the narrowest width
_NEAR = 200.0
_DIFFERENT = 0.2  # of the weight, on samples that are not just like the row
_NARROWEST, _WIDEST = 0.02, 2.0  # of the root mean square distance
_AT_ONCE = 4_000_000  # numbers held by the moments of all repeats
_SAME = 1e-9  # of the spread of the answers: an R2 of nothing


@dataclass(frozen=True, eq=False)
class WidthFits:
    """What was found at each width: ``(widths,)`` and ``(widths, outputs)``; coefficients ``(widths, p, outputs)``.

    ``spread`` is the standard deviation of the coefficients over repeats, ``near`` and ``fidelity`` are R2 on samples
    that were not fitted, those nearest to the row and those of the width's own neighbourhood.
    """

    widths: FloatArray
    effective: FloatArray
    near: FloatArray
    fidelity: FloatArray
    selection: FloatArray
    stability: FloatArray
    agreement: FloatArray
    weights: FloatArray
    spread: FloatArray

    @property
    def score(self) -> FloatArray:
        """Fidelity near the row times stability, the mean over outputs."""
        return np.asarray((np.maximum(self.near, 0.0) * self.agreement).mean(axis=1))


def distances(apart: FloatArray, distance: Distance, *, place: FloatArray, span: FloatArray) -> FloatArray:
    """The distance ``(samples,)`` of samples from the row.

    ``apart`` (samples, columns) is how far each sample is from the row in standard deviations, ``span`` the range of
    each column in these, ``place`` where the row itself lies (numbers from their means, one for its own category or
    bin).
    """
    if distance == "cosine":
        return cosine(apart + place, place)
    return length(apart / span if distance == "gower" else apart, distance)


def default_width(distance: FloatArray, columns: int, kind: Distance) -> float:
    """0.75 sqrt(p), the habit of other packages, whose origin is unknown.

    It belongs to the Euclidean distance, whose root mean square between independent rows is sqrt(2p); for the other
    distances it is the same share, 0.75 / sqrt(2), of the root mean square distance of the samples.
    """
    if kind == "euclidean":
        return _TEXTBOOK * float(np.sqrt(columns))
    typical = float(np.sqrt(np.square(distance).mean()))
    return _TEXTBOOK / np.sqrt(2.0) * typical if typical > 0 else 1.0


def candidates(distance: FloatArray, kernel: Kernel, k: int, extra: float) -> FloatArray:
    """Widths to try, ascending, ``extra`` among them."""
    typical = float(np.sqrt(np.square(distance).mean()))
    if not typical > 0:
        return np.array([extra])
    fine = np.geomspace(_NARROWEST * typical, _WIDEST * typical, _FINE)
    some = distance[::_EVERY]  # to know roughly how many samples count, a part of them is enough
    tried = kernels(kernel, some, fine)
    sizes = np.where(_sees(tried, some), _EVERY * effective_sizes(tried), 0.0)
    enough = fine[sizes >= max(_LEAST, _LEAST_PER_COLUMN * (k + 1))]
    if not enough.size:
        enough = fine[-1:]
    spaced = enough[np.unique(np.linspace(0, len(enough) - 1, TRIED).round().astype(np.intp))]
    return np.unique(np.append(spaced, extra))


def near_weights(weights: FloatArray, sizes: FloatArray, distance: FloatArray) -> FloatArray:
    """The weights that say which samples are near: those of the narrowest width with enough samples."""
    enough = np.flatnonzero((sizes >= min(_NEAR, weights.shape[1] / 10)) & _sees(weights, distance))
    return weights[enough[0] if enough.size else -1]


def _sees(weights: FloatArray, distance: FloatArray) -> BoolArray:
    """Whether samples that differ from the row count: with categories and bins many can be just like it."""
    total = weights.sum(axis=1)
    return np.asarray(weights @ (distance > 0) >= _DIFFERENT * np.where(total > 0, total, np.inf))


def fit_widths(
    blocks: FloatArray,
    widths: FloatArray,
    sizes: FloatArray,
    repeats: FloatArray,
    columns: int,
    by: Linear,
    *,
    at_once: int = _AT_ONCE,
) -> WidthFits:
    """Fit every width, its repeats and its folds; ``blocks`` (widths + 1, blocks, q, q), the near ones last."""
    w, b, q, _ = (len(widths), *blocks.shape[1:])
    folds = fold_counts(b)
    counts = np.concatenate([np.ones((1, b)), repeats, folds])
    if w > 1 and w * len(counts) * q * q > at_once:  # one width at a time
        single = [fit_widths(blocks[[i, w]], widths[[i]], sizes[[i]], repeats, columns, by) for i in range(w)]
        return WidthFits(
            **{f.name: np.concatenate([getattr(one, f.name) for one in single]) for f in fields(WidthFits)}
        )
    fits = fit(combined(blocks[:w], counts, columns), by)
    lines = np.arange(w * len(counts)).reshape(w, len(counts))
    again, judged = lines[:, 1 : 1 + len(repeats)], lines[:, 1 + len(repeats) :]
    parts = fits.take(judged.ravel())
    near = combined(np.broadcast_to(blocks[w], blocks[:w].shape), 1.0 - folds, columns)
    own = combined(blocks[:w], 1.0 - folds, columns)
    weights = np.moveaxis(fits.weights[again], -1, 1)  # (widths, outputs, repeats, columns)
    return WidthFits(
        widths=widths,
        effective=sizes,
        near=r_squared(parts.missed(near), near, w),
        fidelity=r_squared(parts.missed(own), own, w),
        selection=selection(np.moveaxis(fits.chosen[again], -1, 1)),
        stability=common(weights),
        agreement=agreement(weights),
        weights=fits.weights[lines[:, 0]],
        spread=fits.weights[again].std(axis=1),
    )


def width_search(
    found: Sequence[WidthFits], chosen: Sequence[float], units: FloatArray, outputs: tuple[str, ...], library: str
) -> WidthSearch:
    """What was found for several rows: weights times ``units`` (rows, terms); NaN where a row has fewer widths."""
    widest = max(len(one.widths) for one in found)

    def table(name: str) -> FloatArray:
        parts = [getattr(one, name) for one in found]
        out = np.full((len(parts), widest, *parts[0].shape[1:]), np.nan)
        for i, part in enumerate(parts):
            out[i, : len(part)] = part
        return out

    quality = {name: table(name) for name in ("near", "fidelity", "selection", "stability", "agreement")}
    weights = {name: table(name) * units[:, None, :, None] for name in ("weights", "spread")}
    return WidthSearch(
        widths=table("widths"),
        effective=table("effective"),
        **{name: squeeze_outputs(part) for name, part in {**quality, **weights}.items()},
        chosen=np.array(chosen),
        output_names=outputs,
        library=library,
    )


def r_squared(missed: FloatArray, held_out: Moments, widths: int) -> FloatArray:
    """1 - squared errors / squares about the mean, ``(widths, outputs)``, over folds; one where there is nothing to
    explain.
    """
    p, q = held_out.columns, held_out.sums.shape[1]
    total = Moments(held_out.sums.reshape(widths, -1, q, q).sum(axis=1), p)
    squares = np.einsum("wii->wi", total.centred())[:, p:] * total.mass[:, None]
    mean_square = np.einsum("wii->wi", total.sums)[:, 1 + p :]
    some = squares > _SAME**2 * np.maximum(mean_square, 1e-300)
    lost = missed.reshape(widths, -1, missed.shape[1]).sum(axis=1)
    return np.where(some, 1.0 - lost / np.where(some, squares, 1.0), 1.0)
