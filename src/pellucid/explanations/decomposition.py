"""Decomposition: the function in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data.frames.doorway import as_frame, is_series
from pellucid.data.frames.frame import Frame
from pellucid.errors import InputError, nearest
from pellucid.explanations import decomposition_words
from pellucid.explanations.attribution import Attribution, Entries, shown_value
from pellucid.explanations.component import JOIN, Axis, Check, Component
from pellucid.explanations.explanation import Explanation, Header, native_table, squeeze_outputs
from pellucid.explanations.plot_options import DecompositionOptions
from pellucid.explanations.store import stored
from pellucid.runner import Cost

RESIDUAL = "residual"


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Decomposition(Explanation, options=DecompositionOptions):
    """A constant, components of one, two or three features, and what they leave over.

    ``components`` come in the order of the number of their features, then of the columns; ``feature_names`` are their
    names (``"temp"``, ``"temp × hum"``). ``values`` are their variances as shares of the ``variance`` of the function,
    ``se`` the errors of these, and ``covariance`` their covariances with the function as shares of its variance: where
    components overlap, these still add up to one with that of the residual. ``residual`` is the share that no component
    has, all under the measure of the method (``density``: the rows of the data, or uniform over the ranges).

    ``r2`` is how well constant and components together predict the predictions at the rows of the data: the
    decomposition is an interpretable model (`predict`), and this is its fidelity. ``checks`` say which properties the
    components have.
    """

    method: str
    order: int
    density: str
    constant: FloatArray
    components: tuple[Component, ...]
    covariance: FloatArray
    variance: FloatArray
    residual: FloatArray
    r2: FloatArray
    checks: tuple[Check, ...] = ()
    inputs: tuple[str, ...] = ()

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """The features of each component."""
        return tuple(component.features for component in self.components)

    @property
    def ranking(self) -> IntArray:
        """Positions of the components from the largest share of the variance to the smallest."""
        overall = self.stacked().mean(axis=-1)
        return np.asarray(np.argsort(-np.nan_to_num(overall), kind="stable"), dtype=np.intp)

    def top(self, n: int) -> list[str]:
        """Names of the ``n`` components with the largest shares."""
        return [self.feature_names[k] for k in self.ranking[:n]]

    def position(self, *features: str) -> int:
        """The position of the component of these features, in any order."""
        called = self.header.readable
        features = tuple(JOIN.join(called.get(part, part) for part in str(name).split(JOIN)) for name in features)
        wanted = {part for name in features for part in name.split(JOIN)}
        for k, names in enumerate(self.sets):
            if set(names) == wanted:
                return k
        known = {name for names in self.sets for name in names}
        unknown = [str(name) for name in features if name not in known | set(self.feature_names)]
        if unknown:
            raise InputError(f"there is no feature {unknown[0]!r}{nearest(unknown[0], sorted(known))}")
        raise InputError(
            f"there is no component of {' and '.join(map(str, features))}: the decomposition has order {self.order};"
            f" use order={len(wanted)}."
        )

    def component(self, *features: str) -> Component:
        """The component of these features, such as ``component("temp", "hum")``, in any order."""
        return self.components[self.position(*features)]

    def table(self, *features: str) -> Any:
        """The entries of a component as a table in the caller's own dataframe library."""
        return native_table(self.component(*features).columns(self.output_names), self.library)

    # -- as a model ----------------------------------------------------------------------------------

    def predict(self, X: Any) -> FloatArray:
        """Constant plus components for rows of any kind of table: ``(rows,)``, or ``(rows, outputs)``.

        Beyond the data a component keeps the value that it has at the end; a level that was never seen, or a missing
        value where there was none, is an error.
        """
        return squeeze_outputs(np.atleast_1d(self.constant) + self._parts(X)[1].sum(axis=1))

    def explain(self, rows: Any, prediction: Any = None) -> Attribution:
        """What each component adds to the prediction of each row.

        ``rows`` is a table, or one row as a dict or Series. With ``prediction``, what the model itself predicts for
        them, the last entry is the residual: what no component accounts for. Without, the decomposition's own
        predictions are explained.
        """
        frame, parts = self._parts(rows)
        constant = np.atleast_1d(self.constant)
        names, members = self.feature_names, self.sets
        data = [self._cells(frame, names) for names in self.sets]
        own = constant + parts.sum(axis=1)
        target = own
        if prediction is not None:
            target = self._given(prediction, own)
            parts = np.concatenate([parts, (target - own)[:, None]], axis=1)
            names, members = (*names, RESIDUAL), (*members, ())
            data.append(np.array([""] * len(frame), dtype=object))
        return Attribution(
            method="decomposition",
            game="",
            header=Header(
                feature_names=names,
                output_names=self.output_names,
                scale=self.scale,
                library=self.library,
                cost=Cost(0, 0.0, 0, 0.0),
                settings={"method": "decomposition", "decomposition": self.method, "order": self.order},
            ),
            values=squeeze_outputs(parts),
            se=squeeze_outputs(np.zeros(parts.shape)),
            base=squeeze_outputs(constant),
            prediction=squeeze_outputs(target),
            entries=Entries(tuple(data), members),
        )

    def _given(self, prediction: Any, own: FloatArray) -> FloatArray:
        given = np.asarray(prediction, dtype=np.float64)
        if given.size != own.size:
            raise InputError(
                f"prediction has {given.size} numbers, the rows need {own.size}: give one per"
                f" row{' and output' if own.shape[1] > 1 else ''}."
            )
        return given.reshape(own.shape)

    @property
    def axes(self) -> dict[str, Axis]:
        """One axis of each feature: that of its first component."""
        known: dict[str, Axis] = {}
        for component in self.components:
            for name, axis in zip(component.features, component.axes, strict=True):
                known.setdefault(name, axis)
        return known

    def _parts(self, rows: Any) -> tuple[Frame, FloatArray]:
        """The rows as a table, and every component there: ``(rows, components, outputs)``."""
        frame = _one_table(rows, self.inputs)
        lacking = [name for name in map(self._column, self.axes) if name not in frame.names]
        if lacking:
            raise InputError(f"the rows lack the feature {lacking[0]!r}; give every feature of X.")
        codes = {name: axis.feature.encode(self._cell(frame, name)) for name, axis in self.axes.items()}
        parts = np.empty((len(frame), len(self.components), len(self.output_names)))
        for k, component in enumerate(self.components):
            parts[:, k] = component.at([codes[name] for name in component.features])
        return frame, parts

    def _column(self, name: str) -> str:
        """What tables call a feature."""
        return next((column for column, readable in self.header.readable.items() if readable == name), name)

    def _cell(self, frame: Frame, name: str) -> AnyArray:
        return frame.values(frame.names.index(self._column(name)))

    def _cells(self, frame: Frame, names: tuple[str, ...]) -> AnyArray:
        """The values of a component's features in every row; of several in words, in the order of their names."""
        features = [self.axes[name].feature for name in names]
        columns = [feature.decode(feature.encode(self._cell(frame, feature.name))) for feature in features]
        if len(columns) == 1:
            return columns[0]
        said = np.empty(len(frame), dtype=object)
        said[:] = [", ".join(shown_value(cell) for cell in cells) for cells in zip(*columns, strict=True)]
        return said

    # -- table and words -----------------------------------------------------------------------------

    def columns(self) -> dict[str, AnyArray]:
        """One row per component (and output): its share of the variance, with that of the covariance beside it."""
        n, outputs = self.stacked().shape
        order = np.array([len(names) for names in self.sets])
        tidy: dict[str, AnyArray] = {
            "component": np.tile(np.array(self.feature_names, dtype=object), outputs),
            "order": np.tile(order, outputs),
        }
        if outputs > 1:
            tidy["output"] = np.repeat(np.array(self.output_names, dtype=object), n)
        for name, field in (("share", "values"), ("se", "se"), ("covariance", "covariance")):
            tidy[name] = self.stacked(field).T.ravel()
        return tidy

    def findings(self) -> list[str]:
        return decomposition_words.findings(self)

    def _headline(self) -> str:
        return decomposition_words.headline(self)


def _one_table(rows: Any, names: tuple[str, ...]) -> Frame:
    """A table, or one row as a dict, a Series or a one-dimensional array."""
    if isinstance(rows, int | np.integer) or (
        isinstance(rows, range | list | tuple) and len(rows) and all(isinstance(row, int | np.integer) for row in rows)
    ):
        raise InputError(
            "a decomposition holds no rows of X, so a position names none; give the rows themselves, as in X.iloc[[0]]."
        )
    if isinstance(rows, Mapping) or is_series(rows):
        return as_frame([rows])
    if isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.names is None:
        rows = rows.reshape(1, -1)
    return as_frame(rows, names)
