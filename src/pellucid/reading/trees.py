"""A model's trees, read once for all questions of an Explainer, and believed only after they gave its own predictions.

They must do so on rows of the reference data, on rows mixed from those (what the games ask about is not only what is
there), and on some of the rows that are explained. Columns that no split compares are left out: a wide table of counts
becomes as narrow as the trees are. Sparse tables are encoded in portions, so that the whole is never filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.frames.frame import Frame
from pellucid.errors import PellucidError
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.runner.limits import USUAL, Limits
from pellucid.trees.convert import NotTrees, TreeModel, Unsupported, convert
from pellucid.trees.convert.combine import rescaled
from pellucid.trees.convert.tree_model import Link, stumbled
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.predict import magnitude, predict, predictions
from pellucid.trees.rows import portions
from pellucid.words import percent

_AGREE = 1e-5  # relative; libraries add up their trees in single precision
_COMPARED = 200  # rows of the data, and as many mixtures
_ASKED = 20  # of the rows that are explained


@dataclass(frozen=True)
class Refusal:
    """Why the trees do not serve, and by how much they miss the model's predictions where they do.

    ``kind``: the model is "no trees" at all, its trees are "unread" or "unlike" the model, or do not add up to
    the "scale" that is asked for.
    """

    kind: Literal["no trees", "unread", "unlike", "scale"]
    reason: str
    difference: float = 1.0
    tolerance: float = 0.0


@dataclass(frozen=True, eq=False)
class Trees:
    """All trees of a model, and how their sums become its predictions: as was found by comparing."""

    model: TreeModel
    link: Link


@dataclass(frozen=True, eq=False)
class OutputTrees:
    """Trees that add up to the explained outputs on the explained scale.

    ``sums @ weight.T + shift`` of the model's own sums are these outputs; ``link`` leads from them to predictions.
    """

    trees: TreeModel
    weight: FloatArray
    shift: FloatArray
    link: Link
    scale: str


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows as a matrix of the columns that trees compare, of which a portion is made when it is needed: the ``whole``
    of many rows is made only for what cannot do without.
    """

    model: TreeModel
    predictor: Predictor
    frame: Frame
    at_once: int  # bytes of the table

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.frame), self.model.ensemble.n_features

    @cached_property
    def whole(self) -> FloatArray:
        """All rows."""
        return self._encoded(self.frame)

    def _parts(self, rows: int) -> list[slice]:
        """Few enough rows at a time to make no large copies of the table, which may be wider than the matrix."""
        return list(portions(rows, len(self.frame.names), most=self.at_once))

    def __getitem__(self, rows: slice | IntArray) -> FloatArray:
        if "whole" in vars(self) or len(self._parts(len(self.frame))) == 1:
            return self.whole[rows]
        chosen = np.arange(*rows.indices(len(self.frame))) if isinstance(rows, slice) else rows
        parts = self._parts(len(chosen))
        if len(parts) == 1:
            return self._encoded(self.frame.take(chosen))
        found = np.empty((len(chosen), self.shape[1]))
        for part in parts:
            found[part] = self._encoded(self.frame.take(chosen[part]))
        return found

    def _encoded(self, frame: Frame) -> FloatArray:
        return self.model.encode(self.predictor.dressed(frame))


@dataclass(frozen=True, eq=False)
class TreeRows:
    """The trees of the explained outputs, and some rows as they see them."""

    outputs: OutputTrees
    rows: EncodedRows
    read: Trees

    @property
    def matrix(self) -> FloatArray:
        """All of the rows at once."""
        return self.rows.whole

    @property
    def trees(self) -> TreeModel:
        """The trees."""
        return self.outputs.trees

    @property
    def scale(self) -> str:
        """What they add up to."""
        return self.outputs.scale

    @property
    def link(self) -> Link:
        """From there to the model's predictions."""
        return self.outputs.link

    @property
    def linkable(self) -> bool:
        """Whether the link is known, so that predictions are made of the sums."""
        return self.link not in ("identity", "other") and can_compile()

    def behind_link(self, explained: Sequence[int]) -> tuple[TreeModel, list[int]]:
        """The trees whose sums the link turns into predictions, and which of these are explained: a softmax needs the
        trees of all classes.
        """
        if self.link == "softmax":
            return self.read.model, list(explained)
        return self.trees, list(range(len(explained)))


@dataclass(frozen=True, eq=False)
class ExplainedTrees(TreeRows):
    """The same with the model's predictions of these rows."""

    prediction: FloatArray


def tree_rows(predictor: Predictor, rows: Data, data: Data, run: Run) -> TreeRows | Refusal:
    """The model's trees for the explained outputs, and rows for them; the model is asked about some of these only."""
    return _explained(predictor, rows, data, run, rows.spread(_ASKED))


def explained_trees(predictor: Predictor, rows: Data, data: Data, run: Run) -> ExplainedTrees | Refusal:
    """The same with predictions: the model is asked about all rows."""
    found = _explained(predictor, rows, data, run, np.arange(len(rows)))
    assert not isinstance(found, TreeRows) or isinstance(found, ExplainedTrees)
    return found


def _explained(predictor: Predictor, rows: Data, data: Data, run: Run, some: IntArray) -> TreeRows | Refusal:
    found = read_trees(run, predictor, data)
    if isinstance(found, Refusal):
        return found
    encoded = EncodedRows(found.model, predictor, rows.frame, run.limits.contribution_bytes)
    every = len(some) == len(rows)
    full = run.predict(predictor, rows if every else rows.take(some), full=True)
    raw = predict(found.model.ensemble, encoded.whole if every else encoded[some])
    apart = _apart(found.model, found.link, raw, full, predictor)
    if not apart <= _AGREE:
        return _unlike(predictor, apart)
    outputs = output_trees(run, predictor, found)
    if isinstance(outputs, Refusal):
        return outputs
    if not every:
        return TreeRows(outputs, encoded, found)
    own = predictor.restrict(full) if outputs.link == "identity" else raw @ outputs.weight.T + outputs.shift
    return ExplainedTrees(outputs, encoded, found, own)


def read_trees(run: Run, predictor: Predictor, data: Data) -> Trees | Refusal:
    """The trees, if they give the model's own predictions, or why they do not serve."""
    model = tree_model(run, predictor)
    if isinstance(model, Refusal):
        return model
    found: Trees | Refusal = run.remember("trees that agree", lambda: _agreeing(predictor, model, data, run))
    return found


def tree_model(run: Run, predictor: Predictor, *, missed: bool = True) -> TreeModel | Refusal:
    """The trees, before they are compared with the model; the run takes note of those that exist, are not read and are
    ``missed``.
    """
    found: TreeModel | Refusal = run.remember("trees", lambda: _converted(predictor, run.limits))
    if missed and isinstance(found, Refusal) and found.kind == "unread":
        run.unread = found.reason
    return found


def output_trees(run: Run, predictor: Predictor, found: Trees) -> OutputTrees | Refusal:
    """The trees of the explained outputs."""
    name = f"trees of {predictor.explained} as {predictor.link}"
    return run.remember(name, lambda: _output_trees(predictor, found))


# -- reading ---------------------------------------------------------------------------------------------------------


def _converted(predictor: Predictor, limits: Limits) -> TreeModel | Refusal:
    """The trees, if they also understand the rows that the model was first asked with."""
    try:
        model = narrowed(convert(predictor.model), limits)
    except NotTrees as reason:
        return Refusal("no trees", str(reason))
    except Unsupported as reason:
        return Refusal("unread", str(reason))
    try:
        model.encode(predictor.dressed(predictor.probe))
    except PellucidError:  # about these rows, and said where they are explained
        return model
    except Exception as error:
        return Refusal("unread", stumbled(f"the table that {predictor.name} takes is not understood", error))
    return model


def _agreeing(predictor: Predictor, model: TreeModel, data: Data, run: Run) -> Trees | Refusal:
    """Compared on rows of the data and on mixtures of them."""
    some = data.take(data.spread(_COMPARED))
    parts = [_both(predictor, model, some, run)]
    if data.frame.kind != "sparse":
        with suppress(PellucidError):  # a model may refuse a mixture; it is then asked no more than real rows
            parts.append(_both(predictor, model, some.mixed(run.generator("trees.mixtures")), run))
    raw, full = (np.vstack(arrays) for arrays in zip(*parts, strict=True))
    link = _agreeing_link(model, raw, full, predictor)
    return link if isinstance(link, Refusal) else Trees(model, link)


def _both(predictor: Predictor, model: TreeModel, rows: Data, run: Run) -> tuple[FloatArray, FloatArray]:
    raw = predict(model.ensemble, model.encode(predictor.dressed(rows.frame)))
    with run.checking():
        return raw, run.predict(predictor, rows, full=True)


def _agreeing_link(model: TreeModel, raw: FloatArray, full: FloatArray, predictor: Predictor) -> Link | Refusal:
    """How the trees' sums become the predictions: as the model says, or as they are (a decision function)."""
    candidates: list[Link] = [model.link]
    if model.link not in ("identity", "other"):
        candidates.append("identity")
    differences = [_apart(model, link, raw, full, predictor) for link in candidates]
    best = int(np.argmin(differences))
    if differences[best] <= _AGREE:
        return candidates[best]
    if not np.isfinite(differences[best]):
        how = "in a way that is not read" if model.link == "other" else f"of {raw.shape[1]} into {full.shape[1]}"
        return Refusal("unread", f"{predictor.name} turns the sums of its trees into predictions {how}")
    return _unlike(predictor, differences[best])


def _unlike(predictor: Predictor, difference: float) -> Refusal:
    by = f"by up to {percent(difference)} of their size"
    reason = f"the trees read from {predictor.name} miss its own predictions {by}"
    return Refusal("unlike", reason, difference, _AGREE)


def _apart(model: TreeModel, link: Link, raw: FloatArray, full: FloatArray, predictor: Predictor) -> float:
    """The largest difference between predictions of the trees and the model's, as a share of the size of the output."""
    predicted = predictions(raw, link, full.shape[1], model.scale)
    if predicted is None or predicted.shape != full.shape:
        return np.inf
    size = magnitude(model, full, probability=predictor.raw_scale == "probability")
    worst = np.abs(predicted - full).max(axis=0, initial=0.0)
    return float((worst / np.where(size > 0, size, 1.0)).max())


def narrowed(model: TreeModel, limits: Limits = USUAL) -> TreeModel:
    """The same trees on the columns that they compare."""
    nodes = model.ensemble.nodes
    columns = np.unique(nodes.feature[nodes.feature >= 0])
    if len(columns) in (0, model.ensemble.n_features):
        return model
    place = np.full(model.ensemble.n_features, -1)
    place[columns] = np.arange(len(columns))
    feature = np.where(nodes.feature >= 0, place[nodes.feature], -1)
    ensemble = replace(model.ensemble, nodes=replace(nodes, feature=feature), n_features=len(columns))
    encode = _Narrow(model.encode, columns, model.ensemble.n_features, limits)
    return replace(model, ensemble=ensemble, encode=encode, source=model.source[columns])


@dataclass(frozen=True, eq=False)
class _Narrow:
    encode: Callable[[Any], FloatArray]
    columns: IntArray
    width: int
    limits: Limits

    def __call__(self, table: Any) -> FloatArray:
        if not hasattr(table, "tocsr"):
            return np.ascontiguousarray(self.encode(table)[:, self.columns])
        rows = table.tocsr()
        out = np.empty((rows.shape[0], len(self.columns)))
        for part in portions(rows.shape[0], self.width, self.limits):
            out[part] = self.encode(rows[part])[:, self.columns]
        return out


# -- the explained outputs -------------------------------------------------------------------------------------------


def _output_trees(predictor: Predictor, found: Trees) -> OutputTrees | Refusal:
    model, link = found.model, found.link
    sums = model.ensemble.n_outputs
    scale = str(predictor.raw_scale if link == "identity" else model.scale)
    weight, shift = _outputs(predictor, sums, predictor.width, link, scale)
    if link == "softmax" and sums == 2:
        link, scale = "logistic", "log-odds"
    if predictor.link == "logit" and scale != "log-odds":
        return Refusal("scale", f"the trees of {predictor.name} add up to a {scale}, not to log-odds")
    return OutputTrees(_selected(model, weight, shift), weight, shift, link, scale)


def _outputs(predictor: Predictor, sums: int, width: int, link: Link, scale: str) -> tuple[FloatArray, FloatArray]:
    """``weight`` and ``shift`` such that ``sums @ weight.T + shift`` are the explained outputs.

    The first of two classes is the mirror image of the second: 1 - p of a probability, -s of a score. Two
    softmax scores are worth their difference, the log-odds.
    """
    keep = list(predictor.explained)
    shift = np.zeros(len(keep))
    if link == "softmax" and sums == 2:
        return np.array([[1.0, -1.0], [-1.0, 1.0]])[keep], shift
    if sums == width:
        return np.eye(sums)[keep], shift
    first = np.array(keep) == 0
    if scale == "probability":
        shift[first] = 1.0
    return np.where(first, -1.0, 1.0)[:, None], shift


def _selected(model: TreeModel, weight: FloatArray, shift: FloatArray) -> TreeModel:
    """The trees of the explained outputs."""
    picks = weight.argmax(axis=1)
    if np.array_equal(weight, np.eye(weight.shape[1])[picks]) and not shift.any():
        return replace(model, ensemble=model.ensemble.select(picks))
    return rescaled(model, weight, shift)
