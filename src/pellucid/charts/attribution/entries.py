"""Which contributions are drawn, what becomes of the others, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.charts.text import level_names, shown
from pellucid.data.natural import common_start
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_views import sum_error
from pellucid.explanations.attribution_words import grouped, labels_of, scale_of, sequence, start_name, starting_point
from pellucid.words import counted, number

UP, DOWN = "up", "down"


@dataclass(frozen=True)
class Step:
    """One contribution to one row, or the sum of several: its label, value and half of its 95% interval."""

    label: str
    value: float
    half: float


def steps(one: Attribution, row: int, max_display: int) -> list[Step]:
    """The contributions to a row, largest first or step by step; those beyond ``max_display`` are the last one
    together.
    """
    values, labels = one.values[row], labels_of(one, row)
    half = half_widths(one)[row]
    kept, rest = fold(sequence(one, row), max_display)
    found = [Step(labels[j], float(values[j]), float(half[j])) for j in kept]
    if len(rest):
        found.append(Step(f"{len(rest)} others", float(values[rest].sum()), _half_of_sum(one, row, rest)))
    return found


def _half_of_sum(one: Attribution, row: int, members: IntArray) -> float:
    """Half of the 95% interval of a sum of contributions, as wide as it can be."""
    low, high = one.interval()
    return float(np.nan_to_num(sum_error((high - low)[row] / 2, members, one.additivity)))


def fold(order: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """The first ``most`` positions and none, or one less and the rest, which take one place together."""
    return (order, order[:0]) if len(order) <= most else (order[: most - 1], order[most - 1 :])


def half_widths(one: Attribution) -> FloatArray:
    """Half of each contribution's 95% interval; zero where it is exact or its error unknown."""
    low, high = one.interval()
    return np.nan_to_num((high - low) / 2)


COLUMNS = 2  # outputs side by side


def has_legend(attribution: Attribution, output: str) -> bool:
    """Whether the legends of all views stand beside this one: the last of the first line, with nothing at its right."""
    outputs = attribution.output_names
    return output == outputs[min(COLUMNS, len(outputs)) - 1]


def evenly(n: int, most: int) -> IntArray:
    """At most ``most`` of ``n`` positions, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


_LETTERS = 46  # of a label; the tooltip has it in full
_LEAST_NAME = 8  # letters that stay of a name beside a long value
_DIGITS = "0123456789.,"
_WHOLE = 32  # letters of a value that is never cut; numbers are shorter


def title(attribution: Attribution, kind: str) -> str:
    """What the picture shows."""
    start = starting_point(attribution)
    some = counted(len(attribution), "prediction")
    named = attribution.row_labels.of_row()
    this = f"the prediction{named}" if named else "this prediction"
    one = f"From {start} to {this if len(attribution) == 1 else 'predictions'}"
    titles = {
        "waterfall": one,
        "force": one,
        "decision": one,
        "stacked": f"Contributions to {some}, row by row",
        "interactions": f"Interactions in {some}",
    }
    return titles.get(kind, f"Contributions to {some}")


def view_name(attribution: Attribution, output: str) -> str:
    """The name above the view of one of several outputs; for one row with its numbers."""
    if len(attribution) > 1:
        return output
    return f"{output}, {_numbers(attribution.for_output(output))}"


def who_and_where(attribution: Attribution) -> list[str]:
    """Prediction, base and difference of one row, or the base alone; and the game."""
    if len(attribution) == 1 and len(attribution.output_names) == 1:
        notes = [_numbers(attribution)]
    else:
        bases = [shown(float(base), attribution.scale, change=False) for base in np.ravel(attribution.base)]
        notes = [f"{start_name(attribution)}: {', '.join(bases[:4])}{', ...' if len(bases) > 4 else ''}"]
    if attribution.game and attribution.game != attribution.vocabulary.whole:  # a text has one game only
        notes.append(f"{attribution.game} game")
    hidden = attribution.entries.hidden
    if hidden is not None:
        notes.append(
            f"{shown(float(hidden.mean()), 'probability', change=False)} of the absolute contributions are in"
            f" {attribution.feature_names[-1]}"
        )
    return notes


def _numbers(one: Attribution) -> str:
    prediction, base = float(one.prediction[0]), float(one.base)
    return (
        f"prediction: {shown(prediction, one.scale, change=False)}, {start_name(one)}: "
        f"{shown(base, one.scale, change=False)}, difference: {change(prediction - base, one.scale)}"
    )


def change(value: float, scale: str, half: float = 0.0, *, sign: bool = True) -> str:
    """A contribution with its sign, and half its interval where it is an estimate."""
    factor, unit = (100.0, " pp") if scale == "probability" else (1.0, "")
    spread = f" ± {number(factor * half)}" if half > 0 else ""
    return f"{number(factor * value, sign=sign)}{spread}{unit if np.isfinite(value) else ''}"


def axis_title(attribution: Attribution, output: str, what: str = "contribution") -> str:
    """The contributions and their scale."""
    return f"{what} to the prediction{scale_of(attribution, output)}"


def prediction_title(attribution: Attribution, output: str) -> str:
    """The prediction and its scale."""
    return f"prediction{scale_of(attribution, output)}"


def not_shown(attribution: Attribution, max_display: int) -> list[str]:
    """How many features are left out, if any are."""
    hidden = len(attribution.feature_names) - max_display
    return [f"{counted(hidden, 'more feature')} not shown"] if hidden > 0 else []


def rows_note(drawn: int, attribution: Attribution, what: str = "") -> list[str]:
    """How many of the rows are drawn, if not all."""
    n = len(attribution)
    return [f"{what}{drawn:,} of {n:,} rows"] if drawn < n else []


def short_names(labels: Iterable[str]) -> list[str]:
    """Labels that are all different and none of which fills the page."""
    found: dict[str, None] = {}
    for label in labels:
        (short,) = level_names([short_label(label)])
        while short in found:  # the prime goes to the name: behind a number it would be part of it
            name, equals, value = short.rpartition(" = ")
            short = f"{name}\u2032{equals}{value}" if equals else f"{short}\u2032"
        found[short] = None
    return list(found)


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Names of bounded length that stay different: where the ends of some are the same, without what all begin with.

    >>> told_apart(["Part number 1 of the town", "Part number 2 of the town"], 16)
    ['…1 of the town', '…2 of the town']
    """
    short = [shortened(name, most) for name in names]
    if len(set(short)) == len(set(names)):
        return short
    start = len(common_start(names))
    while start and names[0][start - 1].isalnum():  # a word or a number is not torn
        start -= 1
    return [f"…{shortened(name[start:], most - 1)}" for name in names]


def short_label(label: str, most: int = _LETTERS) -> str:
    """``name = value`` with the name cut, never a number: it is longer than ``most`` where the value is.

    >>> short_label("measurement number twelve = -1.3 (not 20.5)", 30)
    'measurem…lve = -1.3 (not 20.5)'
    """
    words = " ".join(label.split())
    name, equals, value = words.rpartition(" = ")
    if len(words) <= most or not equals:
        return shortened(words, most)
    if len(value) > max(_WHOLE, most - _LEAST_NAME - len(equals)):  # a long text: no number
        value = shortened(value, max(_WHOLE, most // 2))
    return f"{shortened(name, max(most - len(equals) - len(value), _LEAST_NAME))}{equals}{value}"


def shortened(label: str, most: int = _LETTERS) -> str:
    """A name of bounded length, cut in the middle: names often differ at their end."""
    words = " ".join(label.split())
    if len(words) <= most:
        return words
    tail = (most - 1) // 3
    left, gap, right = words[: most - 1 - tail], words[most - 1 - tail : -tail], words[-tail:]
    if gap[0] in _DIGITS:  # half a number is a wrong one
        left = left.rstrip(_DIGITS) or left
    if gap[-1] in _DIGITS:
        right = right.lstrip(_DIGITS) or right
    return f"{left.rstrip()}\u2026{right.lstrip()}"


def part_name(one: Attribution, j: int) -> str:
    """A part of a text or image by its name; what is drawn as one with others says so."""
    label = one.label(j, 0)
    if one.entries.others == j:
        return f"one of {label}, which contribute together"
    return f"{label} (together, in one colour)" if grouped(one, j) else label


def others_note(attribution: Attribution, outputs: Iterable[str]) -> str:
    """What the grey parts, which have no contribution of their own any more, contribute together."""
    j = attribution.entries.others
    if j is None:
        return ""
    several = len(attribution.output_names) > 1
    sums = [
        change(float(attribution.for_output(name).values[0, j]), attribution.scale) + (f" to {name}" if several else "")
        for name in outputs
    ]
    return f"grey: {attribution.feature_names[j]} together {', '.join(sums)}"
