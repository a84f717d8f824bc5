"""A caveat: what an explanation cannot be trusted for on these data, with the number that says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Caveat:
    """One measured weakness: what was found, the number that fired it, and what to do instead."""

    code: str
    message: str
    value: float
    threshold: float
    advice: str
    feature: str | None = None

    def __str__(self) -> str:
        return f"{self.message} {self.advice}"
