"""ONNX: a file, an onnx ModelProto or an onnxruntime session; one matrix input or one input per column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.errors import InputError, require
from pellucid.models.adapter import Adapter, Scale, Task

_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def adapt(model: Any) -> Adapter:
    """Probabilities where the graph has them, else its first output."""
    session = _session(model)
    inputs = session.get_inputs()
    output, classes = _choose_output(session)
    single = len(inputs) == 1
    feed = _feed_matrix(inputs[0]) if single else _feed_columns(inputs)

    def predict(table: Any) -> AnyArray:
        (raw,) = session.run([output], feed(table))
        return _matrix(raw)

    task: Task = "regression"
    scale: Scale = "response"
    if classes is not None:
        task, scale = "classification", "probability"
    return Adapter(
        library="onnx",
        name="ONNX model",
        predict=predict,
        task=task,
        scale=scale,
        classes=classes or None,
        feature_names=None if single else tuple(entry.name for entry in inputs),
        n_features=_width(inputs[0]) if single else len(inputs),
        container=lambda kind: "numpy" if single else "pandas",
    )


def _session(model: Any) -> Any:
    runtime = require("onnxruntime", extra="onnx", purpose="an ONNX model")
    if hasattr(model, "get_inputs"):
        return model
    source = model.SerializeToString() if hasattr(model, "SerializeToString") else str(model)
    if isinstance(source, str) and not Path(source).exists():
        raise InputError(f"there is no ONNX file {source!r}.")
    try:
        return runtime.InferenceSession(source, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise InputError(f"onnxruntime cannot read the model: {str(error).splitlines()[0]}") from error


def _width(entry: Any) -> int | None:
    return entry.shape[1] if len(entry.shape) == 2 and isinstance(entry.shape[1], int) else None


def _choose_output(session: Any) -> tuple[str, tuple[Any, ...] | None]:
    """Name of the output to explain, and classes (empty: numbered) where it holds probabilities."""
    outputs = session.get_outputs()
    for entry in outputs:
        if "map(" in entry.type or "prob" in entry.name.lower():
            return entry.name, ()
    return outputs[0].name, None


def _feed_matrix(entry: Any) -> Callable[[AnyArray], dict[str, AnyArray]]:
    dtype = _DTYPES.get(entry.type, np.float32)
    return lambda table: {entry.name: np.ascontiguousarray(table, dtype=dtype)}


def _feed_columns(inputs: list[Any]) -> Callable[[Any], dict[str, AnyArray]]:
    """One (n, 1) tensor per column."""

    def feed(table: Any) -> dict[str, AnyArray]:
        named = {}
        for entry in inputs:
            values = table[entry.name].to_numpy()
            if entry.type == "tensor(string)":
                values = values.astype(str).astype(object)
            named[entry.name] = values.astype(_DTYPES.get(entry.type, np.float32)).reshape(-1, 1)
        return named

    return feed


def _matrix(raw: Any) -> AnyArray:
    """A tensor as it is; a list of {class: probability} as a matrix in class order."""
    if isinstance(raw, list) and raw and isinstance(raw[0], dict):
        return np.array([list(row.values()) for row in raw])
    return np.asarray(raw)
