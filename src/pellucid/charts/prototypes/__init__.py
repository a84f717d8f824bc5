"""Charts of prototypes: a table of the examples, the scree plot, a map of all rows, images, and the model's errors."""

from __future__ import annotations

from collections.abc import Callable

from altair.typing import ChartType

from pellucid.charts.prototypes.errors import errors
from pellucid.charts.prototypes.gallery import gallery
from pellucid.charts.prototypes.map import row_map
from pellucid.charts.prototypes.scree import scree
from pellucid.charts.prototypes.table import table
from pellucid.errors import InputError
from pellucid.explanations.plot_options import PrototypeOptions
from pellucid.explanations.prototypes import Prototypes

_KINDS: dict[str, Callable[[Prototypes, PrototypeOptions], ChartType]] = {
    "auto": table,
    "table": table,
    "scree": scree,
    "map": row_map,
    "gallery": gallery,
    "errors": errors,
}


def body(result: Prototypes, options: PrototypeOptions) -> ChartType:
    """The Altair chart."""
    if options.kind == "auto" and result.images:
        return gallery(result, options)
    if options.kind == "table" and result.images:
        raise InputError("kind='table' has the cells of a table; images are drawn by kind='gallery'.")
    return _KINDS[options.kind](result, options)
