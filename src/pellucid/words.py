"""Numbers and short sentences as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Vocabulary:
    """What sentences call the explained ``whole``, the ``part`` that contributes, a perturbed copy (``sample``), what
    contributions ``start`` from and where they ``end``.
    """

    whole: str
    part: str
    sample: str
    start: str = "average prediction"
    end: str = "prediction"

    @property
    def each(self) -> str:
        """``" per row"`` where several are explained at once."""
        return f" per {self.whole}" if self.whole == TABLE.whole else ""


TABLE = Vocabulary("row", "feature", "sample")
EVIDENCE = Vocabulary("row", "feature", "sample", start="prior")
GAME = Vocabulary("game", "player", "coalition", end="worth")


def number(value: float, *, sign: bool = False) -> str:
    """Three significant digits, thousands separated, never an empty ``+0``.

    >>> number(1234.5), number(0.00012345), number(-2.0), number(3.14159, sign=True)
    ('1,234', '0.000123', '-2', '+3.14')
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-6:
        text = f"{value:.2e}"
    else:
        digits = max(0, 2 - math.floor(math.log10(size)))
        text = f"{value:,.{digits}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return f"+{text}" if sign and value > 0 else text


def quantity(value: float, scale: str, *, change: bool = False, sign: bool = True) -> str:
    """A prediction on its scale, or a change of one with its sign: probabilities in percent, changes in points.

    >>> quantity(0.213, "probability"), quantity(0.05, "probability", change=True), quantity(-2.0, "log-odds")
    ('21.3%', '+5 pp', '-2')
    """
    sign = sign and change
    if scale == "probability" and math.isfinite(value):
        return number(100 * value, sign=sign) + (" pp" if change else "%")
    return number(value, sign=sign)


def may_be_year(value: float) -> bool:
    """Whether a whole number may be a calendar year, which nobody writes with a separator.

    >>> may_be_year(2011), may_be_year(5951)
    (True, False)
    """
    return 1500 <= value <= 2100


def value_name(value: Any) -> str:
    """A feature value: a number, a date without an idle midnight, a category as it is."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]"))
        return text.removesuffix("T00:00:00").replace("T", " ")
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value)}" if may_be_year(int(value)) else f"{int(value):,}"
    if isinstance(value, float | np.floating):
        return number(float(value))
    return "missing" if value is None else str(value)


def percent(share: float) -> str:
    """A share as a percentage; small ones are not rounded away.

    >>> percent(0.5), percent(0.004), percent(0.00001), percent(1.0)
    ('50%', '0.4%', 'less than 0.1%', '100%')
    """
    if 0 < share < 0.001:
        return "less than 0.1%"
    return f"{100 * share:.1f}%" if share < 0.0995 and share > 0 else f"{100 * share:.0f}%"


def listed(names: Sequence[str], most: int = 6) -> str:
    """``a, b and c``, with the rest counted."""
    shown = list(names[:most])
    if len(names) > most:
        return ", ".join(shown) + f" and {len(names) - most} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 row``, ``1,200 rows``, ``2 classes``.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


_LOSSES = {
    "mse": "MSE",
    "mae": "MAE",
    "rmse": "RMSE",
    "log_loss": "log loss",
    "brier": "Brier score",
    "error": "error rate",
    "1-r2": "1 − R²",
    "1-auc": "1 − AUC",
}


def loss_name(loss: str) -> str:
    """A loss as people call it; one of the user's own by its own name.

    >>> loss_name("log_loss"), loss_name("my_cost")
    ('log loss', 'my_cost')
    """
    return _LOSSES.get(loss, loss)


def loss_words(loss: str, value: float) -> tuple[str, str]:
    """A loss as people call it, and its value: an error rate is a share.

    >>> loss_words("mse", 2.5), loss_words("error", 0.02)
    (('MSE', '2.5'), ('error rate', '2.0%'))
    """
    return loss_name(loss), percent(value) if loss == "error" else number(value)


def model_name(name: str, library: str) -> str:
    """A model by its class and library; a function by its name, if it has one.

    >>> model_name("Ridge", "scikit-learn"), model_name("risk", "function"), model_name("function", "function")
    ('Ridge (scikit-learn)', 'the function risk', 'a function')
    """
    if library != "function":
        return f"{name} ({library})"
    return "a function" if name == "function" else f"the function {name}"


def with_article(noun: str) -> str:
    """``a row``, ``an image``."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def kind_of(value: object) -> str:
    """What an error calls a value of the wrong kind.

    >>> kind_of(3), kind_of("three")
    ('an int', 'a str')
    """
    return with_article(type(value).__name__)
