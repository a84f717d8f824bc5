"""WidthSearch: what local models are like at every width of the neighbourhood that was tried."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, freeze
from pellucid.explanations.explanation import native_table, squeeze_outputs
from pellucid.explanations.store import stored

_BY_OUTPUT = ("near", "fidelity", "selection", "stability", "agreement", "weights", "spread")


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class WidthSearch:
    """All kernel widths that were tried for each row, and what was found at each.

    ``widths`` and ``effective`` (rows, widths) are the widths, NaN where a row has fewer, and how many samples count.
    ``near`` and ``fidelity`` are R2 on samples that were not fitted, those nearest to the row and those of the width's
    own neighbourhood; ``selection``, ``stability`` and ``agreement`` are indices over repeats (`LocalAttribution`).
    ``weights`` (rows, widths, terms) are those of the local models, ``spread`` their standard deviation over repeats.
    These have outputs last if there are several. ``chosen`` (rows,) is the width that was taken.
    """

    widths: FloatArray
    effective: FloatArray
    near: FloatArray
    fidelity: FloatArray
    selection: FloatArray
    stability: FloatArray
    agreement: FloatArray
    weights: FloatArray
    spread: FloatArray
    chosen: FloatArray
    output_names: tuple[str, ...]
    library: str = "pandas"

    def __post_init__(self) -> None:
        freeze(self)

    def _arrays(self) -> list[str]:
        return [field.name for field in fields(self) if field.name not in ("output_names", "library")]

    @property
    def any(self) -> bool:
        """Whether there is a width at all; Shapley's kernel has none."""
        return not bool(np.isnan(self.widths).all())

    def stacked(self, name: str) -> FloatArray:
        """A field with the axis of outputs, also where there is only one."""
        part: FloatArray = getattr(self, name)
        return part if len(self.output_names) > 1 else part[..., None]

    def rows(self, which: IntArray) -> WidthSearch:
        """The widths of some rows."""
        return replace(self, **{name: getattr(self, name)[which] for name in self._arrays()})

    def for_outputs(self, names: tuple[str, ...]) -> WidthSearch:
        """The same for some outputs alone."""
        kept = [self.output_names.index(name) for name in names]
        parts: dict[str, Any] = {part: squeeze_outputs(self.stacked(part)[..., kept]) for part in _BY_OUTPUT}
        return replace(self, output_names=names, **parts)

    def mirrored(self, name: str) -> WidthSearch:
        """The same for the other of two classes, of this name: all weights change their sign."""
        return replace(self, output_names=(name,), weights=-self.weights)

    def frame(self) -> Any:
        """A table in the caller's own dataframe library: one line per row, width and output."""
        n, w, m = (*self.widths.shape, len(self.output_names))
        columns: dict[str, AnyArray] = {
            "row": np.repeat(np.arange(n), w * m),
            "width": np.repeat(self.widths.ravel(), m),
            "effective": np.repeat(self.effective.ravel(), m),
            **{name: getattr(self, name).ravel() for name in _BY_OUTPUT[:5]},
            "chosen": np.repeat((self.widths == self.chosen[:, None]).ravel(), m),
        }
        if m > 1:
            columns["output"] = np.tile(np.array(self.output_names, dtype=object), n * w)
        return native_table({name: part[~np.isnan(columns["width"])] for name, part in columns.items()}, self.library)
