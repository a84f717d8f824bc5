"""What local models cannot be trusted for: the width that decides, a poor fit, luck, samples that do not occur.

- *width-decides*: the share of a row's chosen features whose weight has the opposite sign at another width, both clear
  of zero by two standard deviations over repeats;
- *low-fidelity*: what the local model leaves unexplained of the predictions near the row, on samples it was not fitted
  to;
- *local-miss*: how far it misses the prediction of the row itself, in standard deviations of the predictions;
- *unstable*: the share of weight on features that another run would not choose;
- *nothing-near*: the root mean square distance of the nearest samples (one in 25) over that of all. With many features
  all samples are about as far, and there is no neighbourhood. Or how many times too few samples count at the width;
- *lossy-space*: how far the prediction moves when a row is mapped to the features of the explanation and back, in
  standard deviations of the predictions.

Of several rows the worst one is reported, and how many are as bad.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations import Caveat, Pick
from pellucid.explanations.local_attribution import LocalModel
from pellucid.words import listed, number, percent, quantity

_FLIPS = 0.1
_CLEAR = 2.0
_UNEXPLAINED = 0.5
_MISSED = 0.5
_LUCK = 0.1
_COUNTING = 10.0  # effective samples, at least
_FAR = 0.7
_LOST = 0.1
_HIDDEN = 0.1


def width_decides(result: LocalModel) -> Iterator[Caveat]:
    """Another width would turn signs."""
    shares, turned = zip(*(_turned(result, i) for i in range(len(result))), strict=True)
    worst = int(np.argmax(shares))
    if shares[worst] <= _FLIPS:
        return
    low, high = np.nanmin(result.width_search.widths[worst]), np.nanmax(result.width_search.widths[worst])
    yield Caveat(
        code="width-decides",
        message=(
            f"The result depends on the width of the neighbourhood: between {number(float(low))} and"
            f" {number(float(high))} the weight of {listed(turned[worst])} changes"
            f" sign{_among(result, worst, shares, _FLIPS)} ({percent(shares[worst])} of the chosen"
            f" {result.vocabulary.part}s). The width here is {number(float(result.width[worst]))}."
        ),
        value=shares[worst],
        threshold=_FLIPS,
        advice="Look at plot(kind='widths') and choose a width= that fits the question, or use shap, which needs none.",
    )


def _turned(result: LocalModel, i: int) -> tuple[float, list[str]]:
    """The share of chosen terms whose sign turns at another width, and their names."""
    swept, spread = (np.moveaxis(result.width_search.stacked(name)[i], -1, 0) for name in ("weights", "spread"))
    known = ~np.isnan(result.width_search.widths[i])
    here = int(np.nanargmin(np.abs(result.width_search.widths[i] - result.width[i])))
    clear = np.abs(swept) > _CLEAR * spread
    own = np.where(clear[:, here], np.sign(swept[:, here]), 0.0)[:, None]
    turns = ((np.sign(swept) * own < 0) & clear)[:, known].any(axis=1)
    chosen = swept[:, here] != 0
    names = [result.terms[j] for j in np.flatnonzero(turns.any(axis=0))]
    return float(turns.sum() / max(chosen.sum(), 1)), names


def low_fidelity(result: LocalModel) -> Iterator[Caveat]:
    """The local model does not describe the predictions near the row."""
    lost = 1.0 - (result.fidelity if result.fidelity.ndim == 1 else result.fidelity.min(axis=1))
    worst = int(np.argmax(lost))
    if lost[worst] <= _UNEXPLAINED:
        return
    words = result.vocabulary
    yield Caveat(
        code="low-fidelity",
        message=(
            f"The local model explains {percent(max(1.0 - float(lost[worst]), 0.0))} of the variation of the"
            f" predictions near the {words.whole}{_among(result, worst, list(lost), _UNEXPLAINED)} (R² on"
            f" held-out {words.sample}s)."
        ),
        value=float(lost[worst]),
        threshold=_UNEXPLAINED,
        advice=(
            "Do not read its weights as what the model does; allow more features= or model='tree', or use shap with"
            " interactions=True."
        ),
    )


def local_miss(result: LocalModel, spread: list[FloatArray]) -> Iterator[Caveat]:
    """The local model misses the prediction it is to explain."""
    if result.settings.get("model") == "logistic":
        return
    missed = np.abs(result.residual).reshape(len(result), -1)
    units = np.stack(spread)
    shares = (missed / np.where(units > 0, units, np.inf)).max(axis=1)
    worst = int(np.argmax(shares))
    if shares[worst] <= _MISSED:
        return
    k = int(np.argmax(missed[worst] / np.where(units[worst] > 0, units[worst], np.inf)))
    told, local = (np.ravel(part[worst])[k] for part in (result.prediction, result.local_prediction))
    yield Caveat(
        code="local-miss",
        message=(
            f"The prediction{_among(result, worst, list(shares), _MISSED)} is {quantity(float(told), result.scale)},"
            f" but the local model gives {quantity(float(local), result.scale)}: it misses by"
            f" {number(float(shares[worst]))} standard deviations of the predictions."
        ),
        value=float(shares[worst]),
        threshold=_MISSED,
        advice=_nearer(
            result, "The effects add up to another prediction than the model's; use shap, whose contributions add up."
        ),
    )


def unstable(result: LocalModel, tolerance: float | None) -> Iterator[Caveat]:
    """Another run would choose other features."""
    limit = _LUCK if tolerance is None else tolerance
    lost = 1.0 - (result.stability if result.stability.ndim == 1 else result.stability.min(axis=1))
    worst = int(np.argmax(lost))
    if lost[worst] <= limit:
        return
    samples = result.settings["samples"]
    more = (
        f"tolerance={limit:g} or samples={2 * samples}"
        if tolerance is None
        else f"samples={2 * samples}, or fewer features="
    )
    words = result.vocabulary
    yield Caveat(
        code="unstable",
        message=(
            f"Another run of {samples:,} {words.sample}s would put {percent(float(lost[worst]))} of the weight on other"
            f" {words.part}s{_among(result, worst, list(lost), limit)}."
        ),
        value=float(lost[worst]),
        threshold=limit,
        advice=f"Give {more}, and trust the {words.part}s that stay.",
    )


def nothing_near(result: LocalModel, nearest: list[float]) -> Iterator[Caveat]:
    """No sample is near the row, or none counts."""
    few = [_COUNTING / max(float(size), 1e-9) for size in result.effective]
    rare = int(np.argmax(few))
    if few[rare] > 1.0 and result.settings["samples"] > _COUNTING:
        yield Caveat(
            code="nothing-near",
            message=(
                f"At the width {number(float(result.width[rare]))} hardly any sample"
                f" counts{_among(result, rare, few, 1.0)}: the effective sample size is"
                f" {number(float(result.effective[rare]))} of {result.settings['samples']:,} samples."
            ),
            value=few[rare],
            threshold=1.0,
            advice=(
                "Give a larger width=, or width='auto'; more samples= or sampler='around' bring more of them near the"
                " row."
            ),
        )
        return
    worst = int(np.argmax(nearest))
    if nearest[worst] <= _FAR:
        return
    yield Caveat(
        code="nothing-near",
        message=(
            f"With {len(result.terms)} features hardly any sample is near the"
            f" row{_among(result, worst, nearest, _FAR)}: the nearest 4% are still {percent(nearest[worst])} as far"
            " away as the average sample, so the local model is not very local."
        ),
        value=nearest[worst],
        threshold=_FAR,
        advice=_nearer(
            result, "Explain fewer features, or groups= of them; read the effects as those of a wider region."
        ),
    )


def _nearer(result: LocalModel, advice: str) -> str:
    """The advice, and to draw around the row where that was not done."""
    elsewhere = result.settings.get("sampler") in ("data", "gaussian", "correlated")
    return f"{advice} sampler='around' draws nearer to the row." if elsewhere else advice


def lossy_space(
    result: LocalModel, told: FloatArray, returned: FloatArray, spread: list[FloatArray]
) -> Iterator[Caveat]:
    """The features of the explanation do not say all that the model knows of the row."""
    units = np.stack(spread)
    moved = np.abs(returned - told) / np.where(units > 0, units, np.inf)
    shares = moved.max(axis=1)
    worst = int(np.argmax(shares))
    if shares[worst] <= _LOST:
        return
    k = int(np.argmax(moved[worst]))
    yield Caveat(
        code="lossy-space",
        message=(
            "The features of this explanation do not hold all that the model"
            f" uses{_among(result, worst, list(shares), _LOST)}: mapped to them and back, the row has the prediction"
            f" {quantity(float(returned[worst, k]), result.scale)} instead of"
            f" {quantity(float(told[worst, k]), result.scale)},"
            f" {number(float(shares[worst]))} standard deviations of the predictions away."
        ),
        value=float(shares[worst]),
        threshold=_LOST,
        advice=(
            "Give space= features from which the row comes back as it was (more components, say), or read the effects"
            " as those of the mapped row."
        ),
    )


def _among(result: LocalModel, row: int, values: list[float] | tuple[float, ...], limit: float) -> str:
    """Which row, and how many are above the limit."""
    if len(result) == 1:
        return ""
    count = sum(value > limit for value in values)
    named = f" in row {result.row_labels.name(row)}"
    return f"{named} (and in {count - 1} more of {len(result)})" if count > 1 else named


def uncovered(picked: Pick) -> Iterator[Caveat]:
    """The rows that were picked do not show all that matters."""
    hidden = 1.0 - float(picked.covered[-1])
    if hidden <= _HIDDEN:
        return
    missing = [
        picked.feature_names[j] for j in np.argsort(-picked.values, kind="stable") if not picked.shows[:, j].any()
    ]
    missing = [name for name in missing if picked.values[picked.feature_names.index(name)] > 0]
    yield Caveat(
        code="not-shown",
        message=(
            f"These {len(picked.rows)} rows leave out {percent(hidden)} of all importance: none of them shows"
            f" {listed(missing)}."
        ),
        value=hidden,
        threshold=_HIDDEN,
        advice="Give a larger budget=.",
    )
