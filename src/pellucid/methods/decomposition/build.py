"""A decomposition from its components: how much each varies, and how well they reproduce the predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, weighted_mean
from pellucid.data import Data
from pellucid.explanations.component import Check, Component
from pellucid.explanations.decomposition import Decomposition
from pellucid.explanations.explanation import squeeze_outputs
from pellucid.methods.effects.support import plain_setting
from pellucid.models import Predictor
from pellucid.runner import Run


@dataclass(frozen=True, eq=False)
class Variances:
    """Variances under the measure of a method; outputs last everywhere.

    ``total`` (outputs) of the function, ``parts`` (components, outputs) of the components, ``covariances`` of these
    with the function, ``residual`` (outputs) of what is left over, ``se`` (components, outputs) the errors of the
    shares, zero where they are exact.
    """

    total: FloatArray
    parts: FloatArray
    covariances: FloatArray
    residual: FloatArray
    se: FloatArray


def rounding(numbers: FloatArray) -> FloatArray:
    """The variance that numbers ``(.., outputs)`` of this size can have by rounding alone: ``(outputs,)``."""
    return 1e-24 * np.square(np.abs(numbers).reshape(-1, numbers.shape[-1]).max(axis=0, initial=0.0))


def beyond_rounding(found: Variances, f: FloatArray) -> Variances:
    """Zero for outputs that vary no more than by rounding; ``f`` are values of the function ``(.., outputs)``."""
    varies = found.total > rounding(f)
    return Variances(
        *(
            np.where(varies, part, 0.0)
            for part in (found.total, found.parts, found.covariances, found.residual, found.se)
        )
    )


def at_rows(component: Component, data: Data) -> FloatArray:
    """A component at the rows of the data: ``(rows, outputs)``."""
    return component.at([data.codes(data.schema.index(name)) for name in component.features])


def variances_at(
    constant: FloatArray, components: Sequence[Component], data: Data, predictions: FloatArray
) -> Variances:
    """Variances over the rows of the data, by their weights."""
    weights = data.weights
    f = predictions - weighted_mean(predictions, weights)
    rest = predictions - constant
    parts, covariances = np.zeros((2, len(components), predictions.shape[1]))
    for k, component in enumerate(components):
        g = at_rows(component, data)
        rest = rest - g
        g = g - weighted_mean(g, weights)
        parts[k] = weighted_mean(np.square(g), weights)
        covariances[k] = weighted_mean(g * f, weights)
    residual = weighted_mean(np.square(rest - weighted_mean(rest, weights)), weights)
    total = weighted_mean(np.square(f), weights)
    return beyond_rounding(Variances(total, parts, covariances, residual, np.zeros(parts.shape)), predictions)


def fidelity(constant: FloatArray, components: Sequence[Component], data: Data, predictions: FloatArray) -> FloatArray:
    """R2 of constant and components against the predictions at the rows; 1 where both are constant and agree."""
    rest = predictions - constant
    for component in components:
        rest = rest - at_rows(component, data)
    lost = weighted_mean(np.square(rest), data.weights)
    f = predictions - weighted_mean(predictions, data.weights)
    total = weighted_mean(np.square(f), data.weights)
    flat = total <= rounding(predictions)
    share = 1.0 - lost / np.where(flat, 1.0, total)
    agree = lost <= 1e8 * rounding(np.vstack([predictions, constant]))
    return np.where(flat, np.where(agree, 1.0, 0.0), share)


def build(
    method: str,
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    order: int,
    density: str,
    constant: FloatArray,
    components: Sequence[Component],
    predictions: FloatArray,
    variances: Variances | None = None,
    checks: Sequence[Check] = (),
    settings: Mapping[str, Any],
) -> Decomposition:
    """A `Decomposition` from a constant (outputs) and components, without caveats.

    ``predictions`` (rows, outputs) are the model's at the rows of the data. Without ``variances`` these are taken over
    the rows of the data. The ``variance`` of each component is filled in.
    """
    found = variances_at(constant, components, data, predictions) if variances is None else variances

    def share(part: FloatArray) -> FloatArray:
        return squeeze_outputs(part / np.where(found.total > 0, found.total, np.inf))

    return Decomposition(
        method=method,
        order=order,
        density=density,
        constant=squeeze_outputs(np.asarray(constant, dtype=np.float64)),
        components=tuple(
            replace(component, variance=variance) for component, variance in zip(components, found.parts, strict=True)
        ),
        values=share(found.parts),
        se=squeeze_outputs(found.se),
        covariance=share(found.covariances),
        variance=squeeze_outputs(found.total),
        residual=share(found.residual),
        r2=squeeze_outputs(fidelity(constant, components, data, predictions)),
        checks=tuple(checks),
        feature_names=tuple(component.name for component in components),
        inputs=data.schema.names,
        output_names=predictor.output_names,
        scale=predictor.scale,
        cost=run.cost(),
        library=data.caller,
        settings={
            "method": method,
            "order": order,
            "density": density,
            "random_state": run.seed,
            **{key: plain_setting(value) for key, value in settings.items()},
        },
    )
