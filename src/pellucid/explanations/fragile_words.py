"""Fragile rows in plain sentences, the finding first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.explanations.counterfactual_words import change_words
from pellucid.words import counted, listed, number, percent

if TYPE_CHECKING:
    from pellucid.explanations.fragile_rows import FragileRows

NORMS = {
    "l0": "number of changes",
    "l1": "L1 distance",
    "l2": "L2 distance",
    "linf": "Linf distance",
    "gower": "Gower distance",
}
_SAID = 4  # changes of the most fragile row
_NEXT = 3
_OFTEN = 3  # features that change most often


def fragile_findings(result: FragileRows) -> list[str]:
    """Which row is the most fragile, which come next, how the rows spread, and how sure that is."""
    order, n = result.ranking(), int(result.flipped.sum())
    if not n:
        return [_none(result), *_apart(result)]
    first = int(order[0])
    lines = [f"{name_of(result, first)} is the most fragile: {fragile_sentence(result, first)}."]
    following = [f"{result.row_labels.name(int(i))} ({distance_of(result, int(i))})" for i in order[1:n][:_NEXT]]
    if following:
        lines.append(f"{'Next is row' if len(following) == 1 else 'Next are rows'} {listed(following)}.")
    if n > _NEXT:
        lines.append(_spread(result))
    return [*lines, _proof(result), *_often(result), *_apart(result), *_sampled(result)]


def fragile_sentence(result: FragileRows, i: int) -> str:
    """With which change the model would predict what, at what distance."""
    return (
        f"with {change_of(result, i, _SAID)}, the model would predict {result.answer_said[i]} instead of"
        f" {result.said[i]} ({how_far(result, i)})"
    )


def how_far(result: FragileRows, i: int) -> str:
    """The distance of a row with the name of its norm."""
    if result.norm == "l0":
        return distance_of(result, i)
    return f"{NORMS[result.norm]} {distance_of(result, i)}"


def distance_of(result: FragileRows, i: int) -> str:
    """The distance of a row; by L0, the number of changes."""
    value = float(result.values[i])
    return counted(int(np.floor(value + 1e-9)), "change") if result.norm == "l0" else number(value)


def name_of(result: FragileRows, i: int) -> str:
    """What a row is called at the beginning of a sentence."""
    return f"Row {result.row_labels.name(i)}"


def changes_of(result: FragileRows, i: int) -> dict[str, tuple[Any, Any]]:
    """The changes of a row, the largest first."""
    moved = np.round(result.moved[i], 12)
    return {
        result.column_names[j]: (result.cells[j][i], result.answers[j][i])
        for j in np.argsort(-moved, kind="stable")
        if moved[j] > 0
    }


def change_of(result: FragileRows, i: int, most: int) -> str:
    """The changes of a row in words."""
    words = [change_words(name, now, instead) for name, (now, instead) in changes_of(result, i).items()]
    return listed(words, most) if words else ""


def _none(result: FragileRows) -> str:
    if not np.isinf(result.values).any():
        return f"All {len(result):,} rows already meet the target ({result.target}): nothing has to change."
    sure = result.proven[np.isinf(result.values)].all()
    what = "There is no change" if sure else "No change was found"
    return (
        f"{what} that flips any of the {len(result):,} rows within the values"
        f" allowed{': that is proven' if sure else ''}."
    )


def _spread(result: FragileRows) -> str:
    """By which distance half of the rows flip, and what the last of them needs."""
    order = result.ranking()[: int(result.flipped.sum())]
    # rows without an answer are beyond any distance, so the median is over all that were asked
    asked = int((~np.isnan(result.values)).sum())
    last = int(order[-1])
    robust = (
        f"the most robust of those that flip, row {result.row_labels.name(last)}, needs {distance_of(result, last)}"
    )
    if len(order) * 2 < asked:
        return f"Fewer than half of the {asked:,} rows flip at all; {robust}."
    middle = int(order[(asked - 1) // 2])
    return f"Half of the {asked:,} rows flip within {distance_of(result, middle)}; {robust}."


def _proof(result: FragileRows) -> str:
    known = result.flipped
    proven, n = int(result.proven[known].sum()), int(known.sum())
    if proven == n:
        return (
            "Each distance is proven: no smaller change is enough."
            if n > 1
            else "That is proven to be the smallest change."
        )
    if not proven:
        return "No distance is proven: the true ones may be smaller, and rows with similar distances may change places."
    return f"{proven:,} of {n:,} distances are proven; the others may be smaller."


def _often(result: FragileRows) -> list[str]:
    known = np.flatnonzero(result.flipped)
    if len(known) <= _NEXT:
        return []
    shares = (result.moved[known] > 0).mean(axis=0)
    order = [int(j) for j in np.argsort(-shares, kind="stable")[:_OFTEN] if shares[j] > 0]
    words = [f"{result.column_names[j]} (in {percent(float(shares[j]))} of the rows)" for j in order]
    return [f"Changed most often: {listed(words)}."]


def _apart(result: FragileRows) -> list[str]:
    lines = []
    beyond, already = int(np.isinf(result.values).sum()), int(np.isnan(result.values).sum())
    if beyond and result.flipped.any():
        sure = result.proven[np.isinf(result.values)].all()
        what = "no allowed change is enough: that is proven" if sure else "no change was found"
        lines.append(f"For {counted(beyond, 'row')} {what}.")
    if already and already < len(result):
        verb = "meets" if already == 1 else "meet"
        lines.append(f"{counted(already, 'row')} already {verb} the target ({result.target}), so not ranked.")
    return lines


def _sampled(result: FragileRows) -> list[str]:
    if not result.sampled_from:
        return []
    return [f"These are {len(result):,} of {result.sampled_from:,} rows, drawn at random: others may be more fragile."]
