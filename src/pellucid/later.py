"""Something that is worked out when it is first looked at, if ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """A value that costs more than the answer it belongs to, and is not always wanted.

    It is worked out once. Whoever sends it away (into a file, to another process) sends the value.

    >>> Later(lambda: 6 * 7).value
    42
    """

    def __init__(self, work_out: Callable[[], T]) -> None:
        self._work_out: Callable[[], T] | None = work_out
        self._value: T

    @property
    def value(self) -> T:
        """The value."""
        work_out = self._work_out
        if work_out is not None:
            self._value = work_out()
            self._work_out = None
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self.value,)


def _known(value: T) -> Later[T]:
    return Later(lambda: value)
