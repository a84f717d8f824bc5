"""Influence in sentences: the finding, how concentrated it is, which question was answered, and how far to trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.words import counted, listed, number, percent

if TYPE_CHECKING:
    from pellucid.explanations.influence import Influence

_MANY = 20  # training rows, from which on the share of the first ten says something


def findings(found: Influence) -> list[str]:
    """The finding first."""
    if not len(found.ranking()) or not found.strength[found.ranking(1)][0] > 0:
        return ["No training row changes anything by being left out.", _how(found)]
    first = {"cook": _cook, "dfbeta": _parameters}.get(found.method)
    if first is None:
        first = {"parameters": _parameters, "loss": _number, "predictions": _predictions}.get(found.on, _number)
    return [*first(found), *_share(found), *_pattern(found), _how(found), *_checked(found)]


def amount(found: Influence, value: float, *, sign: bool = False) -> str:
    """A change, in percentage points of a probability."""
    if found.scale == "probability" and found.on == "predictions" and found.method != "cook":
        return f"{number(100 * value, sign=sign)} pp"
    return number(value, sign=sign)


def _level(found: Influence, value: float) -> str:
    return f"{number(100 * value)}%" if found.scale == "probability" and found.on == "predictions" else number(value)


def _predictions(found: Influence) -> list[str]:
    top = found.ranking(3)
    if not found.targets:
        said = f"Leaving out {found.name(top[0])} changes predictions most, by {amount(found, _size(found, top[0]))}"
        rest = [f"{found.name(i)} ({amount(found, _size(found, i))})" for i in top[1:]]
        return [f"{said} on average; then {listed(rest)}." if rest else f"{said} on average."]
    if found.values.ndim == 3 or len(found.targets) > 1:
        said = f"{_capital(found.name(top[0]))} influenced these predictions most: without it, they change by"
        rest = [found.name(i) for i in top[1:]]
        what = f"{said} {amount(found, float(found.strength[top[0]]))} on average"
        return [f"{what}; then {listed(rest)}." if rest else f"{what}."]
    return [_one(found)]


def _one(found: Influence) -> str:
    """About a single prediction: with and without the strongest, and the strongest on the other side."""
    change = found.values[:, 0]
    i = int(found.ranking(1)[0])
    now = float(np.ravel(found.present)[0])
    of = f" ({found.output_names[0]})" if found.scale == "probability" else ""
    said = (
        f"{_capital(found.name(i))} influenced the prediction of row {found.targets[0]} most: without it, the"
        f" prediction{of} would be {_level(found, now - float(change[i]))} instead of {_level(found, now)}."
    )
    verb = "raises" if change[i] > 0 else "lowers"
    same = [k for k in found.ranking() if np.sign(change[k]) == np.sign(change[i])][1:3]
    other = [k for k in found.ranking() if np.sign(change[k]) == -np.sign(change[i])][:2]
    parts = [f"It {verb} the prediction by {amount(found, abs(float(change[i])))}"]
    if same:
        parts.append(
            f"so do {listed([_by(found, k) for k in same])}" if len(same) > 1 else f"so does {_by(found, same[0])}"
        )
    if other:
        against = "lower" if change[i] > 0 else "raise"
        parts.append(f"{listed([_by(found, k) for k in other])} {against}{'' if len(other) > 1 else 's'} it most")
    return f"{said} {'; '.join(parts)}."


def _by(found: Influence, k: int) -> str:
    return f"{found.name(k)} ({amount(found, float(found.values[k, 0]), sign=True)})"


def _number(found: Influence) -> list[str]:
    """About a loss or a number of the caller's own."""
    change = found.values
    i = int(found.ranking(1)[0])
    now = float(np.ravel(found.present)[0])
    what = "the loss" if found.on == "loss" else found.on
    said = f"{_capital(found.name(i))} matters most: without it, {what} would be {number(now - float(change[i]))}"
    said = f"{said} instead of {number(now)}."
    if found.on != "loss":
        return [said]
    known = found.ranking()
    helps, harms = int(known[np.argmin(change[known])]), int(known[np.argmax(change[known])])
    parts = (
        [f"{found.name(helps)} lowers it most ({number(float(change[helps]), sign=True)})"] if change[helps] < 0 else []
    )
    if change[harms] > 0:
        parts.append(f"{found.name(harms)} raises it most ({number(float(change[harms]), sign=True)})")
    return [f"{said} {_capital(', '.join(parts))}."]


def _cook(found: Influence) -> list[str]:
    top = found.ranking(3)
    limit = 4 / len(found)
    above = int((found.strength > limit).sum())
    rest = [f"{found.name(i)} ({number(float(found.strength[i]))})" for i in top[1:]]
    said = f"{_capital(found.name(top[0]))} has the largest Cook's distance, {number(float(found.strength[top[0]]))}"
    return [
        f"{said}; then {listed(rest)}." if rest else f"{said}.",
        f"{counted(above, 'row')} of {len(found):,} exceed 4/n = {number(limit)}, the usual threshold for a"
        " closer look; above 1 it is large.",
    ]


def _parameters(found: Influence) -> list[str]:
    i = int(found.ranking(1)[0])
    wide = found.values.reshape(len(found), -1)
    k = int(np.argmax(np.abs(wide[i]) / np.where(found.errors > 0, found.errors, np.inf)))
    now = float(np.ravel(found.present)[k]) if found.present.size == wide.shape[1] else float("nan")
    change = float(wide[i, k])
    said = f"{_capital(found.name(i))} moves the coefficients most: {found.targets[k]} by {number(change, sign=True)}"
    if np.isfinite(now):
        said = f"{said} (with it {number(now)}, without {number(now - change)})"
    return [f"{said}, {number(float(found.strength[i]))} standard errors."]


def _share(found: Influence) -> list[str]:
    known = len(found.ranking())
    if known < _MANY or found.method == "cook" or len(found) > known:
        return _not_tried(found)
    what = "rows" if found.settings.get("together") is None else "sets of rows"
    return [f"The ten most influential of {known:,} {what} have {percent(found.share(10))} of all influence."]


def _not_tried(found: Influence) -> list[str]:
    tried, units = int(found.settings["tried"]), int(found.settings["units"])
    if tried >= units:
        return []
    random = int(found.settings["at_random"])
    return [
        f"{tried:,} of {units:,} rows were left out one by one: {random} at random, then those that looked most"
        " influential given these; the influence of the others is unknown."
    ]


def _pattern(found: Influence) -> list[str]:
    one = found.pattern
    if not one.conditions:
        return []
    return [
        f"Rows with {one.conditions} ({percent(one.rows)} of all) are influential more often than others:"
        f" {percent(one.strongest)} of them are among the strongest tenth."
    ]


def _how(found: Influence) -> str:
    steps = (
        " by way of the last step of the pipeline (what earlier steps learned stays)"
        if found.settings.get("steps")
        else ""
    )
    said = {
        "closed form": f"Exact{steps}: the fit without each row is known in closed form.",
        "Newton steps": f"Newton steps from the fitted coefficients{steps}{_refined(found)}.",
        "trees kept": "Trees kept: every split stays, only the leaf values are refitted without the row.",
        "influence function": "Influence functions of the network (Gauss-Newton products, damped): a first-order"
        " approximation, only as good as the refits below.",
        "refits": "The model was refitted without each of these rows.",
    }
    return said[found.how]


def _refined(found: Influence) -> str:
    more, one = int(found.settings.get("refined", 0)), int(found.settings.get("one_step", 0))
    if not more:
        return ""
    rest = f" ({one:,} more of some leverage had one step)" if one else ""
    return f", repeated for the {counted(more, 'row')} of highest leverage{rest}"


def _checked(found: Influence) -> list[str]:
    checked = found.checked
    said = []
    top = len(checked.units) - checked.jolt_rows if len(checked.units) else 0
    if top and found.how == "Newton steps":
        off = "less than 0.1%" if checked.gap < 0.001 else percent(checked.gap)
        said.append(f"Exact refits without each of the {top} strongest rows differ from this by {off}.")
    elif top and found.how == "influence function":
        agree = (
            f"a correlation of {number(checked.correlation)}" if np.isfinite(checked.correlation) else "no correlation"
        )
        said.append(
            f"Full refits without each of the {top} strongest rows give a mean change of"
            f" {amount(found, float(checked.refitted[:top].mean()))}; influence functions give"
            f" {amount(found, float(checked.shown[:top].mean()))}. Over these and {checked.jolt_rows} random"
            f" rows the two have {agree}."
        )
    elif top:
        said.append(
            f"Full refits without each of the {top} strongest rows, splits included, give a mean change of"
            f" {amount(found, float(checked.refitted[:top].mean()))}; refitting the leaf values alone gives"
            f" {amount(found, float(checked.shown[:top].mean()))}."
        )
    if np.isfinite(checked.jolt) and found.how != "refits":
        several = f" (median of {checked.jolt_rows})" if checked.jolt_rows > 1 else ""
        said.append(f"A full refit without a random row changes the result by {amount(found, checked.jolt)}{several}.")
    return said


def _size(found: Influence, place: int) -> float:
    """The mean absolute change of predictions, over all outputs."""
    return float(np.mean(found.values[place]))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
