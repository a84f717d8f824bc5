"""Coefficients: what a linear model has learned, with how far it is sure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.errors import InputError, nearest
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import CoefficientsOptions
from pellucid.explanations.store import stored
from pellucid.words import listed, number, percent

# What the exponential of a coefficient is, by link.
FACTORS = {"log": "factor", "logit": "odds_ratio", "softmax": "odds_ratio"}


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Coefficients(Explanation, options=CoefficientsOptions):
    """The coefficients of a linear, logistic or generalised linear model, the intercept first; or the slopes of one
    feature at the levels of another that it interacts with (no intercept among them).

    ``values`` and ``se`` have one number per column of the design matrix (`feature_names`), classes last if there are
    several; ``low`` and ``high`` bound an interval of the given ``level``. ``scales`` are the standard deviations of
    the columns, ``reading`` says in words what each of the first output means. A column without a standard error has
    no coefficient of its own (it follows from others), or was fitted with a penalty.
    """

    low: FloatArray
    high: FloatArray
    level: float
    link: str
    scales: FloatArray
    reading: tuple[str, ...]

    def __getitem__(self, column: str) -> float | FloatArray:
        """The coefficient of one column: ``model.coefficients()["temp"]``."""
        if column not in self.feature_names:
            raise InputError(f"there is no column {column!r}{nearest(str(column), self.feature_names)}")
        value = self.values[self.feature_names.index(column)]
        return float(value) if value.ndim == 0 else value

    @property
    def t(self) -> FloatArray:
        """Coefficients in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.values / self.se)

    @property
    def standardised(self) -> FloatArray:
        """Change of the sum with one standard deviation of the column: what compares across units."""
        return np.asarray((self.values.T * self.scales).T)

    @property
    def factor(self) -> FloatArray | None:
        """What one unit more multiplies the prediction by (log link) or the odds (logit); None with other links."""
        return np.exp(self.values) if self.link in FACTORS else None

    @property
    def slopes_from(self) -> int:
        """Where slopes begin: after the intercept, if there is one."""
        return int(self.settings["method"] == "coefficients")

    def columns(self) -> dict[str, AnyArray]:
        """One line per column and class."""
        k = len(self.output_names)
        names = np.repeat(np.array(self.feature_names, dtype=object), k)
        parts = {"coefficient": self.values, "se": self.se, "low": self.low, "high": self.high, "t": self.t}
        parts["standardised"] = self.standardised
        if self.factor is not None:
            parts |= {
                FACTORS[self.link]: self.factor,
                f"{FACTORS[self.link]}_low": np.exp(self.low),
                f"{FACTORS[self.link]}_high": np.exp(self.high),
            }
        outputs = (
            {"output": np.tile(np.array(self.output_names, dtype=object), len(self.feature_names))} if k > 1 else {}
        )
        return {"column": names, **outputs, **{name: part.ravel() for name, part in parts.items()}}

    def findings(self) -> list[str]:
        """What is certain of its sign in the first output, the strongest first, and what is not."""
        first = self.slopes_from
        low, high = self.stacked("low")[first:, 0], self.stacked("high")[first:, 0]
        sure = (low > 0) | (high < 0)
        strength = np.abs(self.stacked("values")[first:, 0] * self.scales[first:])
        order = [int(j) + first for j in np.argsort(-strength, kind="stable")] if first else list(range(len(strength)))
        told = [self.reading[j] for j in order if sure[j - first]]
        unsure = [self.feature_names[j] for j in order if not sure[j - first] and np.isfinite(self.stacked("se")[j, 0])]
        fixed = [self.feature_names[j] for j in order if not np.isfinite(self.stacked("se")[j, 0])]
        lines = told[:6] or [f"The sign of no {'coefficient' if first else 'slope'} is certain."]
        if len(told) > 6:
            verb = "coefficient is" if len(told) == 7 else "coefficients are"
            lines.append(f"{len(told) - 6} more {verb} certain of the sign: see .frame().")
        if unsure:
            verb = "has" if len(unsure) == 1 else "have"
            lines.append(f"{listed(unsure)} {verb} a {percent(self.level)} interval that includes no effect.")
        if fixed:
            lines.append(f"No standard error is known of {listed(fixed)}.")
        return lines

    def _headline(self) -> str:
        return self.findings()[0]

    def interval(self, column: str) -> str:
        """The interval of a column's coefficient in words; of the first output."""
        j = self.feature_names.index(column)
        return f"{number(float(self.stacked('low')[j, 0]))} to {number(float(self.stacked('high')[j, 0]))}"
