"""Reads UBJSON, the binary form of JSON in which XGBoost hands out a model: its arrays are read in one piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any, Final

import numpy as np

from pellucid.trees.convert.tree_model import Unsupported

# Numbers are stored with the high byte first; the marker is the letter before the number.
_NUMBERS: Final = {
    ord(marker): (Struct(f">{code}"), np.dtype(f">{code}"))
    for marker, code in {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q", "d": "f", "D": "d"}.items()
}
_CONSTANTS: Final = {ord("T"): True, ord("F"): False, ord("Z"): None}


def read(data: bytes) -> Any:
    """The value that the bytes hold; arrays of numbers of one kind become numpy arrays."""
    return _Reader(data).value()


class _Reader:
    """The bytes and the position of the next one."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._containers: dict[int, Callable[[], Any]] = {
            ord("{"): self._object,
            ord("["): self._array,
            ord("S"): self._text,
        }

    def value(self) -> Any:
        return self._of(self._next())

    def _next(self) -> int:
        marker = self._data[self._at]
        self._at += 1
        return marker

    def _of(self, marker: int) -> Any:
        number = _NUMBERS.get(marker)
        if number is not None:
            self._at += number[0].size
            return number[0].unpack_from(self._data, self._at - number[0].size)[0]
        container = self._containers.get(marker)
        if container is not None:
            return container()
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        raise Unsupported(f"an XGBoost model whose UBJSON has the unknown marker {chr(marker)!r}")

    def _text(self) -> str:
        length = self.value()
        self._at += length
        return self._data[self._at - length : self._at].decode()

    def _object(self) -> dict[str, Any]:
        return {self._text(): self.value() for _ in self._entries("}")}

    def _array(self) -> Any:
        data, at = self._data, self._at
        if data[at] == ord("$") and data[at + 1] in _NUMBERS:
            self._at = at + 3  # "$", the kind of all elements, "#"
            count, dtype = self.value(), _NUMBERS[data[at + 1]][1]
            array = np.frombuffer(data, dtype, count, self._at)
            self._at += count * dtype.itemsize
            return array
        return [self.value() for _ in self._entries("]")]

    def _entries(self, end: str) -> Iterator[None]:
        """Once for each entry: as many as are announced, or up to the closing marker."""
        if self._data[self._at] == ord("#"):
            self._at += 1
            for _ in range(self.value()):
                yield
            return
        while self._data[self._at] != ord(end):
            yield
        self._at += 1
