"""Attribution: how a prediction is shared out among the features of its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, frozen
from pellucid.checks import fraction, one_of, whole
from pellucid.data.rarity import Rarity, known
from pellucid.errors import InputError, nearest
from pellucid.explanations import attribution_partner, attribution_views, attribution_words
from pellucid.explanations.attribution_words import GAMES as GAMES
from pellucid.explanations.attribution_words import shown_value as shown_value
from pellucid.explanations.explanation import Explanation, changed
from pellucid.explanations.plot_options import AttributionOptions
from pellucid.explanations.store import stored
from pellucid.later import Later
from pellucid.words import counted, value_name

_MODES = ("complete", "short")

stored(Rarity)


@dataclass(frozen=True)
class Additivity:
    """The row whose contributions miss its prediction most: by how much, and as a share of the row's numbers."""

    row: int
    residual: float
    relative: float


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Attribution(Explanation, options=AttributionOptions):
    """Contributions ``values`` (rows, features), with outputs last if there are several.

    ``base`` is what the contributions start from, the average prediction: one number, or one per output.
    ``prediction`` (rows, or rows x outputs) is where they lead, on the explained `scale`; what is missing is in
    `residual`. ``data`` holds, for each feature, its value in every row (for a group, those of its
    ``members`` in words). ``interaction_values`` (rows, features, features), where asked for, has half of each pair's
    interaction off the diagonal and what is left of the feature's contribution on it, ``interaction_se`` their standard
    errors where they are estimates; ``interaction_index`` says of which index ("shapley", "taylor", "banzhaf",
    "faithful"). ``triple_values`` (rows, features, features, features), of games of one's own, has the whole index of
    each triple. ``game`` says what an absent feature is, ``background`` how many rows stand for it.

    ``unusual`` tells how unusual the values are (see `rarity` and `side`). ``hidden`` is the share
    of a row's absolute contributions that `sparse` has summed. After `contrast`, ``against`` names the row that
    ``base`` belongs to and ``instead`` its values.
    """

    method: str
    game: str
    base: FloatArray
    prediction: FloatArray
    data: tuple[AnyArray, ...]
    members: tuple[tuple[str, ...], ...] = ()
    interaction_values: FloatArray | None = None
    interaction_se: FloatArray | None = None
    interaction_index: str = ""
    triple_values: FloatArray | None = None
    background: int = 0
    unusual: Rarity | Later[Rarity] | None = None
    hidden: FloatArray | None = None
    against: str = ""
    instead: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "data", tuple(frozen(column) for column in self.data))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def residual(self) -> FloatArray:
        """Prediction minus base minus the sum of the contributions: rounding, unless something is wrong."""
        return np.asarray(self.prediction - self.base - self.values.sum(axis=1))

    @property
    def additivity(self) -> Additivity:
        """How well base and contributions add up to the prediction, in the row where they do worst."""
        residual = np.abs(self.residual)
        sizes = np.abs(self.values).sum(axis=1) + np.abs(self.base) + np.abs(self.prediction)
        shares = residual / np.where(sizes > 0, sizes, 1.0)
        worst = int(np.argmax(shares)) if shares.size else 0
        row = worst // max(shares[:1].size, 1)
        return Additivity(row, float(residual.ravel()[worst]), float(shares.ravel()[worst]))

    def stacked(self, name: str = "values") -> FloatArray:
        """A field with the axis of outputs, also where there is only one."""
        part: FloatArray = getattr(self, name)
        return part if self._several else part[..., None]

    @property
    def _several(self) -> bool:
        return self.values.ndim == 3

    @property
    def starting_point(self) -> str:
        """What ``base`` is, in words."""
        return f"the prediction of {self.against}" if self.against else "the average prediction"

    @property
    def compared_with(self) -> str:
        """What the contributions compare the row with, in words."""
        return self.against or "the average prediction"

    @property
    def rarity(self) -> FloatArray | None:
        """The share of reference rows whose value is at least as extreme (rows, features); NaN where not known."""
        found = known(self.unusual)
        return None if found is None else found.share

    @property
    def side(self) -> FloatArray | None:
        """+1 where a value is high, -1 where it is low, 0 where it has no order (rows, features)."""
        found = known(self.unusual)
        return None if found is None else found.side

    @property
    def others(self) -> int | None:
        """The position of the sum of others that `sparse` has made, if it has."""
        return None if self.hidden is None else len(self.feature_names) - 1

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of normal intervals of the contributions; of no width where they are exact."""
        level = fraction("level", level)
        half = NormalDist().inv_cdf(0.5 + level / 2) * self.se
        return self.values - half, self.values + half

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
        if not self._several:
            return self
        k = self.output_names.index(str(name))
        return changed(
            self, output_names=(str(name),), **{field: part[..., k] for field, part in self._arrays().items()}
        )

    def row(self, i: int) -> Self:
        """The contributions in one row alone, by its place among the explained rows."""
        i = whole("row", i, least=0, most=len(self) - 1)
        fields = self._arrays()
        del fields["base"]
        parts = {field: part[i : i + 1] for field, part in fields.items() if part is not None}
        orders = self.settings.get("order")
        settings = {**self.settings, "order": [orders[i]]} if isinstance(orders, list | tuple) else self.settings
        data = tuple(column[i : i + 1] for column in self.data)
        found = known(self.unusual)
        rare = None if found is None else found.rows(slice(i, i + 1))
        return changed(self, data=data, settings=settings, unusual=rare, **parts)

    def sequence(self, i: int) -> IntArray:
        """Positions of the entries of row ``i`` as they are told: in the order of a break-down, else from large to
        small.

        The sum of others is last.
        """
        largest = np.abs(self.stacked()[i]).max(axis=1)
        order = np.argsort(-largest, kind="stable")
        steps = self.settings.get("order")
        if isinstance(steps, list | tuple) and set(steps[i]) <= set(self.feature_names):
            entered = [self.feature_names.index(name) for name in steps[i]]
            order = np.array([*entered, *(j for j in order if j not in entered)], dtype=np.intp)
        return order if self.others is None else np.append(order[order != self.others], self.others)

    def _arrays(self) -> dict[str, Any]:
        names = (
            "values",
            "se",
            "base",
            "prediction",
            "interaction_values",
            "interaction_se",
            "triple_values",
            "hidden",
        )
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    # -- views ---------------------------------------------------------------------------------------

    def sparse(self, k: int) -> Self:
        """The ``k`` features that contribute most, over all rows and outputs, and the sum of the others as one entry.

        ``hidden`` is the fidelity lost: the share of each row's absolute contributions that is inside that sum.
        """
        return attribution_views.sparse(self, k)

    def group(self, groups: Mapping[str, Sequence[str]]) -> Self:
        """Contributions summed by groups, ``{"weather": ["temp", "hum"]}``; features in no group stay.

        A sum of contributions is not the contribution of the group as one player: that is asked for before,
        with ``Explainer(groups=...)``. Interaction values are summed exactly; the error of a sum is bounded by
        the sum of the errors.
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
    def mean_abs(self) -> FloatArray:
        """Mean absolute contribution of each feature over the rows: (features,), outputs last if several."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    @property
    def ranking(self) -> IntArray:
        """Positions of the features from largest to smallest mean absolute contribution, over all outputs."""
        overall = np.abs(self.stacked()).mean(axis=(0, 2))
        if self.others is not None:  # no feature, so behind all of them
            overall[self.others] = -1.0
        return np.asarray(np.argsort(-overall, kind="stable"), dtype=np.intp)

    def top(self, n: int) -> list[str]:
        """Names of the ``n`` features that contribute most."""
        return [self.feature_names[j] for j in self.ranking[:n]]

    def causes(self, n: int = 2) -> list[str]:
        """Names of at most ``n`` features to give as the reason, most telling first.

        Of one row: those that push the prediction towards where it lies, seen from the base. Size decides; among
        contributions of at least 90% of the largest left, the rarest value comes first (`rarity`). Of several
        rows: those that contribute most.
        """
        n = whole("n", n)
        return [self.feature_names[j] for j in attribution_words.causes(self, n)]

    def partner(self, feature: str) -> str | None:
        """The feature on which the contributions of ``feature`` depend most besides its own value, if there is one.

        By mean absolute interaction value, where there are interaction values; otherwise by the share it explains
        of what is left of the contributions after the curve of ``feature``'s own value.
        """
        best = attribution_partner.partner(self, self.position(feature))
        return None if best is None else self.feature_names[best]

    def position(self, feature: str) -> int:
        """The position of a feature by its name."""
        if feature not in self.feature_names:
            raise InputError(f"there is no feature {feature!r}{nearest(str(feature), self.feature_names)}")
        return self.feature_names.index(feature)

    def comparable_names(self, others: Sequence[Attribution]) -> tuple[str, ...]:
        """Names of the entries, such that the same name in the explanations of ``others`` is the same thing."""
        del others
        return self.feature_names

    # -- table and words -----------------------------------------------------------------------------

    def columns(self) -> dict[str, AnyArray]:
        """One row per explained row, feature and output; feature values are text unless all are numbers."""
        n, p, outputs = self.stacked().shape
        tidy = {
            "row": np.repeat(np.arange(n), p * outputs),
            "feature": np.tile(np.repeat(np.array(self.feature_names, dtype=object), outputs), n),
            "value": np.repeat(np.stack(self._cells(), axis=1).ravel(), outputs),
            "contribution": self.values.ravel(),
            "se": self.se.ravel(),
        }
        if self._several:
            tidy["output"] = np.tile(np.array(self.output_names, dtype=object), n * p)
        return tidy

    def _cells(self) -> list[AnyArray]:
        if all(column.dtype.kind in "iuf" for column in self.data):
            return [column.astype(np.float64) for column in self.data]
        cells = [np.empty(len(self), dtype=object) for _ in self.data]
        for some, column in zip(cells, self.data, strict=True):
            some[:] = [_exact(value) for value in column]
        return cells

    def labels(self, i: int) -> list[str]:
        """``feature = value`` for each feature in one row; a group names its members' values."""
        return [self.label(j, i) for j in range(len(self.feature_names))]

    def label(self, j: int, i: int) -> str:
        """``feature = value`` in one row, and in a contrast the other row's value where it differs."""
        name, cell = self.feature_names[j], self.data[j][i]
        if self.grouped(j):
            return f"{name}: {cell}" if cell else name
        value = shown_value(cell)
        other = f" (not {self.instead[j]})" if self.instead and self.instead[j] != value else ""
        return f"{name} = {value}{other}"

    def grouped(self, j: int) -> bool:
        """Whether an entry stands for several features."""
        return bool(self.members) and self.members[j] != (self.feature_names[j],)

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

    def scale_of(self, output: str) -> str:
        """The scale in words, with the output's name where there is one to name: `` (log-odds of yes)``."""
        named = "" if output in ("prediction", "output") else f" of {output}"
        return named if self.scale == "response" else f" ({self.scale}{named})"


def _exact(value: object) -> str | None:
    """A feature value as text without loss; None if missing."""
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else repr(float(value))
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value_name(value)
    return None if value is None else str(value)
