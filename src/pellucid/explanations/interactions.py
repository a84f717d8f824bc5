"""Interactions: how strongly features act together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError, nearest
from pellucid.explanations import interaction_words
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.network import Network, network, pooled_costs
from pellucid.explanations.plot_options import InteractionOptions
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Interactions(Explanation, options=InteractionOptions):
    """One value per set of features, in the order given; several outputs add a last axis.

    ``sets`` names the features (or groups) of each value: pairs, triples, or a single one for ``against="all"``.
    ``strength`` is the unnormalised value, in the units of the prediction, and ``joint`` the share of the prediction's
    variance that the joint effect of the set has (what a normalised value divides by). ``low`` and ``high`` bound a 95%
    interval.
    ``p_values`` (None where not asked for) and ``adjusted`` (for the number of sets) test that there is no interaction.

    ``parts`` are the sets of one, two and three features whose ``costs`` of exclusion were measured: the share of the
    prediction's variance that is lost when every component containing the set is left out; `network` is made of them.
    ``additive`` is the share that is lost when all interactions among these features are left out (empty if not all
    their pairs were asked about).
    """

    method: str
    against: str
    measure: str
    sets: tuple[tuple[str, ...], ...]
    low: FloatArray
    high: FloatArray
    strength: FloatArray
    joint: FloatArray
    p_values: FloatArray | None = None
    adjusted: FloatArray | None = None
    parts: tuple[tuple[str, ...], ...] = ()
    costs: FloatArray = field(default_factory=lambda: np.empty(0))
    cost_se: FloatArray = field(default_factory=lambda: np.empty(0))
    additive: FloatArray = field(default_factory=lambda: np.empty(0))
    normalized: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("values", "se", "low", "high", "strength", "joint", "p_values", "adjusted"):
            part = getattr(self, name)
            if part is not None and part.shape != (len(self.sets), *self.values.shape[1:]):
                raise InputError(
                    f"{name} has shape {part.shape} for {len(self.sets)} sets; give one value per set and output."
                )
        if len(self.parts) != len(self.costs) or self.costs.shape != self.cost_se.shape:
            raise InputError(f"there are {len(self.parts)} parts but {len(self.costs)} costs; give one cost per part.")

    # -- reading -------------------------------------------------------------------------------------

    @property
    def overall(self) -> FloatArray:
        """One value per set: of several outputs the mean."""
        return self.values if self.values.ndim == 1 else self.values.mean(axis=-1)

    @property
    def ranking(self) -> IntArray:
        """Positions of the sets from the strongest to the weakest interaction; unknown ones last.

        By `strength`, in the units of the prediction, also where the values are shares: a large share of a joint effect
        that is next to nothing (two features of noise) is next to nothing.
        """
        strength = self.strength if self.strength.ndim == 1 else self.strength.mean(axis=-1)
        size = np.where(np.isnan(strength), self.overall, strength)
        return np.asarray(np.argsort(-np.where(np.isnan(size), -np.inf, size), kind="stable"), dtype=np.intp)

    def top(self, n: int) -> list[tuple[str, ...]]:
        """The ``n`` sets that interact most: ``ex.pdp(result.top(1)[0])`` draws the strongest pair."""
        return [self.sets[s] for s in self.ranking[:n]]

    def position(self, *features: str) -> int:
        """Where a set stands among the values; the order of its features does not matter."""
        features = tuple(self.header.readable.get(name, name) for name in features)
        for name in features:
            known = dict.fromkeys(name for names in self.sets for name in names)
            if name not in known:
                raise InputError(f"there is no feature {name!r} in this result{nearest(str(name), known)}")
        wanted = frozenset(features)
        for s, names in enumerate(self.sets):
            if frozenset(names) == wanted and len(names) == len(features):
                return s
        size = len(self.sets[0])
        raise InputError(
            f"{' and '.join(map(repr, features))} were not examined together; this result has {len(self.sets)} sets"
            f" of {size}."
        )

    def __getitem__(self, features: str | tuple[str, ...]) -> float | FloatArray:
        """The value of a pair: ``result["temp", "hum"]``; of single features ``result["temp"]``."""
        return self.pair(*((features,) if isinstance(features, str) else features))

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """The sets, the one that interacts most first."""
        return iter(self.top(len(self)))

    def pair(self, *features: str) -> float | FloatArray:
        """The value of a pair (or triple, or single feature): a number, or one per output."""
        value = self.values[self.position(*features)]
        return float(value) if value.ndim == 0 else value

    def cost_of(self, *features: str, output: str | None = None) -> float:
        """The cost of exclusion of a set, a share of the prediction's variance; NaN where it was not measured."""
        costs = pooled_costs(self, output)[0]
        wanted = frozenset(features)
        return next(
            (float(cost) for part, cost in zip(self.parts, costs, strict=True) if frozenset(part) == wanted), np.nan
        )

    # -- the network ---------------------------------------------------------------------------------

    def network(self, loss: float = 0.01, *, output: str | None = None) -> Network:
        """The interactions that are needed to reproduce the model but for a share ``loss`` of its variance.

        Hooker 2004: components are left out as long as what is lost stays within ``loss``; the features and the pairs
        that remain are the nodes and edges. Losses of several outputs are averaged unless one ``output`` is named.
        """
        return network(self, loss, output)

    def _output(self, output: str | None) -> int:
        if output is None:
            return 0
        if str(output) not in self.output_names:
            raise InputError(f"there is no output {output!r}{nearest(str(output), self.output_names)}")
        return self.output_names.index(str(output))

    # -- table and words -----------------------------------------------------------------------------

    def columns(self) -> dict[str, AnyArray]:
        """One row per set and output, the strongest first."""
        order, size = self.ranking, len(self.sets[0])
        keys = ["feature"] if size == 1 else [f"feature_{k + 1}" for k in range(size)]
        names = {key: np.array([self.sets[s][k] for s in order], dtype=object) for k, key in enumerate(keys)}
        parts = {
            "interaction": self.values,
            "se": self.se,
            "low": self.low,
            "high": self.high,
            "strength": self.strength,
            "joint": self.joint,
            "p_value": self.p_values,
            "p_adjusted": self.adjusted,
            "cost": self._set_costs() if size > 1 and self.parts else None,
        }
        known = {key: part[order] for key, part in parts.items() if part is not None}
        if self.values.ndim == 1:
            return {**names, **known}
        outputs = self.output_names
        return {
            **{key: np.tile(column, len(outputs)) for key, column in names.items()},
            "output": np.repeat(np.array(outputs, dtype=object), len(order)),
            **{key: part.T.ravel() for key, part in known.items()},
        }

    def _set_costs(self) -> FloatArray:
        """The cost of exclusion of each set, NaN where it was not measured."""
        place = {frozenset(part): k for k, part in enumerate(self.parts)}
        unknown = np.full((1, *self.values.shape[1:]), np.nan)
        rows = [place.get(frozenset(names), len(self.parts)) for names in self.sets]
        return np.asarray(np.concatenate([self.costs, unknown])[rows])

    def findings(self) -> list[str]:
        return interaction_words.findings(self)

    def _headline(self) -> str:
        return interaction_words.headline(self)
