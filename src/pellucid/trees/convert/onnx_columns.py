"""From the table an ONNX model is asked with to the matrix its trees compare: the operators before the trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data.frames.doorway import library_of
from pellucid.errors import InputError
from pellucid.trees.convert.tree_model import Unsupported


class Columns(Protocol):
    """Columns of numbers that are computed from the user's table."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type that the graph has here."""

    @property
    def source(self) -> IntArray | None:
        """The user's column behind each; None for all columns of a matrix whose width is not told."""

    def __call__(self, table: Any) -> AnyArray:
        """The columns, rows first."""


@dataclass(frozen=True, eq=False)
class _Input:
    """An input of the graph: the whole table, or one of its columns."""

    name: str
    dtype: np.dtype[Any]
    position: int | None
    source: IntArray | None

    def __call__(self, table: Any) -> AnyArray:
        if hasattr(table, "tocsr"):
            table = table.toarray()
        if self.position is not None:
            is_frame = "pandas" in library_of(table)
            column = table.iloc[:, self.position] if is_frame else np.asarray(table)[:, self.position]
            table = np.reshape(np.asarray(column), (-1, 1))
        values = np.asarray(table)
        if values.dtype.kind not in "fiub":
            values = values.astype(np.float64)
        if self.dtype.kind != "f" and values.dtype.kind == "f" and np.isnan(values).any():
            raise InputError(
                f"the ONNX input {self.name!r} ({self.dtype}) cannot be missing; fill the missing values first."
            )
        with np.errstate(over="ignore"):  # a double beyond the singles is infinite, as in the runtime
            return values.astype(self.dtype)


@dataclass(frozen=True, eq=False)
class _Cast:
    of: Columns
    dtype: np.dtype[Any]

    @property
    def source(self) -> IntArray | None:
        return self.of.source

    def __call__(self, table: Any) -> AnyArray:
        with np.errstate(over="ignore"):
            return self.of(table).astype(self.dtype)


@dataclass(frozen=True, eq=False)
class _Scaler:
    """``(x - offset) * scale`` in the input's own precision, then single."""

    of: Columns
    offset: AnyArray
    scale: AnyArray

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32)

    @property
    def source(self) -> IntArray | None:
        return self.of.source

    def __call__(self, table: Any) -> AnyArray:
        x = self.of(table)
        x = x if x.dtype.kind == "f" else x.astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            return ((x - self.offset) * self.scale).astype(np.float32)


@dataclass(frozen=True, eq=False)
class _Imputer:
    of: Columns
    values: AnyArray
    replaced: float

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.of.dtype

    @property
    def source(self) -> IntArray | None:
        return self.of.source

    def __call__(self, table: Any) -> AnyArray:
        x = self.of(table)
        absent: BoolArray = np.isnan(x) if np.isnan(self.replaced) else x == self.replaced
        return np.where(absent, self.values.astype(x.dtype), x)


@dataclass(frozen=True, eq=False)
class _Concat:
    parts: tuple[Columns, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.parts[0].dtype

    @property
    def source(self) -> IntArray | None:
        sources = [part.source for part in self.parts]
        known = [source for source in sources if source is not None]
        return np.concatenate(known) if len(known) == len(sources) else None

    def __call__(self, table: Any) -> AnyArray:
        return np.concatenate([part(table) for part in self.parts], axis=1)


@dataclass(frozen=True, eq=False)
class Encoder:
    """The matrix that the trees compare, as doubles; of a graph that does not tell its width, the used columns."""

    columns: Columns
    width: int

    def __call__(self, table: Any) -> FloatArray:
        return np.asarray(self.columns(table)[:, : self.width], dtype=np.float64)


def columns_of(graph: Any, name: str) -> Columns:
    """Follow a value of the graph back to the graph's inputs."""
    return _Reader(graph).read(name)


class _Reader:
    def __init__(self, graph: Any) -> None:
        given = {entry.name for entry in graph.initializer}
        self._inputs = {entry.name: entry for entry in graph.input if entry.name not in given}
        self._positions = {name: place for place, name in enumerate(self._inputs)}
        self._makers = {output: node for node in graph.node for output in node.output}

    def read(self, name: str) -> Columns:
        if name in self._inputs:
            return self._input(name)
        node = self._makers.get(name)
        if node is None:
            raise Unsupported(f"ONNX trees that compare the constant {name!r}")
        readers = {
            "Identity": self._identity,
            "Cast": self._cast,
            "Scaler": self._scaler,
            "Imputer": self._imputer,
            "Concat": self._concat,
        }
        if node.op_type not in readers:
            raise Unsupported(f"ONNX operator {node.op_type} before the trees")
        return readers[node.op_type](node)

    def _input(self, name: str) -> Columns:
        tensor = self._inputs[name].type.tensor_type
        dtype = _dtype(tensor.elem_type, f"input {name!r}")
        dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        if len(dims) != 2:
            raise Unsupported(f"ONNX input {name!r} with {len(dims)} dimensions")
        if len(self._inputs) == 1:
            return _Input(name, dtype, None, np.arange(dims[1]) if dims[1] else None)
        if dims[1] not in (None, 1):
            raise Unsupported(f"ONNX input {name!r} of {dims[1]} columns beside other inputs")
        position = self._positions[name]
        return _Input(name, dtype, position, np.array([position]))

    def _identity(self, node: Any) -> Columns:
        return self.read(node.input[0])

    def _cast(self, node: Any) -> Columns:
        dtype = _dtype(attributes(node)["to"], "Cast")
        if dtype not in (np.float32, np.float64):
            raise Unsupported(f"ONNX Cast to {dtype} before the trees")
        return _Cast(self.read(node.input[0]), dtype)

    def _scaler(self, node: Any) -> Columns:
        given = attributes(node)
        offset, scale = (np.asarray(given.get(key, []), dtype=np.float32) for key in ("offset", "scale"))
        if not len(offset) or len(offset) != len(scale):
            raise Unsupported("ONNX Scaler without offset and scale of one length")
        return _Scaler(self.read(node.input[0]), offset, scale)

    def _imputer(self, node: Any) -> Columns:
        given, of = attributes(node), self.read(node.input[0])
        if of.dtype == np.float32 and given.get("imputed_value_floats"):
            values = np.asarray(given["imputed_value_floats"], dtype=np.float32)
            return _Imputer(of, values, float(given.get("replaced_value_float", 0.0)))
        if of.dtype == np.int64 and given.get("imputed_value_int64s"):
            values = np.asarray(given["imputed_value_int64s"], dtype=np.int64)
            return _Imputer(of, values, int(given.get("replaced_value_int64", 0)))
        raise Unsupported(f"ONNX Imputer of {of.dtype}")

    def _concat(self, node: Any) -> Columns:
        if attributes(node)["axis"] not in (1, -1):
            raise Unsupported("ONNX Concat of rows before the trees")
        parts = tuple(self.read(name) for name in node.input)
        if any(part.source is None for part in parts):
            raise Unsupported("ONNX Concat of a matrix whose width the graph does not tell")
        return _Concat(parts)


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node by name."""
    from onnx import helper

    return {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}


def _dtype(element: int, where: str) -> np.dtype[Any]:
    from onnx import TensorProto, helper

    if element in (0, TensorProto.STRING):
        raise Unsupported(f"ONNX {where} of type {TensorProto.DataType.Name(element).lower()}")
    return np.dtype(helper.tensor_dtype_to_np_dtype(element))
