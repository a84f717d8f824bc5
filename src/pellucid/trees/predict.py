"""Raw predictions by the compiled twin of `TreeEnsemble.predict`."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.trees.ensemble import Nodes, TreeEnsemble
from pellucid.trees.plain.choice import can_compile


def predict(ensemble: TreeEnsemble, X: FloatArray) -> FloatArray:
    """``(rows, outputs)``."""
    if not can_compile():
        return ensemble.predict(X)
    from pellucid.trees.kernels.predict import add_predictions

    nodes = ensemble.nodes
    out = np.tile(ensemble.base, (len(X), 1))
    rows = np.ascontiguousarray(X, dtype=np.float64)
    add_predictions(columns_of(nodes), nodes.sets, nodes.value, ensemble.roots, ensemble.output, rows, out)
    return out


def columns_of(nodes: Nodes) -> tuple[AnyArray, ...]:
    """The arrays of the nodes in the order in which the kernels unpack them."""
    return (
        nodes.feature,
        nodes.threshold,
        nodes.left,
        nodes.right,
        nodes.missing_left,
        nodes.cover,
        nodes.set_start,
        nodes.set_words,
        nodes.other_left,
    )
