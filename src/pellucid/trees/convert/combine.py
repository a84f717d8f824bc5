"""Sums of tree models: what a wrapper that averages, stacks or rescales its members is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.trees.convert.tree_model import TreeModel, dense, numbers
from pellucid.trees.ensemble import TreeEnsemble, concatenate


@dataclass(frozen=True, eq=False)
class Term:
    """One member of a sum.

    Attributes
    ----------
    model
        The member.
    weight
        ``(outputs of the sum, outputs of the member)``: the member's raw scores are multiplied by it.
    columns
        The columns of the wrapper's table that the member sees; None: all.
    """

    model: TreeModel
    weight: FloatArray
    columns: IntArray | None = None


@dataclass(frozen=True, eq=False)
class _Block:
    """Columns of the common matrix that one member makes in its own way."""

    model: TreeModel
    columns: IntArray | None

    def __call__(self, table: Any) -> FloatArray:
        seen = dense(table, self.model.fill)
        return self.model.encode(seen if self.columns is None else _taken(seen, self.columns))

    @property
    def source(self) -> IntArray:
        return self.model.source if self.columns is None else self.columns[self.model.source]


@dataclass(frozen=True, eq=False)
class _Side:
    """The members' matrices side by side; those that compare the table as it is share one."""

    plain: bool
    blocks: tuple[_Block, ...]

    def __call__(self, table: Any) -> FloatArray:
        parts = [numbers(table)] if self.plain else []
        return np.hstack(parts + [block(table) for block in self.blocks])


def combine(terms: Sequence[Term], base: FloatArray | None = None, n_features: int | None = None) -> TreeModel:
    """The sum of ``weight @ member`` plus base, with the link and scale of the first member.

    n_features is the number of columns of the wrapper's own table, where its members see a part of them.
    """
    plain = [term.model.ensemble.n_features for term in terms if term.model.encode is numbers]
    width = (n_features or max(plain)) if plain else 0
    sources = [np.arange(width)]
    blocks: list[_Block] = []
    placed = []
    for term in terms:
        ensemble, columns = term.model.ensemble, term.columns
        if term.model.encode is numbers:
            place = np.arange(ensemble.n_features) if columns is None else columns
        else:
            block = _Block(term.model, columns)
            place = width + np.arange(ensemble.n_features)
            blocks.append(block)
            sources.append(block.source)
            width += ensemble.n_features
        placed.append((_moved(ensemble, place), term.weight))
    wide = any(ensemble.width > 1 for ensemble, _ in placed)
    parts = [replace(_weighted(ensemble, weight, wide), n_features=width) for ensemble, weight in placed]
    total = concatenate(parts)
    if base is not None:
        total = replace(total, base=total.base + base)
    encode: Any = _Side(bool(plain), tuple(blocks))
    fills = {term.model.fill for term in terms}
    first = terms[0].model
    return replace(
        first,
        ensemble=total,
        encode=numbers if not blocks else encode,
        source=np.concatenate(sources),
        fill=first.fill if len(fills) == 1 else 0.0,
    )


def rescaled(model: TreeModel, weight: FloatArray, base: FloatArray) -> TreeModel:
    """``weight @ model + base``, on the same matrix."""
    ensemble = _weighted(model.ensemble, weight, model.ensemble.width > 1)
    return replace(model, ensemble=replace(ensemble, base=ensemble.base + base))


def _taken(table: Any, columns: IntArray) -> Any:
    """Columns of an array, as bagging hands them to a member."""
    from sklearn.utils import check_array

    whole = check_array(table, dtype=None, ensure_all_finite=False, ensure_min_samples=0)
    return whole[:, columns]


def _moved(ensemble: TreeEnsemble, place: IntArray) -> TreeEnsemble:
    """The trees on a wider matrix, where their columns lie at the given places."""
    feature = ensemble.nodes.feature
    moved = np.where(feature >= 0, place[np.maximum(feature, 0)], -1)
    return replace(ensemble, nodes=replace(ensemble.nodes, feature=moved))


def _weighted(ensemble: TreeEnsemble, weight: FloatArray, wide: bool) -> TreeEnsemble:
    """``weight @ scores``; wide: with leaves that hold all outputs."""
    weight = np.asarray(weight, dtype=np.float64)
    value, nodes = ensemble.nodes.value, ensemble.nodes
    base = weight @ ensemble.base
    if ensemble.width > 1:
        return _wide(replace(ensemble, nodes=replace(nodes, value=value @ weight.T), base=base))
    column = weight[:, ensemble.output]  # (outputs, trees)
    if not wide and np.all(np.count_nonzero(column, axis=0) <= 1):
        # Each tree still adds to one output only.
        factor = column.sum(axis=0)
        output = np.abs(column).argmax(axis=0)
        value = value * factor[_tree_of(ensemble)][:, None]
        return replace(ensemble, nodes=replace(nodes, value=value), output=output, base=base)
    value = value * column.T[_tree_of(ensemble)]
    return _wide(replace(ensemble, nodes=replace(nodes, value=value), base=base))


def _wide(ensemble: TreeEnsemble) -> TreeEnsemble:
    return replace(ensemble, output=np.zeros_like(ensemble.roots))


def _tree_of(ensemble: TreeEnsemble) -> IntArray:
    """The tree of each node; trees lie one after another."""
    order = np.argsort(ensemble.roots, kind="stable")
    at = np.searchsorted(ensemble.roots[order], np.arange(len(ensemble.nodes.feature)), side="right") - 1
    return order[np.maximum(at, 0)]
