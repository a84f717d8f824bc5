"""Attribution: how a prediction is shared out among the features of its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, freeze, frozen, row_blocks, sum_of_sizes
from pellucid.checks import one_of, whole
from pellucid.data import Data
from pellucid.data.rarity import Rarity, rarity
from pellucid.errors import InputError, nearest
from pellucid.explanations import attribution_views, attribution_words
from pellucid.explanations.attribution_views import Probability
from pellucid.explanations.attribution_words import GAMES as GAMES
from pellucid.explanations.attribution_words import shown_value as shown_value
from pellucid.explanations.by_row import ByRow
from pellucid.explanations.explanation import changed
from pellucid.explanations.plot_options import AttributionOptions
from pellucid.explanations.store import stored
from pellucid.explanations.to_shap import shap_explanation
from pellucid.later import Later
from pellucid.words import counted, value_name

_MODES = ("complete", "short")
_HELD = 2**25  # bytes of columns that are kept after they were looked at

stored(Rarity)


@dataclass(frozen=True)
class Additivity:
    """The row whose contributions miss its prediction most: by how much, and as a share of the row's numbers."""

    row: int
    residual: float
    relative: float


class Cells(Sequence[AnyArray]):
    """The values of many rows, one column per entry, made when it is looked at; pickled or saved, they are a tuple."""

    def __init__(self, reference: Data, rows: Data, players: Mapping[str, tuple[int, ...]], held: int = _HELD) -> None:
        self._reference, self._rows, self._players, self._most = reference, rows, dict(players), held
        self._members = tuple(players.values())
        self._held: dict[int, AnyArray] = {}

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, j: Any) -> Any:
        if isinstance(j, slice):
            return tuple(self[k] for k in range(len(self))[j])
        j = range(len(self))[j]
        found = self._held.get(j)
        if found is None:
            found = frozen(cells_of(self._rows, self._members[j]))
            while self._held and sum(column.nbytes for column in list(self._held.values())) + found.nbytes > self._most:
                self._held.pop(next(iter(list(self._held))), None)  # several threads may look at once
            self._held[j] = found
        return found

    def __iter__(self) -> Iterator[AnyArray]:
        return (self[j] for j in range(len(self)))

    def some(self, which: IntArray) -> tuple[tuple[AnyArray, ...], Later[Rarity]]:
        """The values in some rows, and how unusual they are."""
        rows = self._rows.take(which)
        cells = tuple(cells_of(rows, members) for members in self._members)
        return cells, Later(partial(rarity, self._reference, rows, self._players))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return tuple, (list(self),)


def cells_of(rows: Data, members: tuple[int, ...]) -> AnyArray:
    """The values of a feature in the explained rows; those of a group in words."""
    columns = [rows.schema.features[j].decode(rows.codes(j)) for j in members]
    if len(columns) == 1:
        return columns[0]
    names = [rows.schema.names[j] for j in members]
    said = [
        ", ".join(f"{name} = {shown_value(column[i])}" for name, column in zip(names, columns, strict=True))
        for i in range(len(rows))
    ]
    return np.array(said, dtype=object)


@stored
@dataclass(frozen=True, eq=False)
class Entries:
    """What the entries of contributions stand for.

    ``data`` holds, for each entry, its value in every row (for a group, those of its ``members`` in words; of a large
    table a column is made when it is looked at), ``unusual`` how unusual the values are. ``hidden`` is the share of a
    row's absolute contributions that `Attribution.sparse` has summed in the last entry.
    """

    data: Sequence[AnyArray]
    members: tuple[tuple[str, ...], ...] = ()
    unusual: Rarity | Later[Rarity] | None = None
    hidden: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def rarity(self) -> Rarity | None:
        """How unusual the values are, worked out if it has not been."""
        return self.unusual.value if isinstance(self.unusual, Later) else self.unusual

    @property
    def others(self) -> int | None:
        """The position of the sum of others that `Attribution.sparse` has made, if it has."""
        return None if self.hidden is None else len(self.data) - 1

    def for_output(self, k: Any) -> Entries:
        """Those of one output, or some, of several."""
        return self if self.hidden is None else replace(self, hidden=self.hidden[..., k])

    def rows(self, which: IntArray) -> Entries:
        """Those of some rows."""
        hidden = None if self.hidden is None else self.hidden[which]
        if isinstance(self.data, Cells):  # of many rows, which are left alone for the sake of a few
            data, unusual = self.data.some(which)
            return replace(self, data=data, unusual=unusual, hidden=hidden)
        rare = self.rarity
        cells = tuple(column[which] for column in self.data)
        return replace(self, data=cells, unusual=None if rare is None else rare.rows(which), hidden=hidden)

    def taken(self, places: Sequence[int], blank: int = 0) -> Entries:
        """Some of the entries, and so many more that stand for no feature."""
        rare = self.rarity
        empty = np.full(len(self.data[0]) if self.data else 1, "", dtype=object)
        return replace(
            self,
            data=(*(self.data[j] for j in places), *(empty,) * blank),
            members=(*(self.members[j] for j in places), *((),) * blank),
            unusual=None if rare is None else rare.taken(places, unknown=blank),
        )


@stored
@dataclass(frozen=True, eq=False)
class InteractionValues:
    """What pairs of features contribute together.

    ``values`` (rows, features, features) has half of each pair's interaction off the diagonal and what is left of the
    feature's contribution on it, outputs last if there are several; ``se`` are their standard errors where they are
    estimates. ``index`` says of which index ("shapley", "taylor", "banzhaf", "faithful"). ``triples`` (rows, features,
    features, features), of games of one's own, has the whole index of each triple.
    """

    values: FloatArray
    se: FloatArray | None = None
    index: str = "shapley"
    triples: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def each(self, change: Callable[[FloatArray], FloatArray]) -> InteractionValues:
        """The same change of values, errors and triples."""
        errors, triples = (None if part is None else change(part) for part in (self.se, self.triples))
        return replace(self, values=change(self.values), se=errors, triples=triples)


@stored
@dataclass(frozen=True)
class Reference:
    """What contributions are compared with.

    ``rows`` is how many background rows stand for an absent feature. Where the contributions start from one row, it is
    called ``name``, and ``values`` are its own, one per entry. Where the background is a sample, ``among`` is how many
    rows it was drawn from, and ``se`` the standard error, one per output, of the base as their average prediction.
    """

    rows: int = 0
    name: str = ""
    values: tuple[str, ...] = ()
    among: int = 0
    se: tuple[float, ...] = ()


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Attribution(ByRow, options=AttributionOptions):
    """Contributions ``values`` (rows, features), with outputs last if there are several.

    ``base`` is what the contributions start from, the average prediction (over a sample of the rows where a model has
    to be called: ``reference.rows`` of ``reference.among``, with the error ``reference.se``): one number, or one per
    output. ``prediction`` (rows, or rows x outputs) is where they lead, on the explained `scale`; what is missing is in
    `residual`. ``game`` says what an absent feature is, ``reference`` which rows stand for it.

    Drawn as a waterfall for one row and as a SHAP summary (beeswarm) plot for several (`plot`).

    ``entries`` says what the entries are: one feature each, or several; `data` are their values in every row.
    ``interactions``, where asked for, are those of pairs: `interaction_values` (rows, features, features).
    """

    method: str
    game: str
    base: FloatArray
    prediction: FloatArray
    entries: Entries
    interactions: InteractionValues | None = None
    reference: Reference = Reference()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.entries.members:
            alone = tuple((name,) for name in self.feature_names)
            object.__setattr__(self, "entries", replace(self.entries, members=alone))

    @property
    def data(self) -> Sequence[AnyArray]:
        """For each entry, its value in every row."""
        return self.entries.data

    @property
    def interaction_values(self) -> FloatArray | None:
        """Half of each pair's interaction off the diagonal and what is left of the feature's contribution on it."""
        return None if self.interactions is None else self.interactions.values

    @property
    def residual(self) -> FloatArray:
        """Prediction minus base minus the sum of the contributions: rounding, unless something is wrong."""
        return np.asarray(self.prediction - self.base - self.values.sum(axis=1))

    @property
    def additivity(self) -> Additivity:
        """How well base and contributions add up to the prediction, in the row where they do worst."""
        found: Additivity | None = None
        for rows in row_blocks(self.values):
            values, prediction = self.values[rows], self.prediction[rows]
            residual = np.abs(prediction - self.base - values.sum(axis=1))
            sizes = np.abs(values).sum(axis=1) + np.abs(self.base) + np.abs(prediction)
            shares = residual / np.where(sizes > 0, sizes, 1.0)
            worst = int(np.argmax(shares))  # NaN before all else
            share = float(shares.ravel()[worst])
            if found is None or share > found.relative or np.isnan(share) > np.isnan(found.relative):
                row = rows.start + worst // shares[:1].size
                found = Additivity(row, float(residual.ravel()[worst]), share)
        return found or Additivity(0, 0.0, 0.0)

    @property
    def probability(self) -> Probability | None:
        """Prediction and base as probabilities, whatever the scale; None where they are no classes'."""
        return attribution_views.as_probabilities(self)

    # -- parts ---------------------------------------------------------------------------------------

    def for_output(self, name: str) -> Self:
        """The contributions to one output (class) alone.

        The other class of a classifier with two is the mirror image: probabilities are counted from 1, log-odds
        and contributions change their sign.
        """
        if str(name) not in self.output_names:
            other = attribution_views.mirrored(self, str(name))
            if other is None:
                raise InputError(f"there is no output {name!r}{nearest(str(name), self.output_names)}")
            return other
        if len(self.output_names) == 1:
            return self
        return changed(self, output_names=(str(name),), **self._of_outputs(self.output_names.index(str(name))))

    def _some(self, which: IntArray) -> Self:
        """The contributions in some rows alone."""
        fields = self._arrays()
        del fields["base"]
        parts = {field: part[which] for field, part in fields.items()}
        orders = self.settings.get("order")
        kept = {"order": [orders[i] for i in which]} if isinstance(orders, list | tuple) else {}
        pairs = None if self.interactions is None else self.interactions.each(lambda part: part[which])
        return changed(
            self,
            settings={**self.settings, **kept},
            row_labels=self.row_labels.take(which),
            entries=self.entries.rows(which),
            interactions=pairs,
            **parts,
        )

    def _arrays(self) -> dict[str, Any]:
        """The fields that are arrays with outputs last."""
        return {name: getattr(self, name) for name in ("values", "se", "base", "prediction")}

    def _of_outputs(self, k: Any) -> dict[str, Any]:
        """The fields of one output, by its position, or of some."""
        return {
            **{name: part[..., k] for name, part in self._arrays().items()},
            "entries": self.entries.for_output(k),
            "reference": replace(self.reference, se=tuple(np.atleast_1d(np.array(self.reference.se)[k]).tolist()))
            if self.reference.se
            else self.reference,
            "interactions": None if self.interactions is None else self.interactions.each(lambda part: part[..., k]),
        }

    # -- views ---------------------------------------------------------------------------------------

    def sparse(self, k: int) -> Self:
        """The ``k`` features that contribute most, over all rows and outputs, and the sum of the others as one entry.

        ``entries.hidden`` is the fidelity lost: the share of each row's absolute contributions that is inside that sum.
        """
        return attribution_views.sparse(self, k)

    def group(self, groups: Mapping[str, Sequence[str]]) -> Self:
        """Contributions summed by groups, ``{"weather": ["temp", "hum"]}``; features in no group stay.

        A sum of contributions is not the contribution of the group as one player: that is had beforehand, with
        ``Explainer(groups=...)``. Interaction values are summed exactly; the error of a sum is bounded by the sum of
        the errors.
        """
        return attribution_views.group(self, groups)

    def contrast(self, other: int) -> Self:
        """Why this prediction rather than that of row ``other``, by its place among the explained rows.

        Every row's contributions less those of that row: they lead from its prediction to the row's own. The
        error of a difference is bounded by the sum of the errors.
        """
        return attribution_views.contrast(self, other)

    # -- overall -------------------------------------------------------------------------------------

    @property
    def ranking(self) -> IntArray:
        """Positions of the features from largest to smallest mean absolute contribution, over all outputs."""
        overall = sum_of_sizes(self.stacked()) / max(len(self) * len(self.output_names), 1)
        if self.entries.others is not None:  # no feature, so behind all of them
            overall[self.entries.others] = -1.0
        return np.asarray(np.argsort(-overall, kind="stable"), dtype=np.intp)

    def causes(self, n: int = 2) -> list[str]:
        """Names of at most ``n`` features to give as the reason, most telling first.

        Of one row: those that push the prediction towards where it lies, seen from the base. Size decides; among
        contributions of at least 90% of the largest left, the rarest value comes first. Of several
        rows: those that contribute most.
        """
        n = whole("n", n)
        return [self.feature_names[j] for j in attribution_words.causes(self, n)]

    def to_shap(self) -> Any:
        """A ``shap.Explanation`` of the same contributions, for the plots of the package shap (which must be
        installed).

        It has ``values``, ``base_values`` (one per row), ``data``, ``feature_names`` and ``output_names``; of several
        classes, take one first: ``shap.plots.beeswarm(s.for_output("yes").to_shap())``.
        """
        return shap_explanation(self, self._starts)

    @property
    def _starts(self) -> FloatArray:
        """What each row's contributions start from (rows, or rows x outputs)."""
        return np.broadcast_to(self.base, self.prediction.shape)

    # -- table and words -----------------------------------------------------------------------------

    def columns(self) -> dict[str, AnyArray]:
        """One row per explained row, feature and output; feature values are text unless all are numbers."""
        n, p, outputs = self.stacked().shape
        tidy = {
            "row": np.repeat(self.row_labels.column_of(n), p * outputs),
            "feature": np.tile(np.repeat(np.array(self.feature_names, dtype=object), outputs), n),
            "value": np.repeat(np.stack(self._cells(), axis=1).ravel(), outputs),
            "contribution": self.values.ravel(),
            "se": self.se.ravel(),
        }
        if outputs > 1:
            tidy["output"] = np.tile(np.array(self.output_names, dtype=object), n * p)
        return tidy

    def _cells(self) -> list[AnyArray]:
        if all(column.dtype.kind in "iuf" for column in self.data):
            return [column.astype(np.float64) for column in self.data]
        cells = [np.empty(len(self), dtype=object) for _ in self.data]
        for some, column in zip(cells, self.data, strict=True):
            some[:] = [_exact(value) for value in column]
        return cells

    def label(self, j: int, i: int) -> str:
        """``feature = value`` in one row, and in a contrast the other row's value where it differs."""
        name, cell = self.feature_names[j], self.data[j][i]
        if attribution_words.grouped(self, j):
            return f"{name}: {cell}" if cell else name
        value, instead = shown_value(cell), self.reference.values
        other = f" (not {instead[j]})" if instead and instead[j] != value else ""
        return f"{name} = {value}{other}"

    def text(self, mode: str = "complete") -> str:
        """The finding in plain sentences.

        ``mode="complete"`` accounts for every factor and says what it cannot be trusted for; ``mode="short"`` gives
        one or two causes (see `causes`), against what would have been expected, with what is unusual about them.
        """
        if one_of("mode", mode, _MODES) == "complete":
            return super().text()
        n = len(self.caveats)
        care = [f"Read with care: {counted(n, 'caveat')}, see .caveats."] if n else []
        return "\n".join([*attribution_words.short(self), *care])

    def findings(self) -> list[str]:
        return attribution_words.complete(self)

    def _headline(self) -> str:
        return attribution_words.headline(self)


def _exact(value: object) -> str | None:
    """A feature value as text without loss; None if missing."""
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else repr(float(value))
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value_name(value)
    return None if value is None else str(value)
