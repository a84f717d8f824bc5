"""Counterfactuals in plain sentences, the finding first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.words import counted, listed, number, percent, quantity, value_name

if TYPE_CHECKING:
    from pellucid.explanations.counterfactuals import Counterfactuals

MOST_SAID = 3  # answers in full
_NAMES = {"gower": "Gower distance", "manhattan": "Manhattan distance", "changes": "number of changes"}


def counterfactual_findings(result: Counterfactuals) -> list[str]:
    """What would have to change, how sure that is, and what else would do."""
    if not len(result):
        return _nothing(result)
    if not result.changed.any():
        return [f"Nothing has to change: the model already says {_said(result, result.prediction)} ({result.target})."]
    lines = [answer_sentence(result, 0)]
    lines += [_missed(result)] if not result.valid.all() else [_how_near(result)]
    others = [answer_sentence(result, i).replace("With ", "Or with ", 1) for i in range(1, min(len(result), MOST_SAID))]
    lines += others
    if len(result) > MOST_SAID:
        lines.append(f"There {_are(len(result) - MOST_SAID, 'more answer')}: see .frame().")
    if len(result) > 1:
        lines.append(_frequencies(result))
    return [*lines, *_trust(result)]


def answer_sentence(result: Counterfactuals, i: int) -> str:
    """With which changes the model would say what."""
    changes = [
        change_words(result.column_names[j], result.cells[j][0], result.cells[j][i + 1])
        for j in np.flatnonzero(result.changed[i])
    ]
    if not changes:
        return f"With nothing changed, the model says {_said(result, result.predictions[i])}."
    now = _said(result, result.prediction)
    return f"With {listed(changes, 8)}, the model would say {_said(result, result.predictions[i])} (now {now})."


def change_words(name: str, now: Any, instead: Any) -> str:
    """``savings 'moderate' instead of 'little'``; texts are quoted, numbers are not."""
    return f"{name} {_quoted(instead)} instead of {_quoted(now)}"


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else in_full(value)


def in_full(value: Any) -> str:
    """A number with four digits at least, large ones in full; the rows hold all of them."""
    if isinstance(value, float | np.floating) and np.isfinite(value):
        size = float(value)
        return f"{size:,.4g}" if abs(size) < 1e4 else f"{size:,.10g}"
    return value_name(value)


def _said(result: Counterfactuals, outputs: FloatArray) -> str:
    """A prediction: a share for a class, or numbers."""
    names = result.output_names
    if result.scale == "probability":
        k = int(np.argmax(outputs))
        return percent_of(float(outputs[k])) + (f" for {names[k]}" if names[k] != "prediction" else "")
    if len(outputs) == 1:
        return number(float(outputs[0]))
    return listed([f"{name} {number(float(value))}" for name, value in zip(names, outputs, strict=True)])


def percent_of(share: float) -> str:
    """A share as a percentage that does not hide on which side of one half it is."""
    rough, digits = percent(share), 1
    while rough in ("50%", "50.0%", "50.00%") and share != 0.5:
        rough, digits = f"{100 * share:.{digits}f}%", digits + 1
    return rough


def _are(n: int, one: str) -> str:
    return f"{'is' if n == 1 else 'are'} {counted(n, one)}"


def _how_near(result: Counterfactuals) -> str:
    name = _NAMES.get(str(result.settings.get("distance")), "distance")
    size = number(float(result.scores["distance"][0]))
    if result.proven:
        return f"That is proven to be the nearest answer ({name} {size})."
    if result.lower is not None and result.gap < 1:
        return (
            f"No nearer answer is known; at a {name} of {size}, it may be too far by at most"
            f" {percent(max(result.gap, 0.0))}."
        )
    return f"No nearer answer was found ({name} {size}); the search gives no proof that there is none."


def _missed(result: Counterfactuals) -> str:
    short = quantity(float(result.scores["target"][0]), result.scale, change=True, sign=False)
    return f"This misses the target ({result.target}) by {short}: it is the nearest miss, not an answer."


def _frequencies(result: Counterfactuals) -> str:
    used = {name: share for name, share in result.frequency.items() if share > 0}
    n = len(result)
    said = [f"{name} (in {'all' if share == 1 else round(share * n)})" for name, share in used.items()]
    return f"Changed over the {n} answers: {listed(said, 5)}."


def _trust(result: Counterfactuals) -> list[str]:
    robust = float(result.scores["robustness"][0])
    if np.isnan(robust) or not result.valid[0]:
        return []
    lines = [f"The first answer still holds in {percent(robust)} of small perturbations of its numbers."]
    refits = float(result.scores["refits"][0]) if "refits" in result.scores else float("nan")
    if not np.isnan(refits):
        lines.append(
            f"It holds under {percent(refits)} of {counted(int(result.settings['refits']), 'refitted model')}."
        )
    return lines


def _nothing(result: Counterfactuals) -> list[str]:
    proven = f"There is no allowed row that reaches the target ({result.target}): that is proven."
    lines = [proven if result.proven else f"No allowed row was found that reaches the target ({result.target})."]
    if np.isfinite(result.nearest_miss):
        short = quantity(result.nearest_miss, result.scale, change=True, sign=False)
        lines.append(f"The nearest miss is off by {short}; best_effort=True gives that row.")
    lines += [f"Without {each.constraint} it can be reached: {each.change}." for each in result.obstacles[:3]]
    if not result.obstacles:
        lines.append("Relax the target, or allow more values (ranges=).")
    return lines
