"""What charts of counterfactuals stand on: what was observed of each column, and predictions over two of them."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.arrays import AnyArray, FloatArray
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True)
class Observed:
    """What the data hold of one column: its kind, least and greatest value as codes (dates in microseconds since 1970),
    or its levels in their order.
    """

    kind: str
    low: float
    high: float
    levels: tuple[str, ...] = ()

    @property
    def nominal(self) -> bool:
        """Whether it has levels without distances."""
        return self.kind in ("categorical", "boolean", "ordered")


@stored
@dataclass(frozen=True, eq=False)
class Surface:
    """Predictions over two columns, all others as in the row that is explained.

    ``values`` (first grid, second grid) are those of one ``output``; ``margin`` says how far each prediction is inside
    the target (at least 0 where it is reached), so that the edge of the target is where it passes 0.
    """

    names: tuple[str, str]
    output: str
    grids: tuple[AnyArray, AnyArray]
    values: FloatArray
    margin: FloatArray


@stored
@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn around the answers: what the data hold of each column, between which ends the target lies (``aim``,
    where it is an interval of the output that is shown), and predictions over two features where they were asked for.
    """

    observed: tuple[Observed, ...] = ()
    aim: tuple[float, float] | None = None
    surface: Surface | None = None
