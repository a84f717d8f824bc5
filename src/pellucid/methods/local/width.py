"""How wide a neighbourhood is: all widths tried, and the one that speaks best for the row.

Reference. Cleveland 1979 (bandwidths of local regression); Visani, Bagli and Chesani 2020, "OptiLIME" (fidelity against
stability).

Definition. A narrow kernel rests on few samples and gives another answer each time; a wide one describes somewhere else. Of each
width of a grid, from one that leaves hardly enough samples to one that lets nearly all count, two things are measured:

- *near*: the weighted R2 of its local model on the samples nearest to the row, which it was not fitted to (folds of blocks).
  The nearest samples are the same for all widths, those that the narrowest kernel with an effective size of 200
  samples (or of a tenth of them) weighs: a wide kernel is judged by how well it does near the row, not by how well
  it describes what it looks at;
- *stability*: `agreement` of repeats (see `stability`).

The chosen width is the narrowest whose product of the two is within 0.02 of the largest: it is the most about the row. Nothing of
this costs model rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.local.fitting import Fits, Moments, combined, fit, fold_counts
from pellucid.methods.local.selection import Select
from pellucid.methods.local.stability import agreement, common, selection
from pellucid.methods.local.weighting import Kernel, effective

TRIED = 9
_FINE = 24
_LEAST, _LEAST_PER_COLUMN = 30.0, 3.0  # effective samples behind the narrowest width
_NEAR = 200.0
_NARROWEST, _WIDEST = 0.02, 2.0  # of the root mean square distance
_SAME = 1e-9  # of the spread of the answers: an R2 of nothing


@dataclass(frozen=True, eq=False)
class Sweep:
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


def candidates(distance: FloatArray, kernel: Kernel, k: int, extra: float) -> FloatArray:
    """Widths to try, ascending, ``extra`` among them."""
    typical = float(np.sqrt(np.square(distance).mean()))
    if not typical > 0:
        return np.array([extra])
    fine = np.geomspace(_NARROWEST * typical, _WIDEST * typical, _FINE)
    sizes = np.array([effective(kernel(distance, width)) for width in fine])
    enough = fine[sizes >= max(_LEAST, _LEAST_PER_COLUMN * (k + 1))]
    if not enough.size:
        enough = fine[-1:]
    some = enough[np.unique(np.linspace(0, len(enough) - 1, TRIED).round().astype(np.intp))]
    return np.unique(np.append(some, extra))


def near_weights(distance: FloatArray, kernel: Kernel, widths: FloatArray) -> FloatArray:
    """The weights that say which samples are near: those of the narrowest width with enough samples."""
    wanted = min(_NEAR, len(distance) / 10)
    for width in widths:
        weights = kernel(distance, float(width))
        if effective(weights) >= wanted:
            return weights
    return kernel(distance, float(widths[-1]))


def sweep(
    blocks: FloatArray, widths: FloatArray, sizes: FloatArray, repeats: FloatArray, columns: int, k: int, how: Select, *,
    penalty: float, lasso: bool,
) -> Sweep:  # fmt: skip
    """Fit every width, its repeats and its folds; ``blocks`` (widths + 1, blocks, q, q), the near ones last."""
    w, b = len(widths), blocks.shape[1]
    folds = fold_counts(b)
    counts = np.concatenate([np.ones((1, b)), repeats, folds])
    whole = np.concatenate([combined(line, counts, columns).sums for line in blocks[:w]])
    fits = fit(Moments(whole, columns), k, how, penalty=penalty, lasso=lasso)
    lines = np.arange(w * len(counts)).reshape(w, len(counts))
    held_out = 1.0 - folds
    near = combined(blocks[w], held_out, columns)
    found = [
        _of_width(fits, lines[i], near, combined(blocks[i], held_out, columns), len(repeats))
        for i in range(w)
    ]
    parts = [np.array(part) for part in zip(*found, strict=True)]
    return Sweep(widths, sizes, *parts)


def _of_width(
    fits: Fits, lines: IntArray, near: Moments, own: Moments, repeats: int
) -> tuple[FloatArray, ...]:
    """Near R2, own R2, the indices of stability, coefficients and their spread."""
    again, folds = lines[1 : 1 + repeats], lines[1 + repeats :]
    part = fits.take(folds)
    weights = fits.weights[again]
    outputs = range(weights.shape[2])
    return (
        r_squared(part.missed(near), near),
        r_squared(part.missed(own), own),
        np.array([selection(fits.chosen[again, :, a]) for a in outputs]),
        np.array([common(fits.chosen[again, :, a], weights[:, :, a]) for a in outputs]),
        np.array([agreement(weights[:, :, a]) for a in outputs]),
        fits.weights[lines[0]],
        weights.std(axis=0),
    )


def r_squared(missed: FloatArray, held_out: Moments) -> FloatArray:
    """1 - squared errors / squares about the mean, ``(outputs,)``, over folds; one where there is nothing to explain."""
    p = held_out.columns
    total = Moments(held_out.sums.sum(axis=0, keepdims=True), p)
    squares = np.einsum("ii->i", total.centred()[0])[p:] * total.mass[0]
    mean_square = np.einsum("ii->i", total.sums[0])[1 + p :]
    some = squares > _SAME**2 * np.maximum(mean_square, 1e-300)
    return np.where(some, 1.0 - missed.sum(axis=0) / np.where(some, squares, 1.0), 1.0)
