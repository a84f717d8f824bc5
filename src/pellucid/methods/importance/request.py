"""What is asked about importance: the options of every method in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pellucid.checks import is_flag, one_of, optional, positive, settle, whole
from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Run

DEFAULTS: dict[str, Any] = {
    "loss": None,
    "compare": "difference",
    "repeats": 5,
    "scheme": "shuffle",
    "p_values": False,
    "grid": 50,
    "at": None,
    "ranges": None,
    "holdout": None,
    "folds": None,
    "refit": None,
    "budget": None,
    "tolerance": None,
}


@dataclass(frozen=True, eq=False)
class Request:
    """The model, the data, and the options; a method reads those that concern it."""

    predictor: Predictor
    data: Data
    background: Any
    loss: Any
    compare: Any
    repeats: int
    scheme: Any
    p_values: bool | int
    grid: int
    at: Any
    ranges: Any
    holdout: Data | None
    folds: Any
    refit: Any
    budget: int | None
    tolerance: float | None
    run: Run

    def __post_init__(self) -> None:
        settle(
            self,
            compare=one_of("compare", self.compare, ("difference", "ratio")),
            scheme=one_of("scheme", self.scheme, ("shuffle", "halves", "pairs")),
            repeats=whole("repeats", self.repeats),
            grid=whole("grid", self.grid),
            budget=optional(whole, "budget", self.budget),
            tolerance=optional(positive, "tolerance", self.tolerance),
        )
        refits: Any = self.p_values
        settle(self, p_values=bool(refits) if is_flag(refits) else whole("p_values", refits, also="True or False"))

    def given(self) -> list[str]:
        """Names of the options that differ from their defaults."""
        return [name for name, usual in DEFAULTS.items() if not _is(getattr(self, name), usual)]

    def only(self, options: tuple[str, ...]) -> Request:
        """The same request with the other options as if they had not been given."""
        return replace(self, **{name: usual for name, usual in DEFAULTS.items() if name not in options})


def _is(value: Any, usual: Any) -> bool:
    """Whether an option has its default; tables and functions are never compared."""
    return value is usual or (type(value) is type(usual) and bool(value == usual))
