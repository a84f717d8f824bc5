"""What a picture of a local model in two features needs: the model and the local model over a grid, and the samples."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.grid import snap
from pellucid.explanations.local_attribution import Boundary
from pellucid.methods.local.local_fit import LocalFit
from pellucid.methods.local.neighbourhood import draw
from pellucid.methods.local.options import Options
from pellucid.methods.local.representation import Representation
from pellucid.methods.local.subject import Subject
from pellucid.methods.local.weighting import kernels
from pellucid.runner import Run

_SIDE = 61
_SHOWN = 500


def boundary_of(subject: Subject, space: Representation, fit: LocalFit, options: Options, run: Run) -> Boundary:
    """The neighbourhood of the row in two features; of several outputs, that with the highest prediction."""
    predictor, data, rows = subject.predictor, subject.data, subject.rows
    a, b = options.boundary or (0, 1)
    row = space.values(rows)[0]
    sample = next(iter(draw(subject.known, data, rows, options.samples, options.sampler, run))).codes
    every = max(1, len(sample) // _SHOWN)
    sample = sample[::every]
    grids = tuple(_grid(data, j, row[j], sample[:, j]) for j in (a, b))
    table = np.tile(row, (len(grids[0]) * len(grids[1]), 1))
    table[:, a], table[:, b] = np.tile(grids[0], len(grids[1])), np.repeat(grids[1], len(grids[0]))
    answers = run.predict(predictor, data.of_codes(table))
    prediction = run.predict(subject.model, subject.originals)[0]
    k = int(np.argmax(prediction)) if len(prediction) > 1 else 0
    shape = (len(grids[1]), len(grids[0]))
    apart = space.apart(sample, row)
    counts = kernels(options.weigh, options.distances(apart, space, row), np.array([fit.width]))[0]
    probability = predictor.scale == "probability"
    return Boundary(
        names=(data.schema.names[a], data.schema.names[b]),
        output=predictor.output_names[k],
        grids=(grids[0], grids[1]),
        model=answers[:, k].reshape(shape),
        local=fit.predict(space.apart(table, row))[:, k].reshape(shape),
        points=sample[:, [a, b]],
        answers=run.predict(predictor, data.of_codes(sample))[:, k],
        counts=counts,
        row=row[[a, b]],
        level=0.5 if probability else float(prediction[k]),
    )


def _grid(data: Data, j: int, value: float, sample: FloatArray) -> FloatArray:
    """Evenly from the least to the greatest of the data, the samples and the row."""
    feature = data.schema.features[j]
    ends = [feature.low, feature.high, float(value), float(np.nanmin(sample)), float(np.nanmax(sample))]
    return np.unique(snap(feature, np.linspace(np.nanmin(ends), np.nanmax(ends), _SIDE)))
