"""Predictor: the one object through which every method asks the model.

It times and checks every call (the runner batches and counts them), and turns whatever the model returns into a float64
array ``(rows, outputs)`` with named outputs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data.doorway import as_frame, convert
from pellucid.data.frame import Frame
from pellucid.errors import InputError, ModelError, PellucidError, nearest
from pellucid.models.adapter import Scale, Task
from pellucid.models.registry import adapt

Link = Literal["identity", "logit"]
LOGIT_FLOOR = 1e-6
_PROBE_ROWS = 16


class Predictor:
    """A model bound to the kind of table it is asked with.

    Parameters
    ----------
    model
        An estimator, pipeline, booster, torch module, ONNX file or session, or a function.
    X
        Reference data; a few rows are predicted twice to learn the outputs and to see whether the model is
        deterministic.
    output
        Class label(s) to explain; by default every class, and of two classes the second.
    link
        ``"logit"`` explains log-odds instead of probabilities.
    labels
        The true outcomes, used only to name the classes of a bare function.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        output: Any = None,
        link: Link = "identity",
        labels: AnyArray | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        if link not in ("identity", "logit"):
            raise InputError(f"link={link!r} is not known; use 'identity' or 'logit'.")
        self._adapter = adapt(model)
        self.link = link
        frame = as_frame(X, feature_names or self._names_for(X))
        self._order = self._column_order(frame)
        self.container = self._adapter.container(frame.kind)
        probe = self.align(frame.head(_PROBE_ROWS))
        self.mutates = False
        self._keep: list[int] | None = None
        self._width: int | None = None
        raw, self.instability = self._probe(probe)
        self.classes = self._name_classes(raw, labels)
        self._keep, self.output_names = self._choose(raw.shape[1], output)
        if link == "logit" and self._adapter.scale != "probability" and self.classes is None:
            raise InputError(
                "link='logit' needs probabilities, but the model does not return any; use link='identity'."
            )

    # -- what the model is ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Class of the model."""
        return self._adapter.name

    @property
    def library(self) -> str:
        """Library the model comes from."""
        return self._adapter.library

    @property
    def task(self) -> Task:
        """Regression, classification or scores (clusters, outliers)."""
        return "classification" if self.classes is not None else self._adapter.task

    @property
    def scale(self) -> Scale:
        """What the numbers are: probability, log-odds, response, score or distance."""
        if self.link == "logit":
            return "log-odds"
        return (
            "probability"
            if self.classes is not None and self._adapter.scale == "response"
            else self._adapter.scale
        )

    @property
    def has_gradient(self) -> bool:
        """Whether exact derivatives are available."""
        return self._adapter.gradient is not None

    # -- asking --------------------------------------------------------------------------------------

    def align(self, frame: Frame) -> Frame:
        """The frame as the kind of table the model wants."""
        return convert(frame, self.container)

    def __call__(self, table: Any, n: int) -> FloatArray:
        """Predictions ``(n, outputs)`` for a native table of ``n`` rows."""
        return self.timed(table, n)[0]

    def timed(self, table: Any, n: int) -> tuple[FloatArray, float]:
        """Predictions of the explained outputs, and the seconds spent inside the model."""
        raw, seconds = self._ask(table, n)
        return self.restrict(raw), seconds

    def timed_full(self, table: Any, n: int) -> tuple[FloatArray, float]:
        """All columns the model returns, whatever `output` and `link` say: what a loss compares with y."""
        return self._ask(table, n)

    def restrict(self, raw: FloatArray) -> FloatArray:
        """The explained outputs of a full prediction, on the explained scale."""
        chosen = raw if self._keep is None else raw[..., self._keep]
        return _logit(chosen) if self.link == "logit" else chosen

    def gradient(self, table: Any, n: int) -> FloatArray:
        """Partial derivatives ``(n, features, outputs)`` of the explained outputs."""
        if self._adapter.gradient is None:
            raise InputError(f"{self.name} gives no gradients; leave gradient=False to use differences.")
        if self.link != "identity":
            raise InputError("gradients are taken on the model's own scale; use link='identity'.")
        raw = np.asarray(self._adapter.gradient(table), dtype=np.float64)
        raw = raw[:, :, None] if raw.ndim == 2 else raw
        if raw.shape[0] != n or not np.isfinite(raw).all():
            raise ModelError(
                f"the model's gradient has shape {raw.shape} or is not finite; expected one finite row per row of X."
            )
        return raw if self._keep is None else raw[:, :, self._keep]

    def _ask(self, table: Any, n: int) -> tuple[FloatArray, float]:
        if self._order is not None:
            table = as_frame(table).select(self._order).native
        start = time.perf_counter()
        try:
            returned = self._adapter.predict(table)
        except PellucidError:
            raise
        except Exception as error:
            raise ModelError(
                f"the model {self.name} failed on a batch of {n} rows: {type(error).__name__}: {error}"
            ) from error
        seconds = time.perf_counter() - start
        return self._check(returned, n), seconds

    def _check(self, returned: Any, n: int) -> FloatArray:
        raw = _as_matrix(returned, n, self.name)
        if raw.shape[0] != n:
            raise ModelError(
                f"the model {self.name} returned {raw.shape[0]} predictions for {n} rows; it must return one per row."
            )
        if self._width is not None and raw.shape[1] != self._width:
            raise ModelError(
                f"the model {self.name} returned {raw.shape[1]} outputs after {self._width} before; the number must not change."
            )
        if not np.isfinite(raw).all():
            row = int(np.flatnonzero(~np.isfinite(raw).all(axis=1))[0])
            bad = raw[row][~np.isfinite(raw[row])][0]
            raise ModelError(
                f"the model {self.name} predicted {bad} for row {row} of a batch of {n}; make it return finite numbers "
                "(impute missing inputs, or bound the output)."
            )
        return raw

    # -- learning what the model returns -------------------------------------------------------------

    def _names_for(self, X: Any) -> tuple[str, ...] | None:
        """The model's own feature names for a bare matrix of the right width."""
        names = self._adapter.feature_names
        shape = getattr(X, "shape", None)
        return (
            names
            if names is not None and shape is not None and len(shape) == 2 and shape[1] == len(names)
            else None
        )

    def _column_order(self, frame: Frame) -> list[int] | None:
        """Positions of the model's columns in the frame; None when they already agree."""
        wanted = self._adapter.feature_names
        if wanted is None or frame.kind in ("numpy", "sparse"):
            count = self._adapter.n_features
            if count is not None and count != len(frame.names):
                raise InputError(
                    f"the model was trained on {count} features but X has {len(frame.names)} columns; give exactly the model's columns."
                )
            return None
        absent = [name for name in wanted if name not in frame.names]
        if absent:
            if set(absent) == set(wanted) and len(wanted) == len(frame.names):
                return None  # the model renamed its columns by itself; positions decide
            raise InputError(
                f"the model was trained with the column {absent[0]!r}, which X lacks{nearest(absent[0], frame.names)}"
            )
        order = [frame.names.index(name) for name in wanted]
        return None if order == list(range(len(frame.names))) else order

    def _probe(self, frame: Frame) -> tuple[FloatArray, float]:
        """Predictions on a few rows, and by how much they change when asked again in reverse order."""
        n = len(frame)
        own = frame.take(np.arange(n))
        before = [frame.values(j) for j in range(len(frame.names))]
        first, _ = self._ask(own.native, n)
        self._width = first.shape[1]
        self.mutates = any(not _same(own.values(j), column) for j, column in enumerate(before))
        again = self._ask(frame.take(np.arange(n)[::-1]).native, n)[0][::-1]
        spread = float(np.abs(first).max()) or 1.0
        change = float(np.abs(first - again).max()) / spread
        return first, change if change > 1e-5 else 0.0

    def _name_classes(self, raw: FloatArray, labels: AnyArray | None) -> tuple[Any, ...] | None:
        known = self._adapter.classes
        if known is not None:
            return known
        width = raw.shape[1]
        in_unit = bool((raw >= -1e-6).all() and (raw <= 1 + 1e-6).all())
        sums_to_one = width > 1 and in_unit and bool(np.abs(raw.sum(axis=1) - 1).max() < 1e-4)
        if self._adapter.output_names is not None or not sums_to_one:
            return None
        seen = np.unique(labels).tolist() if labels is not None and labels.ndim == 1 else []
        return tuple(seen) if len(seen) == width else tuple(range(width))

    def _choose(self, width: int, output: Any) -> tuple[list[int] | None, tuple[str, ...]]:
        """Which columns are explained, and their names."""
        names, positions = self._all_outputs(width)
        if output is None:
            return (None if positions == list(range(width)) else positions), tuple(names)
        labels = list(output) if isinstance(output, list | tuple | set | np.ndarray) else [output]
        if not labels:
            raise InputError("output= is empty; name at least one output to explain.")
        pool = {str(label): k for k, label in enumerate(self.classes or ())} if width > 1 else {}
        if not pool:
            pool = dict(zip(names, positions, strict=True))
        for label in labels:
            if str(label) not in pool:
                raise InputError(
                    f"output={label!r} is not an output of the model{nearest(str(label), pool)}"
                )
        return [pool[str(label)] for label in labels], tuple(str(label) for label in labels)

    def _all_outputs(self, width: int) -> tuple[list[str], list[int]]:
        if self.classes is not None:
            names = [str(label) for label in self.classes]
            if width == 1:
                return [names[-1]], [0]
            return ([names[1]], [1]) if width == 2 else (names, list(range(width)))
        if self._adapter.output_names is not None and len(self._adapter.output_names) == width:
            return list(self._adapter.output_names), list(range(width))
        if width == 1:
            return ["prediction"], [0]
        return [f"output {k}" for k in range(width)], list(range(width))


def _as_matrix(returned: Any, n: int, name: str) -> FloatArray:
    """``(n,)``, ``(n, 1)``, ``(n, k)``, lists, Series and lists of class matrices as ``(n, k)``."""
    if (
        isinstance(returned, list)
        and returned
        and isinstance(returned[0], np.ndarray)
        and returned[0].ndim == 2
    ):
        returned = np.hstack([part[:, 1:] if part.shape[1] == 2 else part for part in returned])
    if hasattr(returned, "detach"):
        returned = returned.detach().cpu().numpy()
    try:
        array = np.array(returned, dtype=np.float64)
    except (TypeError, ValueError):
        first = np.asarray(returned).ravel()[:1].tolist()
        raise ModelError(
            f"the model {name} returned {first}, which is no number; explain its probabilities (predict_proba) or a numeric score."
        ) from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim == 0 or array.ndim > 2:
        raise ModelError(
            f"the model {name} returned an array with {array.ndim} dimensions for {n} rows; it must return (rows,) or (rows, outputs)."
        )
    return array


def _same(a: AnyArray, b: AnyArray) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def _logit(p: FloatArray) -> FloatArray:
    if (p < -1e-9).any() or (p > 1 + 1e-9).any():
        raise InputError(
            f"link='logit' needs probabilities between 0 and 1, but the model returned {float(p.min()):g} to {float(p.max()):g}."
        )
    inside = np.clip(p, LOGIT_FLOOR, 1 - LOGIT_FLOOR)
    return np.asarray(np.log(inside) - np.log1p(-inside))
