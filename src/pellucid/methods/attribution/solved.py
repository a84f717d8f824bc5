"""What every way of working out contributions gives, before it becomes an `Attribution`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pellucid.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Solved:
    """Arrays with rows first and outputs last, also where there is only one."""

    method: str
    values: FloatArray
    se: FloatArray
    base: FloatArray
    prediction: FloatArray
    interactions: FloatArray | None
    scale: str
    background: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    interactions_se: FloatArray | None = None
