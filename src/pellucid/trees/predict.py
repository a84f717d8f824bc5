"""Raw predictions by the compiled twin of `TreeEnsemble.predict`, and from them what the model predicts."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.trees.convert.tree_model import Link, TreeModel
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


_PROBABILITIES = ("logistic", "softmax", "one-vs-rest")


def predictions(raw: FloatArray, link: Link, width: int, scale: str) -> FloatArray | None:
    """Full predictions ``(rows, width)``, or None where the link is not known; one column for two classes is
    completed.
    """
    from scipy.special import expit, softmax

    if link == "other":
        return None
    if link == "identity":
        made = raw
    elif link == "exp":
        made = np.exp(np.minimum(raw, 700.0))
    else:
        made = softmax(raw, axis=1) if link == "softmax" else expit(raw)
    if made.shape[1] == 1 and width == 2:
        mirrored = 1 - made if link in _PROBABILITIES or scale == "probability" else -made
        made = np.hstack([mirrored, made])
    return np.asarray(made, dtype=np.float64)


def magnitude(model: TreeModel, full: FloatArray, *, probability: bool) -> FloatArray:
    """The size of each output, by which differences are judged: single precision rounds to a share of the numbers
    added.
    """
    if probability:
        return np.ones(full.shape[-1])
    return np.maximum(np.abs(full).reshape(-1, full.shape[-1]).max(axis=0, initial=0.0), model.largest)
