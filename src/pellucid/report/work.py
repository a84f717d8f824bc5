"""The work of a report: its steps, the results kept for their cost and settings, and what may be asked of the model.

Contributions have a bounded price: how many rows are explained, against which background, with what budget. Trees and
sums of terms are read, exactly and quickly. Any other model has to be asked, and all contributions of a report together
ask it for at most `MODEL_ROWS` rows: a few rows of background, a sample of rows for the picture of the whole, and as
many coalitions of features for the individual rows as are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pellucid.arrays import IntArray
from pellucid.errors import InputError
from pellucid.explanations import Attribution, Explanation
from pellucid.runner import Run

if TYPE_CHECKING:
    from pellucid.explainer import Explainer


Step = Callable[[str, int, int], None]  # what is done next, steps done, steps in all
Result = TypeVar("Result", bound=Explanation)

_SECONDS = 40.0  # that the model may take for one request


class Work:
    """So many steps; ``run`` asks the model for what belongs to no result."""

    def __init__(self, total: int, progress: Step | None) -> None:
        self.results: list[Explanation] = []
        self.run = Run(progress=False)
        self._progress = progress
        self._asked = 0
        self._done, self._total = 0, total

    def step(self, what: str) -> None:
        """Say what is done next."""
        if self._progress is not None:
            self._progress(what, self._done, self._total)
        self._done += 1

    def finish(self) -> None:
        """Say that all is done."""
        if self._progress is not None:
            self._progress("done", self._total, self._total)

    def keep(self, result: Result) -> Result:
        """Note a result; one that was interrupted ends the report."""
        if any(item.code == "partial" for item in result.caveats):
            raise KeyboardInterrupt
        self.results.append(result)
        return result

    def count(self, rows: int) -> None:
        """Note model rows that were asked for elsewhere."""
        self._asked += rows

    @property
    def seconds_per_row(self) -> float:
        """How long the model takes for a row, at the best of what it was asked so far: a pause of the machine does not
        count.
        """
        spent = [self.run.cost(), *(result.cost for result in self.results)]
        asked = [(cost.model_seconds, cost.model_rows + cost.check_rows) for cost in spent]
        return min((seconds / rows for seconds, rows in asked if rows), default=0.0)

    def affordable(self, rows: int) -> int:
        """So many model rows; of a slow model a quarter, a sixteenth and so on, until they take less than a minute.

        Coarse steps, so that a report does not change with every breath of the machine: any model that answers
        ten thousand rows a second is asked for all of them.
        """
        while rows > 1 and rows * self.seconds_per_row > _SECONDS:
            rows //= 4
        return rows

    def cost(self) -> dict[str, Any]:
        """Rows are the same every time; seconds are not, so the page leaves them out."""
        spent = [self.run.cost(), *(result.cost for result in self.results)]
        return {
            "model_rows": self._asked + sum(cost.model_rows + cost.check_rows for cost in spent),
            "model_seconds": sum(cost.model_seconds for cost in spent),
            "total_seconds": sum(result.cost.total_seconds for result in self.results),
        }


MODEL_ROWS = 200_000  # what follows adds up to this, with room for checks
REPORT_ROWS = 250_000  # of the data
LOOKED = 20_000  # rows whose predictions are compared
_PROBE = 20_000  # model rows for the first question, which shows whether the model has to be asked
_SHARE = 75_000  # model rows for the sample, and as many for the individual rows

_PERMUTED, _FEWEST_PERMUTED = 2_000_000, 10_000  # model rows for importance by permutation, unless rows are so few

_SAMPLE = 200  # rows of the picture of the whole; more no longer changes it
_FEWEST = 5  # below that there is no such picture
_ENOUGH = 20  # rows for which a smaller background is a good bargain
_BACKGROUND = (10, 50)  # rows of it, where the model has to be asked


@dataclass(frozen=True, eq=False)
class Asking:
    """How contributions are asked for: by whom, of how many rows for the whole, and for how many model rows.

    ``least`` is the number of model rows that one row takes at least; 0 where the model is read. ``share`` is what the
    sample may take, and the individual rows as much again.
    """

    explainer: Explainer
    sample: int
    share: int
    least: int = 0

    def overall(self) -> tuple[IntArray, Attribution]:
        """Positions of a sample of rows, evenly spaced, and their contributions."""
        rows = spread(self.explainer, max(self.sample, _FEWEST))
        return rows, self.of(rows)

    def of(self, rows: IntArray) -> Attribution:
        """The contributions in some rows, by position."""
        if self.least * len(rows) > self.share:
            raise _too_dear(self.explainer, len(rows), self.least * len(rows))
        return self.explainer.shap(rows.tolist(), budget=self.share if self.least else None)


def find_asking(explainer: Explainer, work: Work) -> Asking:
    """Explain one row to see whether the model is read or asked; a slow model is asked for less."""
    share = work.affordable(_SHARE)
    players = len(explainer.data.schema.players())
    least = min(2**players, 2 * max(players, 16))  # coalitions of which something can be learnt
    good = min(2**players, 2 * max(2 * players, 16))
    thrifty = copy(explainer)
    if explainer.background is None or isinstance(explainer.background, int | np.integer):
        some = min(_BACKGROUND[1], max(_BACKGROUND[0], share // (_ENOUGH * good)))
        thrifty.background = some if explainer.background is None else min(some, explainer.background)
        price = min(int(thrifty.background), len(explainer.data))
    else:
        price = len(explainer.data.rows(explainer.background))
    try:
        # Intervals of any width will do: how the answer is found is all that matters here.
        one = work.keep(thrifty.shap(spread(explainer, 1).tolist(), budget=_PROBE, tolerance=1e300))
    except InputError:
        if least * price > _PROBE:
            raise _too_dear(explainer, 1, least * price) from None
        raise
    if one.method in ("tree", "linear"):
        return Asking(explainer, _SAMPLE, share)
    return Asking(thrifty, min(_SAMPLE, share // (good * price)), share, least * price)


def _too_dear(explainer: Explainer, rows: int, needed: int) -> InputError:
    some = "one row takes" if rows == 1 else f"{rows} rows take"
    return InputError(
        f"the model ({explainer.predictor.name}) has to be called, and {some} at least {needed:,} model rows, more than"
        f" a report spends on this (at most {MODEL_ROWS:,} for all contributions); make groups of features (groups=),"
        " give a smaller background (background=) or explain fewer rows."
    )


def spread(explainer: Explainer, limit: int) -> IntArray:
    """At most so many positions, evenly spaced among the rows that count."""
    counting = np.flatnonzero(explainer.data.weights > 0)
    if len(counting) <= limit:
        return counting
    return np.asarray(counting[np.linspace(0, len(counting) - 1, limit).astype(np.intp)])


def unaided(explainer: Explainer) -> Explainer:
    """The same without what earlier calls have learnt: a report says how many rows it asked the model for, which is the
    same whatever the Explainer was used for before.
    """
    other = copy(explainer)
    sample = explainer.predictor.sample  # learnt when the Explainer was made
    other._known = {"sample": sample} if len(sample) else {}
    return other


def looked_at(explainer: Explainer, asked: Sequence[int], most: int = REPORT_ROWS) -> tuple[Explainer, list[int]]:
    """The same model with at most so many of the rows, drawn at random, those that were ``asked`` for among them, and
    where these are: no number of a report that is worth printing changes with more, only its time.
    """
    data = explainer.data
    counting = np.flatnonzero(data.weights > 0)
    if len(counting) <= most:
        return explainer, list(asked)
    drawn = explainer._run("report").generator("report.rows").choice(counting, most, replace=False, shuffle=False)
    rows = np.union1d(drawn, np.asarray(asked, dtype=np.intp))
    return with_rows(explainer, rows), np.searchsorted(rows, np.asarray(asked, dtype=np.intp)).tolist()


def with_rows(explainer: Explainer, rows: IntArray) -> Explainer:
    """The same model with some of the rows."""
    other = copy(explainer)
    other._known = {}  # what is known of other rows
    other.data = explainer.data.take(rows)
    return other


def to_permute(explainer: Explainer, model_rows: int = _PERMUTED, fewest: int = _FEWEST_PERMUTED) -> Explainer:
    """The same model with so many of the rows, evenly spaced, that permuting every feature five times is affordable."""
    return focused(explainer, max(model_rows // (5 * len(explainer.data.schema.players())), fewest))


def focused(explainer: Explainer, most: int, output: str | None = None) -> Explainer:
    """The same model with one output (where one is named) and at most so many of the rows, evenly spaced."""
    rows, outputs = spread(explainer, most), explainer.predictor.output_names
    if len(rows) == len(explainer.data) and output in (None, *outputs[: len(outputs) == 1]):
        return explainer
    other = with_rows(explainer, rows)
    if output is not None:
        other.predictor = copy(explainer.predictor)
        other.predictor._outputs = explainer.predictor._outputs.chosen(output)
    return other
