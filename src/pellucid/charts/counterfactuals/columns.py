"""Columns of the row and its answers: which change, where their values stand and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.charts.layout import FEW_INTEGERS, Limits, positions
from pellucid.charts.text import caveat_note
from pellucid.data.frames.frame import is_missing
from pellucid.explanations.counterfactual_words import change_size, in_full, named, percent_of, said, shown_output
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.words import counted, listed, number

_LETTERS = 20  # of a category beside another


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its own value (first) and those of the answers shown, as texts and, of numbers and dates, as places
    on its axis (NaN: missing), and within what ``limits`` the data are. ``levels`` are those of a feature that has.
    """

    name: str
    kind: str
    texts: tuple[str, ...]
    places: FloatArray
    changed: tuple[bool, ...]
    limits: Limits
    levels: tuple[str, ...]

    @property
    def nominal(self) -> bool:
        """Whether it has levels without distances."""
        return self.kind in ("categorical", "boolean", "ordered")

    @property
    def complete(self) -> bool:
        """Whether every value has a place on a continuous axis."""
        return not self.nominal and bool(np.isfinite(self.places).all())


def used(result: Counterfactuals, answers: int, most: int) -> tuple[IntArray, int]:
    """The columns that change in some of the first answers, the most frequent first (of these the one that changes most
    in the first answer), and how many are left out.
    """
    often = result.changed[:answers].sum(axis=0)
    order = np.flatnonzero(often).tolist()
    order.sort(key=lambda j: (-often[j], -change_size(result, j, 0) if result.changed[0, j] else 0.0))
    return np.array(order[:most], dtype=np.intp), max(len(order) - most, 0)


def column(result: Counterfactuals, j: int, answers: int) -> Column:
    """What is drawn of one column."""
    seen, cells = result.scene.observed[j], result.cells[j][: answers + 1]
    texts = tuple(text_of(cell, seen.kind) for cell in cells)
    places, limits = np.full(len(cells), np.nan), (0.0, 1.0)
    if seen.nominal:
        levels = dict.fromkeys(text_of(level, seen.kind) for level in seen.levels)
        levels |= dict.fromkeys(text for text in texts if text != "missing")
        known = list(levels)
        places = np.array([known.index(text) if text in levels else np.nan for text in texts], dtype=np.float64)
        limits = (0.0, float(max(len(known) - 1, 1)))
    else:
        known = []
        places = positions(cells) if cells.dtype.kind == "M" else cells.astype(np.float64)
        places = np.where([is_missing(cell) for cell in cells.tolist()], np.nan, places)
        limits = _span(np.array([seen.low, seen.high]) / (1000.0 if seen.kind == "date" else 1.0), places, seen.kind)
    changed = (False, *(bool(moved) for moved in result.changed[:answers, j]))
    return Column(result.column_names[j], seen.kind, texts, places, changed, limits, tuple(known))


def _span(ends: FloatArray, places: FloatArray, kind: str) -> Limits:
    """From the least to the greatest of the data and of what is drawn; a few integers get half a unit on both sides."""
    known = np.concatenate([ends, places])
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    if high == low:
        return low - 1.0, high + 1.0
    half = 0.5 if kind == "integer" and high - low < FEW_INTEGERS / 2 else 0.0
    return low - half, high + half


def text_of(value: Any, kind: str) -> str:
    """A cell as people read it."""
    if is_missing(value):
        return "missing"
    if kind == "boolean" and not isinstance(value, str):
        return "yes" if value else "no"
    return " ".join(in_full(value).split()) or "(empty)"


def cut(text: str, letters: int = _LETTERS) -> str:
    """A text that is not longer than so many letters."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


def shown(result: Counterfactuals, most: int) -> int:
    """How many answers are drawn."""
    return min(len(result), most)


def output(result: Counterfactuals) -> int:
    """The output that is drawn."""
    return shown_output(result.prediction, result.predictions, result.scale)


def outputs_drawn(result: Counterfactuals, answers: int) -> IntArray:
    """The output that is drawn of each answer: the class that it reaches, where answers reach several."""
    k = output(result)
    wins = np.argmax(result.predictions[:answers], axis=1) if answers else np.empty(0, dtype=np.intp)
    several = result.scale in ("probability", "log-odds") and result.scene.aim is None and not named(result)
    return wins if several and (wins != k).any() else np.full(answers, k)


def predicted(result: Counterfactuals, i: int) -> str:
    """What the model says of an answer (-1: of the row), as briefly as on an axis."""
    outputs = result.prediction if i < 0 else result.predictions[i]
    if result.scale == "probability" and len(outputs) > 1:
        return said(result, outputs)
    value = float(outputs[output(result)])
    return percent_of(value) if result.scale == "probability" else number(value)


def class_text(result: Counterfactuals, value: float, k: int) -> str:
    """The output of a class, as briefly as on an axis."""
    share = percent_of(value) if result.scale == "probability" else number(value)
    return f"{cut(result.output_names[k])} {share}"


def answer_name(result: Counterfactuals, i: int) -> str:
    """``answer 1``, and whether it misses the target."""
    return f"answer {i + 1}{'' if result.valid[i] else ' (misses)'}"


def notes(result: Counterfactuals, answers: int, left_out: int = 0) -> list[str]:
    """The target, what is not drawn, and caveats."""
    more, same = len(result) - answers, _unchanged(result, answers)
    blocked = [each.constraint for each in result.obstacles[:3]]
    return [
        f"target: {result.target}",
        f"it can be reached without {' or '.join(blocked)}" if blocked and not len(result) else "",
        f"{counted(more, 'more answer')} not shown" if more > 0 else "",
        f"{counted(left_out, 'more changed feature')} not shown" if left_out else "",
        f"unchanged: {listed(same, 4)}" if same and answers else "",
        caveat_note(result),
    ]


def _unchanged(result: Counterfactuals, answers: int) -> list[str]:
    moved: BoolArray = np.asarray(result.changed[:answers].any(axis=0))
    return [name for name, some in zip(result.column_names, moved, strict=True) if not some]
