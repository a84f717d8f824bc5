"""Counterfactuals in plain sentences, the finding first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.words import counted, listed, number, percent, quantity, value_name

if TYPE_CHECKING:
    from pellucid.explanations.counterfactuals import Counterfactuals

MOST_SAID = 3  # answers in full
_COUNTED = 5  # features of which it is said how often they change
_NAMES = {"gower": "Gower distance", "manhattan": "Manhattan distance"}


def counterfactual_findings(result: Counterfactuals) -> list[str]:
    """What would have to change, how sure that is, and what else would do."""
    if not len(result):
        return _nothing(result)
    if not result.changed.any():
        return [
            f"Nothing has to change: the model already predicts {said(result, result.prediction)} ({result.target})."
        ]
    lines = [answer_sentence(result, 0)]
    lines += [_missed(result)] if not result.valid.all() else [_how_near(result)]
    others = [answer_sentence(result, i).replace("With ", "Or with ", 1) for i in range(1, min(len(result), MOST_SAID))]
    lines += others
    if len(result) > MOST_SAID:
        lines.append(f"There {_are(len(result) - MOST_SAID, 'more answer')}: see .frame().")
    if len(result) > 1:
        lines.append(frequencies(result))
    return [*lines, *_trust(result)]


def answer_sentence(result: Counterfactuals, i: int, most: int = 8) -> str:
    """With which changes, the largest first, the model would predict what; those beyond ``most`` are counted."""
    changes = [
        change_words(result.column_names[j], result.cells[j][0], result.cells[j][i + 1])
        for j in sorted(np.flatnonzero(result.changed[i]).tolist(), key=lambda j: -change_size(result, j, i))
    ]
    if not changes:
        return f"With nothing changed, the model predicts {said(result, result.predictions[i])}."
    now, instead = said(result, result.prediction), said(result, result.predictions[i])
    now = now.removesuffix(f" for {instead.partition(' for ')[2]}")  # the class is named once
    if _unseen(result, i):
        return f"With {listed(changes, most)}, the model would predict {result.target} ({instead}, now {now})."
    return f"With {listed(changes, most)}, the model would predict {instead} (now {now})."


def _unseen(result: Counterfactuals, i: int) -> bool:
    """Whether a class is wanted and reached, but the one output that is explained does not show that it wins."""
    wanted = result.target.startswith(("class ", "a class ", "any class "))
    alone = result.scale == "probability" and len(result.output_names) == 1
    return bool(wanted and alone and result.valid[i] and result.predictions[i, 0] <= 0.5)


def change_size(result: Counterfactuals, j: int, i: int) -> float:
    """How large a change is, as a share of the range in the data; 1 for another level, or from or to missing."""
    if j >= len(result.scene.observed) or result.scene.observed[j].nominal:
        return 1.0
    now, instead, seen = result.cells[j][0], result.cells[j][i + 1], result.scene.observed[j]
    apart = (instead - now) / np.timedelta64(1, "us") if isinstance(now, np.datetime64) else float(instead) - float(now)
    share = abs(float(apart)) / (seen.high - seen.low) if seen.high > seen.low else 1.0
    return float(np.round(share, 12)) if np.isfinite(share) else 1.0


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


def said(result: Counterfactuals, outputs: FloatArray) -> str:
    """A prediction: shares for the classes that the target names, else for the one that wins; or numbers."""
    names = result.output_names
    if result.scale == "probability":
        shares = named(result) or [int(np.argmax(outputs))]
        return listed([percent_of(float(outputs[k])) + _whose(names[k]) for k in shares])
    if len(outputs) == 1:
        return number(float(outputs[0]))
    return listed([f"{name} {number(float(value))}" for name, value in zip(names, outputs, strict=True)])


def named(result: Counterfactuals) -> list[int]:
    """The classes whose share the target names."""
    return [k for k, name in enumerate(result.output_names) if f"P({name}) " in result.target]


def _whose(name: str) -> str:
    return f" for {name}" if name != "prediction" else ""


def shown_output(own: FloatArray, answers: FloatArray, scale: str) -> int:
    """Of several outputs the one that charts show: the class of the first answer, or the number that moves most."""
    if scale in ("probability", "log-odds", "score"):
        return int(np.argmax(answers[0])) if len(answers) else int(np.argmax(own))
    return int(np.argmax(np.abs(answers - own).max(axis=0))) if len(answers) else 0


def percent_of(share: float) -> str:
    """A share as a percentage that does not hide on which side of one half it is."""
    rough, digits = percent(share), 1
    while rough in ("50%", "50.0%", "50.00%") and share != 0.5:
        rough, digits = f"{100 * share:.{digits}f}%", digits + 1
    return rough


def _are(n: int, one: str) -> str:
    return f"{'is' if n == 1 else 'are'} {counted(n, one)}"


def _how_near(result: Counterfactuals) -> str:
    size = _size(result)
    if result.proven:
        return f"That is proven to be the nearest answer ({size})."
    if result.lower is not None and result.gap < 1:
        return (
            f"No nearer answer is known; this one ({size}) may be too far by at most {percent(max(result.gap, 0.0))}."
        )
    return f"No nearer answer was found ({size}); the search gives no proof that there is none."


def _size(result: Counterfactuals) -> str:
    """How far the first answer is, by the distance that was asked for."""
    said, costs = str(result.settings.get("distance")), result.settings.get("costs")
    if said == "changes" and not costs:
        changes = counted(int(result.scores["changes"][0]), "change")
        return f"{changes}, {_NAMES['gower']} {number(float(result.scores['gower'][0]))}"
    name = "cost" if costs else _NAMES.get(said, "distance")
    return f"{name} {number(float(result.scores['distance'][0]))}"


def _missed(result: Counterfactuals) -> str:
    short = quantity(float(result.scores["target"][0]), result.scale, change=True, sign=False)
    return f"This misses the target ({result.target}) by {short}: it is the nearest miss, not an answer."


def frequencies(result: Counterfactuals) -> str:
    """How often features change: "Over the 5 answers, amount changes every time; age and job change twice each."."""
    n = len(result)
    by_count: dict[int, list[str]] = {}
    for name, share in list(result.frequency.items())[:_COUNTED]:
        if share > 0:
            by_count.setdefault(round(share * n), []).append(name)
    said = [_so_often(names, times, n) for times, names in by_count.items()]
    more = sum(share > 0 for share in result.frequency.values()) - _COUNTED
    if more > 0:
        said.append(f"{counted(more, 'other feature')} change{'s' if more == 1 else ''} no more often")
    return f"Over the {n} answers, {'; '.join(said)}."


def _so_often(names: list[str], times: int, n: int) -> str:
    often = "every time" if times == n else {1: "once", 2: "twice"}.get(times, f"{times} times")
    if len(names) == 1:
        return f"{names[0]} changes {often}"
    return f"{listed(names)} change {often}{'' if times == n else ' each'}"


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
        nearer = np.isnan(result.own_miss) or result.nearest_miss < result.own_miss
        lines.append(
            f"The nearest miss is off by {short}; best_effort=True gives that row."
            if nearer
            else f"No allowed row was found that is nearer to it than this one, which is off by {short}."
        )
    lines += [
        f"Without {each.constraint} the target can be reached, with {each.change}." for each in result.obstacles[:3]
    ]
    if not result.obstacles:
        lines.append("Relax the target, or allow more values (ranges=).")
    return lines
