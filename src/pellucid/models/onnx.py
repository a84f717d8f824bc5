"""ONNX: a file, an onnx ModelProto or an onnxruntime session; one matrix input or one input per column."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray
from pellucid.data import is_missing, library_of
from pellucid.errors import InputError, require
from pellucid.models.adapter import Adapter, numbers_only

_DTYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
_ANY_TABLE = ("pandas", "polars", "arrow", "records", "sparse", "numpy")


def adapt(model: Any) -> Adapter:
    """Probabilities where the graph has them, else its first output."""
    graph = _Graph(model)
    single = len(graph.inputs) == 1
    columns = graph.width if single else len(graph.inputs)
    meaning: dict[str, Any] = {"opaque": not graph.classifies}
    if graph.classifies:
        meaning |= {"task": "classification", "scale": "probability", "learn_classes": graph.learn_classes}
    return Adapter(
        library="onnx",
        name="ONNX model",
        predict=graph,
        feature_names=None if single else tuple(entry.name for entry in graph.inputs),
        n_features=columns,
        canonical=_identifier,
        containers=dict.fromkeys(_ANY_TABLE, ("numpy",) if single else ("pandas",)),
        **meaning,
    )


def _identifier(name: str) -> str:
    """Exporters write names as identifiers."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


class _Graph:
    """A session that is asked with tables; it travels to other processes as the file it came from."""

    def __init__(self, model: Any) -> None:
        self._source = _source(model)
        self._open()

    def _open(self) -> None:
        self._session = _session(self._source)
        self.inputs = self._session.get_inputs()
        self._output, self._labels = _choose_outputs(self._session.get_outputs())
        self.classifies = "map(" in self._output.type or "prob" in self._output.name.lower()

    def __getstate__(self) -> dict[str, Any]:
        return {"_source": self._source}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._source = state["_source"]
        self._open()

    @property
    def width(self) -> int | None:
        """Columns of a single matrix input, where the graph tells."""
        shape = self.inputs[0].shape
        return shape[1] if len(shape) == 2 and isinstance(shape[1], int) else None

    def __call__(self, table: Any) -> AnyArray:
        (raw,) = self._run(table, [self._output.name])
        if isinstance(raw, list):  # a ZipMap gives one {class: probability} per row
            return np.array([list(row.values()) for row in raw])
        return np.asarray(raw)

    def _run(self, table: Any, outputs: list[str]) -> list[Any]:
        answers: list[Any] = self._session.run(outputs, self._feed(table))
        return answers

    def _feed(self, table: Any) -> dict[str, AnyArray]:
        if len(self.inputs) == 1:
            entry = self.inputs[0]
            return {entry.name: _tensor(np.asarray(table), entry, "X")}
        named = {}
        for position, entry in enumerate(self.inputs):
            column = table.iloc[:, position]
            values = column.to_numpy(dtype=object if entry.type == "tensor(string)" else None)
            named[entry.name] = _tensor(values.reshape(-1, 1), entry, f"column {column.name!r}")
        return named

    def learn_classes(self, table: Any) -> tuple[Any, ...] | None:
        """The keys of a ZipMap, or the labels the graph gives to rows where each class is the likeliest."""
        if "map(" in self._output.type:
            (rows,) = self._run(table, [self._output.name])
            return tuple(rows[0])
        if self._labels is None:
            return None
        labels, scores = self._run(table, [self._labels.name, self._output.name])
        return _labels_by_column(np.asarray(labels).ravel(), np.asarray(scores))


def _labels_by_column(labels: AnyArray, scores: AnyArray) -> tuple[Any, ...]:
    """The label that goes with each column of scores; 0, 1, ... if a class never wins."""
    if scores.shape[1] == 1:
        cut = 0.5 if ((scores >= 0) & (scores <= 1)).all() else 0.0
        scores = np.hstack([2 * cut - scores, scores])
    clear = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) == 1
    winners = scores.argmax(axis=1)[clear].tolist()
    seen = dict(zip(winners, labels[clear].tolist(), strict=True))
    count = scores.shape[1]
    return tuple(seen[k] for k in range(count)) if len(seen) == count else tuple(range(count))


def _source(model: Any) -> Any:
    """A path, the bytes of a model, or a session that only its owner can open again."""
    if "onnxruntime" in library_of(model):
        return model
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    path = Path(model)
    if not path.is_file():
        raise InputError(f"there is no ONNX file {str(path)!r}; check the path.")
    return str(path)


def _session(source: Any) -> Any:
    runtime = require("onnxruntime", extra="onnx", purpose="an ONNX model")
    if not isinstance(source, str | bytes):
        return source
    try:
        return runtime.InferenceSession(source, providers=["CPUExecutionProvider"])
    except Exception as error:
        what = f"the file {source!r}" if isinstance(source, str) else "the model"
        raise InputError(
            f"onnxruntime cannot read {what} ({str(error).splitlines()[0]}); export it again as ONNX."
        ) from error


def _choose_outputs(outputs: list[Any]) -> tuple[Any, Any]:
    """The output to explain, and the one that holds the predicted label, if any."""
    for entry in outputs:
        if "map(" in entry.type or "prob" in entry.name.lower():
            return entry, next((other for other in outputs if "label" in other.name.lower()), None)
    return outputs[0], None


def _tensor(values: AnyArray, entry: Any, where: str) -> AnyArray:
    """Values in the type of an input; ONNX has no missing text, integers or booleans."""
    dtype = _DTYPES.get(entry.type, np.float32)
    if dtype is np.object_:
        _refuse_missing(np.vectorize(is_missing, otypes=[bool])(values), entry, where)
        return values.astype(str).astype(object)
    numbers = numbers_only(values, "ONNX model")
    if not issubclass(dtype, np.floating):
        _refuse_missing(np.isnan(numbers.astype(np.float64)), entry, where)
    return numbers.astype(dtype)


def _refuse_missing(missing: BoolArray, entry: Any, where: str) -> None:
    if missing.any():
        row = int(np.flatnonzero(missing.any(axis=1))[0])
        raise InputError(
            f"{where} is missing in row {row} of a batch, but the ONNX input {entry.name!r} ({entry.type}) cannot be;"
            " fill the missing values first."
        )
