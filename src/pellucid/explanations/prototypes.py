"""Prototypes: typical rows and the rows they represent badly, with what the model says of them; and like rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, freeze
from pellucid.data.cells import objects
from pellucid.explanations.explanation import Explanation, native_table
from pellucid.explanations.plot_options import NeighborOptions, PrototypeOptions
from pellucid.explanations.store import stored
from pellucid.words import TABLE, Vocabulary


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Discrepancy:
    """How far the prototypes are from all rows: ``mmd2``, the squared maximum mean discrepancy, 0 where they are alike.

    ``se`` is its standard error where the rows were sampled (else 0); ``weighted`` is MMD² if each prototype counts by
    its ``weights``, which are chosen for that; under ``method="weighted"`` ``mmd2`` is the same. ``curve`` has MMD²
    with 1, 2, ... prototypes along the greedy path, or in the order given (the scree plot), beyond the number chosen;
    ``silhouettes`` the same for the mean silhouette, ``elbow`` the number at which the curve bends. ``kernel`` and
    ``width`` say what alike means; ``half`` and ``double`` are MMD² of the same prototypes at half and double the
    width, ``kept`` the share of the criticisms that stay, or have a like one, with a fifth fewer and a fifth more
    prototypes (all NaN without checks).
    """

    mmd2: float
    se: float
    weighted: float
    weights: FloatArray
    curve: FloatArray
    silhouettes: FloatArray
    elbow: int
    kernel: str
    width: float
    half: float = float("nan")
    double: float = float("nan")
    kept: float = float("nan")

    def __post_init__(self) -> None:
        freeze(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class RowMap:
    """Rows in the plane: ``points`` (some of all rows) with their ``witness``, and the examples at ``places``.

    The axes are the two features, or the first two principal components; ``unit`` is the standard deviation along
    each, in which the kernel's width is measured where they are features (else ``plain`` is False).
    """

    points: FloatArray
    places: FloatArray
    witness: FloatArray
    axes: tuple[str, str]
    unit: FloatArray
    plain: bool

    def __post_init__(self) -> None:
        freeze(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Prototypes(Explanation, options=PrototypeOptions):
    """Typical rows (prototypes), and rows that these represent badly (criticisms), the largest share first.

    `values` is the share of all rows that is nearest to each prototype. Everything else has one line per example,
    prototypes first (``roles`` says which): ``cells`` holds one array per column (``column_names``), ``predictions``
    (rows, outputs) what the model says, ``outcomes`` the truth (empty without y) and ``errors`` how far off the model
    is (1 for a wrong class; NaN without y), to be compared with ``usual_error``, that of a sample of all rows.
    ``groups`` names the class of each under ``by=``. ``witness`` is above 0 where prototypes are too few for the data,
    below where they are too many; ``nearest`` is the place of the nearest prototype. ``contrast`` (prototypes,
    columns) is by how many standard deviations the rows of a prototype differ from all rows; of a category it is
    about the prototype's own level. ``images`` holds the examples themselves where they are images.
    """

    roles: tuple[str, ...]
    cells: tuple[AnyArray, ...]
    column_names: tuple[str, ...]
    predictions: FloatArray
    outcomes: AnyArray
    errors: FloatArray
    usual_error: float
    groups: tuple[str, ...]
    witness: FloatArray
    nearest: IntArray
    contrast: FloatArray
    discrepancy: Discrepancy | None
    map: RowMap | None = None
    images: tuple[AnyArray, ...] = ()

    @property
    def vocabulary(self) -> Vocabulary:
        return _VOCABULARIES.get(str(self.settings.get("of")), TABLE)

    @property
    def mmd2(self) -> float:
        """The squared maximum mean discrepancy between the prototypes and all rows."""
        return float("nan") if self.discrepancy is None else self.discrepancy.mmd2

    def places(self, role: str = "prototype") -> IntArray:
        """Where the examples of a role are among all of them."""
        return np.flatnonzero([each == role for each in self.roles])

    @property
    def prototypes(self) -> AnyArray:
        """The labels of the prototypes (positions in X where rows have no labels)."""
        return self.row_labels.column_of(len(self.roles))[self.places()]

    @property
    def criticisms(self) -> AnyArray:
        """The labels of the criticisms."""
        return self.row_labels.column_of(len(self.roles))[self.places("criticism")]

    def columns(self) -> dict[str, AnyArray]:
        """One line per example: its role, row, share and weight (of prototypes), witness and cells, what the model says
        and what is true.
        """
        share, weight = (np.full(len(self.roles), np.nan) for _ in range(2))
        share[: len(self.values)] = self.values
        if self.discrepancy is not None:
            weight[: len(self.values)] = self.discrepancy.weights
        return self._table({"share": share, "weight": weight, "witness": self.witness})

    def _table(self, measured: dict[str, AnyArray]) -> dict[str, AnyArray]:
        first = {"role": objects(list(self.roles)), "row": self.row_labels.column_of(len(self.roles))}
        group = {"group": objects(list(self.groups))} if any(self.groups) else {}
        cells = dict(zip(self.column_names, self.cells, strict=True))
        said = {f"predicted {name}": self.predictions[:, k] for k, name in enumerate(self.output_names)}
        truth = {"outcome": self.outcomes, "error": self.errors} if len(self.outcomes) else {}
        own = {**first, **group, **measured}
        return {**{_apart(name, cells): part for name, part in own.items()}, **cells, **said, **truth}

    def rows(self) -> Any:
        """The examples as whole rows, without what was measured of them, in your dataframe library."""
        return native_table(dict(zip(self.column_names, self.cells, strict=True)), self.library)

    def findings(self) -> list[str]:
        from pellucid.explanations.prototype_words import prototype_findings

        return prototype_findings(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Neighbors(Prototypes, options=NeighborOptions):
    """The rows of the data that are most like one row, the nearest first, and the nearest that is predicted otherwise.

    `values` are the distances of the neighbours. Lines of the rest are, by ``roles``: the row itself, its neighbours,
    and (where there is one) the nearest unlike row, whose distance is ``unlike``. ``distance`` names what was measured.
    """

    distance: str
    unlike: float

    @property
    def neighbors(self) -> AnyArray:
        """The labels of the neighbours, the nearest first."""
        return self.row_labels.column_of(len(self.roles))[self.places("neighbour")]

    def columns(self) -> dict[str, AnyArray]:
        """One line per row: its role, row, distance and cells, what the model says and what is true."""
        return self._table({"distance": np.concatenate([[0.0], self.values, [self.unlike]])[: len(self.roles)]})

    def findings(self) -> list[str]:
        from pellucid.explanations.prototype_words import neighbor_findings

        return neighbor_findings(self)


_VOCABULARIES = {"text": Vocabulary("text", "word", "variant"), "image": Vocabulary("image", "pixel", "variant")}


def _apart(name: str, taken: dict[str, AnyArray]) -> str:
    """A name for a column that no feature has."""
    while name in taken:
        name += "_"
    return name
