"""What all glass boxes share: one doorway for tables of any kind, and what is remembered of the training rows.

Models compute with *codes* (see `pellucid.data.schema`), one float64 per cell: a number is its own code, a boolean 0 or
1, a date counts microseconds since 1970, a category is its position among the levels of the training rows, and a level
that was not among them is one more than the last. Missing is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

from pellucid.arrays import AnyArray, FloatArray
from pellucid.checks import is_whole
from pellucid.data.frames.doorway import library_of, wrapped
from pellucid.data.frames.frame import Frame, is_missing
from pellucid.data.grid import grid_codes
from pellucid.data.row_labels import RowLabels, own_labels
from pellucid.data.schema import Feature, Schema, learn
from pellucid.errors import InputError, nearest

_GRID = 64  # points at which the effect of a number is shown
_LIBRARIES = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}
_RUG = 400  # training values that are kept to show where the data are


@dataclass(frozen=True, eq=False)
class Training:
    """The rows that a model is fitted to: codes ``(n, p)``, outcome and weights; for a classifier ``y`` are positions
    among its classes.
    """

    codes: FloatArray
    y: AnyArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Seen:
    """What is kept of a feature in the training rows, for charts: ``points`` to show it at, the weight of the rows
    nearest to each (``counts``), some of its values (``rug``) and the ``share`` that is missing.
    """

    points: FloatArray
    counts: FloatArray
    rug: FloatArray
    share: float


class GlassBox(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model that needs no explaining: a scikit-learn estimator for tables of any kind.

    ``fit`` of a model calls `_learn`, and everything that predicts calls `_design`. Both take numpy arrays, tables of
    pandas, polars and pyarrow, and lists of dicts; columns of a table with names may come in any order, and others are
    ignored.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        Columns; names only where the table has text for them.
    classes_
        Of a classifier, its classes in order.
    """

    _schema: Schema
    _seen: tuple[Seen, ...]
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    # -- tables --------------------------------------------------------------------------------------

    def _learn(self, X: Any, y: Any, sample_weight: Any = None) -> Training:
        """The training rows that count, and what is to be known of their columns from now on."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        frame = self._wrapped(X)
        y = self._outcome(y, len(frame))
        weights = _weights(sample_weight, len(frame))
        counts = weights > 0
        if not counts.all():
            rows = np.flatnonzero(counts)
            frame, y, weights = frame.take(rows), y[rows], weights[rows]
        schema, columns = learn(frame)
        schema = replace(schema, features=tuple(map(_settled, schema.features)))
        self._schema, self.n_features_in_ = schema, len(schema.features)
        _remember_names(self, X, schema)
        codes = np.stack([np.asarray(column) for column in columns], axis=1)
        self._seen = tuple(_seen(f, column, weights) for f, column in zip(schema.features, codes.T, strict=True))
        if is_classifier(self):
            self.classes_, y = np.unique(y, return_inverse=True)
            if len(self.classes_) < 2:
                raise InputError(f"y has one class, {self.classes_[0]!r}; a classifier needs rows of at least two.")
        return Training(codes, y, weights)

    def _design(self, X: Any) -> FloatArray:
        """Rows as codes ``(n, p)``."""
        check_is_fitted(self, "_schema")
        frame = self._wrapped(X)
        places = self._places(frame)
        columns = [_codes(f, frame.values(j)) for f, j in zip(self._schema.features, places, strict=True)]
        return np.stack(columns, axis=1)

    def _wrapped(self, X: Any) -> Frame:
        """A table of any kind; what has no names for its columns is checked as scikit-learn does."""
        if not _is_named(X):
            X = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=self)
        frame = wrapped(X, None)
        if not len(frame):
            raise InputError("X has no rows; give at least one.")
        if not len(frame.names):
            raise InputError("X has no columns; give a table with at least one feature.")
        return frame

    def _places(self, frame: Frame) -> list[int]:
        """Where the columns of the training table are in another one: by name where both have names."""
        known = self._schema.names
        if not _is_named(frame.native) or not hasattr(self, "feature_names_in_"):
            if len(frame.names) != len(known):
                raise InputError(
                    f"X has {len(frame.names)} features, but {type(self).__name__} is expecting {len(known)} features"
                    " as input."
                )
            return list(range(len(known)))
        place = {name: j for j, name in enumerate(frame.names)}
        for name in known:
            if name not in place:
                raise InputError(f"X lacks the feature {name!r}, which the model was fitted with{nearest(name, place)}")
        return [place[name] for name in known]

    def _outcome(self, y: Any, n: int) -> AnyArray:
        labels = is_classifier(self)
        _, y = check_X_y(np.zeros((n, 1)), y, y_numeric=not labels, estimator=self) if n > 0 else (None, y)
        if labels:
            check_classification_targets(y)
        return np.asarray(y)

    # -- names ---------------------------------------------------------------------------------------

    @property
    def _names(self) -> tuple[str, ...]:
        """What the features are called: their columns, or x0, x1, ..."""
        return self._schema.names

    @property
    def _output_names(self) -> tuple[str, ...]:
        """The explained outputs: the second of two classes, all of several, or the prediction."""
        if not is_classifier(self):
            return ("prediction",)
        names = tuple(str(label) for label in self.classes_.tolist())
        return names[1:] if len(names) == 2 else names


def _is_named(X: Any) -> bool:
    """Whether a table has columns of its own types and names."""
    if library_of(X) & {"pandas", "polars", "pyarrow"}:
        return getattr(X, "ndim", 2) == 2
    if isinstance(X, np.ndarray):
        return X.dtype.names is not None
    return isinstance(X, list) and bool(X) and isinstance(X[0], dict)


def one_row(rows: Any) -> Any:
    """A dict and a one-dimensional array are one row; what is no row at all is named."""
    if isinstance(rows, str) or is_whole(rows):
        raise InputError(
            f"rows must be a table, an array or a dict, got {rows!r}; effects of features are those of an Explainer:"
            f" Explainer(model, X).pdp({rows!r})."
        )
    if isinstance(rows, dict):
        return [rows]
    if isinstance(rows, np.ndarray) and rows.ndim == 1:
        return rows[None]
    if "pandas" in library_of(rows) and getattr(rows, "ndim", 2) == 1:
        return rows.to_frame().T.infer_objects()
    return rows


def caller(rows: Any) -> str:
    """The library in which a table about some rows comes back."""
    return next((_LIBRARIES[name] for name in library_of(rows) if name in _LIBRARIES), "pandas")


def labels_of(model: GlassBox, table: Any, rows: Any) -> RowLabels:
    """What rows are called, as they were given and as a table."""
    return RowLabels(own_labels(model._wrapped(table), rows, "") if caller(rows) == "pandas" else None)


def known_codes(feature: Feature, codes: FloatArray) -> FloatArray:
    """Codes that can be put in words: a level that was never seen has no name any more."""
    return codes if feature.categories is None else np.where(codes >= len(feature.categories), np.nan, codes)


def _remember_names(model: GlassBox, X: Any, schema: Schema) -> None:
    columns = getattr(X, "columns", None) if "pandas" in library_of(X) else schema.columns if _is_named(X) else None
    if columns is not None and all(isinstance(name, str) for name in columns):
        model.feature_names_in_ = np.array(schema.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def _settled(feature: Feature) -> Feature:
    """The feature without its column, which counts the distinct values when asked to."""
    return replace(feature, count=partial(int, feature.distinct))


def _codes(feature: Feature, values: AnyArray) -> FloatArray:
    """Plain values as codes; a level that was not among the training rows is one more than the last."""
    if feature.categories is None:
        return feature.encode(values)
    position: dict[Any, float] = {level: float(code) for code, level in enumerate(feature.categories)}
    other = float(len(position))
    cells = values.tolist()
    found = [position.get(cell, other) for cell in cells]
    return np.array(
        [np.nan if code == other and is_missing(cell) else code for code, cell in zip(found, cells, strict=True)]
    )


def _weights(given: Any, n: int) -> FloatArray:
    if given is None:
        return np.ones(n)
    weights = np.asarray(given)
    weights = np.full(n, weights) if weights.ndim == 0 else weights
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got an array of {weights.ndim} dimensions.")
    try:
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must be numbers; give one weight per row.") from None
    if len(weights) != n:
        raise InputError(f"sample_weight has {len(weights)} weights but X has {n} rows; give one weight per row.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InputError(f"sample_weight is {weights[row]} in row {row}; weights are zero or positive numbers.")
    if not weights.any():
        raise InputError("sample_weight is zero everywhere; at least one row must have a non-zero weight.")
    return weights


def _seen(feature: Feature, codes: FloatArray, weights: FloatArray) -> Seen:
    known = np.flatnonzero(~np.isnan(codes))
    if feature.empty:
        return Seen(np.empty(0), np.empty(0), np.empty(0), 1.0)
    points = grid_codes(feature, codes, _GRID)
    nearest_point = np.searchsorted((points[1:] + points[:-1]) / 2, codes[known])
    counts = np.bincount(nearest_point, weights=weights[known], minlength=len(points)).astype(np.float64)
    spread = known[np.linspace(0, len(known) - 1, min(len(known), _RUG)).astype(np.intp)]
    share = 1.0 - float(weights[known].sum() / weights.sum())
    return Seen(points, counts, codes[spread], max(share, 0.0))
