"""Predictor: the one object through which every method asks the model.

It times and checks every call (the runner batches and counts them), and turns whatever the model
returns into a float64 array ``(rows, outputs)`` with named outputs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import one_of
from pellucid.data.frames.doorway import as_frame, convert
from pellucid.data.frames.frame import Frame
from pellucid.errors import InputError, ModelError, PellucidError
from pellucid.models.adapter import Adapter, OneHot, Predict, Scale, Task, unfitted
from pellucid.models.columns import match_columns
from pellucid.models.outputs import LOGIT_FLOOR, ClassNames, as_matrix, check_numbers, log_odds, read_outputs
from pellucid.models.quiet import quietly
from pellucid.models.registry import adapt

__all__ = ["LOGIT_FLOOR", "Link", "Predictor"]

Link = Literal["identity", "logit"]
_VERBS = ("predict_proba", "predict_log_proba", "decision_function", "predict")
_PROBE_ROWS = 16
_LABEL_ROWS = 1000
_ROUNDING = 1e-6  # relative; what threads and single precision change is no instability


class Predictor:
    """A model bound to the kind of table it is called with.

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
        The true outcomes, used only to name the classes of a model that does not.
    feature_names
        Names for the columns of a matrix.
    class_names
        What to call the classes, in the order of the model's labels, or by label: ``{0: "bad", 1: "good"}``.
    sample
        How many evenly spaced rows of X to predict along with the first few, in the same two calls.

    Attributes
    ----------
    container
        The kind of table the model is called with.
    probe, probed
        The rows that were predicted, and all outputs for them, as a full prediction.
    sample
        The same for the ``sample`` rows alone.
    names
        The columns of X; for a matrix without names those of the model, where it has some.
    instability
        By how much predictions change when the model is called again with the same rows, in another order
        and in other batches, as a share of their range: 0 for a deterministic model.
    mutates
        Whether the model writes into the table it is given; it then gets a copy.
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
        class_names: ClassNames | None = None,
        sample: int = 0,
    ) -> None:
        self.link = link
        self._adapter = adapt(model)
        frame, self._columns = match_columns(self._adapter, X, feature_names)
        self.names = frame.names
        self._width: int | None
        self.mutates: bool
        few = _spread(frame, _PROBE_ROWS)
        self.probe = frame.take(np.append(few, _spread(frame, sample)))
        self.container, raw, self.instability = self._settle(self.probe, len(few))
        outputs = read_outputs(self._adapter, raw[: len(few)], self._learn_classes(frame), labels, class_names)
        self._outputs = outputs if output is None else outputs.chosen(output)
        self._check_link()
        self.probed = outputs.complete(raw)
        self.sample = self.probed[len(few) :]

    def _check_link(self) -> None:
        one_of("link", self.link, ("identity", "logit"))
        if self.link == "logit" and not self._outputs.could_be_probability:
            raise InputError(
                f"link='logit' needs probabilities, but {self.name} returns a {self.raw_scale}; use link='identity'."
            )

    def linked(self, link: Link) -> Predictor:
        """The same predictor that explains probabilities (``"identity"``) or their log-odds (``"logit"``)."""
        if link == self.link:
            return self
        other = copy(self)
        other.link = link
        other._check_link()
        return other

    # -- what the model is ---------------------------------------------------------------------------

    def over(self, predict: Predict, *, library: str, name: str) -> Predictor:
        """The same columns, outputs, classes and link over another model; ``predict`` leaves its table as it is."""
        other = copy(self)
        other._adapter = Adapter(library=library, name=name, predict=predict)
        other.mutates = False
        return other

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
        """Regression, classification or scores (clusters, outliers, several targets)."""
        return self._outputs.task

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The classes of a classifier, one per column of a full prediction, as people call them."""
        return self._outputs.classes

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The same classes as the labels that the model was fitted to."""
        return self._outputs.labels

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the explained outputs."""
        return self._outputs.names

    @property
    def scale(self) -> Scale:
        """What the numbers are: probability, log-odds, response, score or distance."""
        return "log-odds" if self.link == "logit" else self._outputs.scale

    @property
    def raw_scale(self) -> Scale:
        """What the numbers of a full prediction are."""
        return self._outputs.scale

    @property
    def width(self) -> int:
        """Columns of a full prediction."""
        return len(self._outputs.all_names)

    @property
    def explained(self) -> tuple[int, ...]:
        """Positions of the explained outputs among the columns of a full prediction."""
        return self._outputs.keep

    @property
    def model(self) -> Any:
        """The model itself, for what reads its structure; it is called only through this object."""
        return self._adapter.model

    @property
    def verb(self) -> str | None:
        """The name of the model's own method through which it is called, such as ``predict_proba``, where there is
        one.
        """
        asked = self._adapter.predict
        asked = asked.predict if isinstance(asked, OneHot) else asked
        name: str | None = getattr(asked, "__name__", None)
        return name if name in _VERBS and getattr(asked, "__self__", None) is self.model else None

    @property
    def mirrored(self) -> bool:
        """Whether the model gives one column for two classes."""
        return self._outputs.mirrored

    @property
    def columns(self) -> tuple[int, ...]:
        """For each of the model's own columns, its position in the caller's table."""
        order = self._columns.order
        return tuple(range(self._columns.width)) if order is None else order

    # -- asking --------------------------------------------------------------------------------------

    def align(self, frame: Frame) -> Frame:
        """The frame as the kind of table the model wants."""
        return convert(frame, self.container)

    def dressed(self, frame: Frame) -> Any:
        """The native table that the model's own predict gets for this frame."""
        return self._dress(self.align(frame).native, len(frame))

    def __call__(self, table: Any, n: int) -> FloatArray:
        """Predictions ``(n, outputs)`` for a native table of ``n`` rows."""
        return self.timed(table, n)[0]

    def timed(self, table: Any, n: int) -> tuple[FloatArray, float]:
        """Predictions of the explained outputs, and the seconds spent inside the model."""
        full, seconds = self.timed_full(table, n)
        return self.restrict(full), seconds

    def timed_full(self, table: Any, n: int) -> tuple[FloatArray, float]:
        """All outputs, whatever `output` and `link` say: what a loss compares with y.

        A classifier with two classes has two columns here, whether or not it returns both.
        """
        raw, seconds = self._ask(table, n)
        return self._outputs.complete(raw), seconds

    def restrict(self, full: FloatArray) -> FloatArray:
        """The explained outputs of a full prediction, on the explained scale."""
        chosen = self._outputs.restrict(full)
        return log_odds(chosen) if self.link == "logit" else chosen

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives derivatives."""
        return self._adapter.gradient is not None

    def gradient(self, table: Any, n: int, *, full: bool = False) -> FloatArray:
        """Partial derivatives ``(n, features, outputs)`` of the explained outputs; ``full``: of all, as the model has
        them.
        """
        if self._adapter.gradient is None:
            raise InputError(f"{self.name} gives no gradients; leave gradient=False to use differences.")
        if self.link != "identity" and not full:
            raise InputError("gradients are taken on the model's own scale; use link='identity'.")
        raw = np.asarray(self._adapter.gradient(self._dress(table, n)), dtype=np.float64)
        raw = raw[:, :, None] if raw.ndim == 2 else raw
        if raw.ndim != 3 or raw.shape[0] != n or raw.shape[2] != self._width or not np.isfinite(raw).all():
            raise ModelError(
                f"the gradient of {self.name} has shape {raw.shape} or is not finite; expected a finite number per row,"
                " feature and output."
            )
        if self._outputs.mirrored:
            raw = np.concatenate([-raw, raw], axis=2)
        every = self._columns.undress(raw)
        return every if full else self._outputs.restrict(every)

    def _dress(self, table: Any, n: int) -> Any:
        """The table as the model knows it, and its own copy if it writes into it."""
        table = self._columns.dress(table)
        return as_frame(table).take(np.arange(n)).native if self.mutates else table

    def _ask(self, table: Any, n: int) -> tuple[FloatArray, float]:
        table = self._dress(table, n)
        start = time.perf_counter()
        try:
            with quietly():
                returned = self._adapter.predict(table)
        except PellucidError:
            raise
        except Exception as error:
            raise _failure(self.name, n, error) from error
        seconds = time.perf_counter() - start
        raw = as_matrix(returned, n, self.name)
        check_numbers(raw, self._width, self.name)
        return raw, seconds

    # -- learning what the model returns -------------------------------------------------------------

    def _settle(self, frame: Frame, few: int) -> tuple[str, FloatArray, float]:
        """The first kind of table that the model can read, with its first predictions."""
        first: PellucidError | None = None
        for kind in _kinds(self._adapter, frame):
            self._width, self.mutates = None, False
            try:
                return kind, *self._probe(convert(frame, kind), few)
            except PellucidError as error:
                first = first or error
        raise first or AssertionError("every model takes some kind of table")

    def _probe(self, frame: Frame, few: int) -> tuple[FloatArray, float]:
        """Predictions of all rows in two calls, and by how much those of the first few differ when in both.

        The second call has the few in reverse order and other rows beside them.
        """
        n = len(frame)
        half = few + (n - few) // 2
        own, kept = frame.take(np.arange(half)), frame.head(half)
        raw, _ = self._ask(own.native, half)
        self._width = raw.shape[1]
        self.mutates = not _same_table(own, kept)
        others = np.append(np.arange(half, n), np.arange(few)[::-1])
        more, _ = self._ask(frame.take(others).native, len(others))
        first, again = raw[:few], more[n - half :][::-1]
        raw = np.concatenate([raw, more[: n - half]])
        change = float(np.abs(first - again).max())
        if change <= _ROUNDING * float(np.abs(first).max()):
            return raw, 0.0
        return raw, change / (float(np.ptp(first, axis=0).max()) or change)

    def _learn_classes(self, frame: Frame) -> tuple[Any, ...] | None:
        if self._adapter.learn_classes is None:
            return self._adapter.classes
        rows = self.align(frame.take(_spread(frame, _LABEL_ROWS)))
        return self._adapter.learn_classes(self._dress(rows.native, len(rows)))


def _kinds(adapter: Adapter, frame: Frame) -> tuple[str, ...]:
    """Kinds of table to try; pandas columns without text as names are no names to any library."""
    if frame.kind == "pandas" and not all(isinstance(label, str) for label in frame.native.columns):
        return ("pandas",)
    return adapter.containers.get(frame.kind, (frame.kind,))


def _spread(frame: Frame, most: int) -> IntArray:
    """At most so many row positions, evenly spaced."""
    return np.unique(np.linspace(0, len(frame) - 1, min(most, len(frame))).astype(np.intp))


def _same_table(now: Frame, before: Frame) -> bool:
    """Whether a table still holds what it held before the model saw it."""
    if now.kind == "pandas" and now.native.equals(before.native):  # quicker than column by column
        return True
    seen = as_frame(now.native)
    if len(seen) != len(before) or len(seen.names) < len(before.names):
        return False
    pairs = ((seen.values(j), before.values(j)) for j in range(len(before.names)))
    return all(np.array_equal(a, b, equal_nan=b.dtype.kind in "fM") for a, b in pairs)


def _failure(name: str, n: int, error: Exception) -> PellucidError:
    if type(error).__name__ == "NotFittedError":
        return unfitted(name)
    what = " ".join(str(error).split())[:300]
    return ModelError(f"the model {name} failed on a batch of {n} rows: {type(error).__name__}: {what}")


class MappedPredictor(Predictor):
    """The outputs, classes and scale of a predictor, for tables that ``back`` turns into tables of the model.

    ``container`` is the kind of table that ``back`` wants.
    """

    def __init__(self, predictor: Predictor, back: Callable[[Any, int], Any], container: str) -> None:
        vars(self).update(vars(predictor))
        self.container = container
        self._inner, self._back = predictor, back

    def timed_full(self, table: Any, n: int) -> tuple[FloatArray, float]:
        """All outputs for a table of ``n`` rows in the other features, and the seconds spent inside the model."""
        return self._inner.timed_full(self._back(table, n), n)
