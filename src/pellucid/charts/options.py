"""Options of charts: fixed names, checked before anything is drawn."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pellucid.errors import InputError, nearest
from pellucid.explanations import Importance

DISTRIBUTIONS = ("histogram", "rug", None)
KINDS = ("auto", "surface")
ORDERS = ("given", "cluster")
ATTRIBUTION_KINDS = (
    "auto",
    "waterfall",
    "force",
    "bar",
    "beeswarm",
    "stacked",
    "dependence",
    "interactions",
    "decision",
)
ROW_ORDERS = ("cluster", "given", "prediction")
AGGREGATES = ("mean", "sum")


@dataclass(frozen=True, kw_only=True)
class SizeOptions:
    """What every chart takes: ``width`` and ``height`` of the (main) plotting area in pixels, and ``title``."""

    width: float | None = None
    height: float | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and value > 0):
                raise InputError(f"{name}={value!r} is no size; give a positive number of pixels.")
        if self.title is not None and not isinstance(self.title, str):
            raise InputError(f"title={self.title!r} is no text; give a string.")


@dataclass(frozen=True, kw_only=True)
class EffectOptions(SizeOptions):
    """Options of effects.

    ``distribution`` shows the data below a curve ("histogram"), on its axis ("rug") or not (None).
    ``colour`` is "auto" (individual curves by the feature that explains them), None (off) or a colour.
    ``max_lines`` limits the individual curves drawn, ``show_data`` puts rows of data on a heat map.
    ``kind`` is "auto" or, for two numeric features, "surface": seen in space instead of as a heat map.
    """

    colour: str | None = "auto"
    max_lines: int = 200
    distribution: str | None = "histogram"
    show_data: bool = True
    kind: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("distribution", self.distribution, DISTRIBUTIONS)
        _one_of("kind", self.kind, KINDS)
        _whole("max_lines", self.max_lines)
        if self.colour is not None and not isinstance(self.colour, str):
            raise InputError(f"colour={self.colour!r} is no colour; give 'auto', None or a name such as 'teal'.")


@dataclass(frozen=True, kw_only=True)
class PanelOptions(EffectOptions):
    """Options of several effects in one chart: ``labels`` names the curves of an overlay."""

    labels: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class ImportanceOptions(SizeOptions):
    """Options of importance: features shown, and a second result ``against`` the first, named by ``labels``."""

    max_display: int = 20
    against: Importance | None = None
    labels: Sequence[str] = ("train", "test")

    def __post_init__(self) -> None:
        super().__post_init__()
        _whole("max_display", self.max_display)
        if self.against is not None and not isinstance(self.against, Importance):
            raise InputError("against= takes the result of another importance().")
        if isinstance(self.labels, str) or len(self.labels) != 2 or self.labels[0] == self.labels[1]:
            raise InputError(f"labels={self.labels!r}: give two different names, such as ('train', 'test').")


@dataclass(frozen=True, kw_only=True)
class AssociationsOptions(SizeOptions):
    """Options of associations: ``order`` of the features, as "given" or by "cluster"."""

    order: str = "given"

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("order", self.order, ORDERS)


@dataclass(frozen=True, kw_only=True)
class AttributionOptions(SizeOptions):
    """Options of contributions.

    ``kind`` of chart ("auto": a waterfall for one row, else a beeswarm) and ``max_display``, the number of features
    shown. "bar": ``aggregate`` of absolute values, "mean" or "sum". "stacked": ``order`` of the rows, by "cluster",
    "given" or "prediction", and into how many ``clusters`` to cut them. "dependence": the ``feature`` (by default
    the one that contributes most) and the ``colour``: "auto" (the strongest interaction), a feature's name or None.
    """

    kind: str = "auto"
    max_display: int = 12
    aggregate: str = "mean"
    order: str = "cluster"
    clusters: int | None = None
    feature: str | None = None
    colour: str | None = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("kind", self.kind, ATTRIBUTION_KINDS)
        _one_of("order", self.order, ROW_ORDERS)
        _one_of("aggregate", self.aggregate, AGGREGATES)
        _whole("max_display", self.max_display)
        for name, kind in _OWN_KIND.items():
            if self.kind != kind and getattr(self, name) != getattr(AttributionOptions, name):
                raise InputError(f"{name}= is an option of kind={kind!r}; give kind={kind!r} with it.")
        if self.clusters is not None:
            _whole("clusters", self.clusters)
            if self.order != "cluster":
                raise InputError(
                    f"clusters={self.clusters!r} needs rows in clusters; use order='cluster', not {self.order!r}."
                )


# Options that only one kind of chart knows what to do with.
_OWN_KIND = {
    "aggregate": "bar",
    "order": "stacked",
    "clusters": "stacked",
    "feature": "dependence",
    "colour": "dependence",
}


Kind = TypeVar("Kind", bound=SizeOptions)


def read_options(kind: type[Kind], given: Mapping[str, Any]) -> Kind:
    """The options, or an error that names the nearest known one."""
    known = [field.name for field in dataclasses.fields(kind)]
    for name in given:
        if name not in known:
            raise InputError(f"{name!r} is not an option of this chart{nearest(name, known)}")
    return kind(**given)


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        words = nearest(str(value), [option for option in allowed if isinstance(option, str)])
        none = " None switches it off." if None in allowed else ""
        raise InputError(f"{name}={value!r} is not known{words}{none}")


def _whole(name: str, value: Any) -> None:
    if not (_is_number(value) and int(value) == value and value >= 1):
        raise InputError(f"{name}={value!r}: give a whole number, at least 1.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
