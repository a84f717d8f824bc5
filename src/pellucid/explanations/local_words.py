"""A local model in words: what it predicts, what moves it, how far and how well it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.explanations.attribution_words import amount, mean_sizes, scale_of, sequence, starting_point
from pellucid.words import listed, number, percent, quantity, value_name

if TYPE_CHECKING:
    from pellucid.explanations.local_attribution import LocalAttribution, LocalModel

_SAID = 10
_RANGES = 3
_ALWAYS = 0.995
_SAMPLERS = {
    "data": "each feature drawn from the data on its own",
    "gaussian": "normal, around the centre of the data",
    "around": "normal, around the row",
    "correlated": "drawn with the correlations of the features",
}
_SURROGATE = (
    "Effects are those of a local surrogate, a simple model fitted near the row: they describe how predictions change"
    " there, not everything behind the prediction."
)


def complete(found: LocalAttribution) -> list[str]:
    """One row in full, several in short; then how well the local models hold."""
    names = found.output_names
    if len(found) == 1:
        lines = [of_one(found.for_output(name)) for name in names]
        lines += [line for name in names for line in _reach(found.for_output(name), name if len(names) > 1 else "")]
    else:
        lines = [_of_rows(found.for_output(name)) for name in names]
    return [*lines, *_quality(found), _how(found), _SURROGATE]


def headline(found: LocalModel) -> str:
    """What moves the local model most; of several outputs, of the one with the highest prediction."""
    if len(found) > 1:
        return _of_rows(found.for_output(found.output_names[0]), 3)
    best = int(np.argmax(np.atleast_1d(found.prediction[0])))
    one = found.for_output(found.output_names[best])
    order = [int(j) for j in sequence(one, 0) if one.values[0, j] != 0]
    whole = found.vocabulary.whole
    near = f"Near {whole} {found.row_labels.name(0)}" if found.row_labels.of_row() else f"Near this {whole}"
    if not order:
        return f"{near}, no {one.vocabulary.part} moves the local model{scale_of(one)}."
    said = [f"{one.label(j, 0)} ({quantity(float(one.values[0, j]), one.scale, change=True)})" for j in order[:3]]
    return (
        f"{near}, the prediction{scale_of(one)} of {quantity(float(one.prediction[0]), one.scale)} is moved"
        f" most by {listed(said)}."
    )


def of_one(one: LocalModel) -> str:
    """A single row, text or image: what moves its local model, one output."""
    half = (one.interval()[1] - one.interval()[0]) / 2
    order = [int(j) for j in sequence(one, 0) if one.values[0, j] != 0]
    said = [
        f"{one.label(j, 0)} contributed {_about(float(half[0, j]), float(one.values[0, j]), one.scale)}"
        for j in order[:_SAID]
    ]
    rest = order[_SAID:]
    if rest:
        said.append(f"the other {len(rest)} together {amount(float(one.values[0, rest].sum()), 0.0, one.scale)}")
    story = f": {listed(said, len(said))}" if said else f"; no {one.vocabulary.part} contributed"
    return (
        f"The prediction{scale_of(one)}{one.row_labels.of_row()} is"
        f" {quantity(float(one.prediction[0]), one.scale)}; the local model"
        f" gives {quantity(float(one.local_prediction[0]), one.scale)}. Compared with {starting_point(one)},"
        f" {quantity(float(one.bases[0]), one.scale)}{story}."
    )


def _about(half: float, effect: float, scale: str) -> str:
    """An effect with its interval, if that is more than rounding."""
    return amount(effect, half if half > 1e-9 * abs(effect) else 0.0, scale)


def _of_rows(one: LocalModel, most: int = _SAID) -> str:
    sizes = mean_sizes(one)
    order = [int(j) for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0]
    said = [f"{one.feature_names[j]} ({amount(float(sizes[j]), 0.0, one.scale, sign=False)})" for j in order[:most]]
    return (
        f"Mean absolute effect in the local models of {one.row_labels.listed(len(one))}{scale_of(one)}: "
        f"{listed(said, len(said)) if said else 'none'}."
    )


def _quality(found: LocalAttribution) -> list[str]:
    fidelity, chosen, agree = (float(np.min(part)) for part in (found.fidelity, found.stability, found.agreement))
    several = found.fidelity.size > 1
    at_least = "at least " if several else ""
    lines = [
        f"{_models(found)} {at_least}{percent(max(fidelity, 0.0))} of the variation of the predictions near"
        f" {'their rows' if len(found) > 1 else 'the row'} (R² on held-out samples)."
    ]
    if np.isfinite(chosen):
        lines.append(
            f"With the kernel width kept, repeated runs put {at_least}{percent(chosen)} of the weight on the same"
            f" features, and {at_least}{percent(agree)} of the weight stays the same."
            if chosen < _ALWAYS or agree < _ALWAYS
            else "With the kernel width kept, repeated runs choose the same features, with the same weights."
        )
    return lines


def _models(found: LocalAttribution) -> str:
    return "The local models explain" if len(found) > 1 or len(found.output_names) > 1 else "The local model explains"


def _reach(one: LocalAttribution, output: str) -> list[str]:
    """How far each number alone may move."""
    ranges, within = one.ranges[0], float(np.ravel(one.within)[0])
    known = [j for j in range(len(one.terms)) if np.isfinite(ranges[j]).all() and one.weights[0, j] != 0]
    if not known or not within > 0:
        return []
    of = f" of {output}" if output else ""
    if not any(ranges[j, 1] > ranges[j, 0] for j in known):
        return [
            f"Even at the row itself the local model{of} misses the prediction by more than a tenth of the spread"
            f" of the predictions ({amount(within, 0.0, one.scale, sign=False)})."
        ]
    sizes = np.abs(one.weights[0]) * (ranges[:, 1] - ranges[:, 0])
    some = sorted(known, key=lambda j: -sizes[j])[:_RANGES]
    said = [f"{one.terms[j]} from {_end(one, j, ranges[j, 0])} to {_end(one, j, ranges[j, 1])}" for j in some]
    others = "With the other features as they are, the" if len(one.terms) > 1 else "The"
    return [
        f"{others} local model{of} stays within ± {amount(within, 0.0, one.scale, sign=False)} of the model"
        f" for {listed(said)}."
    ]


def _end(one: LocalAttribution, j: int, value: float) -> str:
    """An end of the range of a term; that of a date is a number of days."""
    shown = one.cells_of_term(j)
    if shown is not None and shown.dtype.kind == "M":
        return value_name(np.datetime64(round(float(value)), "D"))
    return number(float(value))


def _how(found: LocalAttribution) -> str:
    samples = found.settings.get("samples", 0)
    upto = "up to " if len(found) > 1 and "grown_from" in found.settings else ""
    if found.settings.get("kernel") == "shap":
        every = " (all of them)" if found.settings.get("all_coalitions") else ""
        return (
            f"Weighted by the Shapley kernel over {samples:,} coalitions of features{every}: the effects are Shapley"
            " values (KernelSHAP)."
        )
    wide = [float(np.min(found.width)), float(np.max(found.width))]
    width = number(wide[0]) if len(found) == 1 else f"{number(wide[0])} to {number(wide[1])}"
    counts = number(float(np.min(found.effective)))
    why = found.settings.get("why", "")
    drawn = _SAMPLERS.get(str(found.settings.get("sampler")), "")
    if found.settings.get("mapped"):
        drawn += "; mapped back for the model"
    return (
        f"Fitted to {upto}{samples:,} samples ({drawn}), weighted by their distance to the row (effective sample size "
        f"{'at least ' if len(found) > 1 else ''}{counts}); kernel width {width}{f', {why}' if why else ''}."
    )
