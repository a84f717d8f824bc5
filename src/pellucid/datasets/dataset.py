"""What a data set function returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with its target, origin and terms of use; unpacks as ``X, y = dataset``."""

    name: str
    X: pd.DataFrame
    y: pd.Series
    target: str
    description: str
    licence: str
    citation: str

    @property
    def frame(self) -> pd.DataFrame:
        """A new frame: the features, then the target as the last column."""
        return self.X.assign(**{self.target: self.y})

    def __iter__(self) -> Iterator[pd.DataFrame | pd.Series]:
        yield self.X
        yield self.y

    def __repr__(self) -> str:
        rows, features = self.X.shape
        return f"{type(self).__name__}({self.name!r}: {rows} rows, {features} features, target {self.target!r})"
