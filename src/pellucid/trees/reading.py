"""A model's trees, read once for all questions of an Explainer.

Columns that no split compares are left out: a wide table of counts becomes as narrow as the trees are. Sparse tables
are encoded in portions, so that the whole is never filled in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import PellucidError
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.trees.convert import NotTrees, TreeModel, Unsupported, convert
from pellucid.trees.convert.tree_model import stumbled
from pellucid.trees.rows import portions


def read(run: Run, predictor: Predictor, *, missed: bool = True) -> TreeModel | Unsupported:
    """The trees, or the reason why they are not read; the run takes note of it where they exist and are ``missed``."""
    found = run.remember("trees", lambda: _converted(predictor))
    if missed and isinstance(found, Unsupported) and not isinstance(found, NotTrees):
        run.unread = str(found)
    return found


def _converted(predictor: Predictor) -> TreeModel | Unsupported:
    """The trees, if they also understand the rows that the model was first asked with."""
    try:
        model = narrowed(convert(predictor.model))
    except Unsupported as reason:
        return reason
    try:
        model.encode(predictor.dressed(predictor.probe))
    except PellucidError:  # about these rows, and said where they are explained
        return model
    except Exception as error:
        return Unsupported(stumbled(f"the table that {predictor.name} takes is not understood", error))
    return model


def narrowed(model: TreeModel) -> TreeModel:
    """The same trees on the columns that they compare."""
    nodes = model.ensemble.nodes
    columns = np.unique(nodes.feature[nodes.feature >= 0])
    if len(columns) in (0, model.ensemble.n_features):
        return model
    place = np.full(model.ensemble.n_features, -1)
    place[columns] = np.arange(len(columns))
    feature = np.where(nodes.feature >= 0, place[nodes.feature], -1)
    ensemble = replace(model.ensemble, nodes=replace(nodes, feature=feature), n_features=len(columns))
    encode = _Narrow(model.encode, columns, model.ensemble.n_features)
    return replace(model, ensemble=ensemble, encode=encode, source=model.source[columns])


@dataclass(frozen=True, eq=False)
class _Narrow:
    encode: Callable[[Any], FloatArray]
    columns: IntArray
    width: int

    def __call__(self, table: Any) -> FloatArray:
        if not hasattr(table, "tocsr"):
            return np.ascontiguousarray(self.encode(table)[:, self.columns])
        rows = table.tocsr()
        out = np.empty((rows.shape[0], len(self.columns)))
        for part in portions(rows.shape[0], self.width):
            out[part] = self.encode(rows[part])[:, self.columns]
        return out
