"""The steps of a report: says which one is next, and keeps the results for their cost and settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pellucid.explanations import Explanation
from pellucid.runner import Run

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
