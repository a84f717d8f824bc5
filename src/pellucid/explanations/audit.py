"""Audit: can explanations of this model be trusted on these data?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.store import stored
from pellucid.words import counted


@stored
@dataclass(frozen=True, kw_only=True)
class AuditLine:
    """One question to the model: what was found, the number and from where on it is bad, and what to do then.

    ``severity`` is 0 where nothing speaks against explanations and 1 at worst; ``code`` is that of the caveat.
    """

    topic: str
    finding: str
    value: float
    threshold: float
    severity: float
    advice: str
    code: str
    feature: str | None = None

    @property
    def bad(self) -> bool:
        """Whether it speaks against explanations."""
        return self.severity > 0


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Audit(Explanation):
    """What was checked of the model before its explanations are believed: `lines`, and their numbers (`values`)."""

    lines: tuple[AuditLine, ...]

    @property
    def severity(self) -> float:
        """That of the worst line; 0 where nothing was found."""
        return max((line.severity for line in self.lines), default=0.0)

    def line(self, topic: str) -> AuditLine:
        """The line about a topic, such as "score"."""
        return next(line for line in self.lines if line.topic == topic)

    def columns(self) -> dict[str, AnyArray]:
        lines = self.lines
        return {
            "topic": np.array([line.topic for line in lines], dtype=object),
            "value": np.array([line.value for line in lines]),
            "threshold": np.array([line.threshold for line in lines]),
            "severity": np.array([line.severity for line in lines]),
            "finding": np.array([line.finding for line in lines], dtype=object),
            "advice": np.array([line.advice for line in lines], dtype=object),
        }

    @property
    def verdict(self) -> str:
        """How many checks speak against explanations."""
        bad = sum(line.bad for line in self.lines)
        if not bad:
            return f"None of {counted(len(self.lines), 'check')} casts doubt on explanations of this model."
        cast = "casts" if bad == 1 else "cast"
        return f"{bad} of {counted(len(self.lines), 'check')} {cast} doubt on explanations of this model."

    def findings(self) -> list[str]:
        below = {caveat.message for caveat in self.caveats}  # where the text says them with what to do
        said = [f"{line.topic.capitalize()}: {line.finding}" for line in self.lines if line.finding not in below]
        return [self.verdict, *said]
