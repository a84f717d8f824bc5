"""Effects: the curves of several features, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.errors import InputError, nearest
from pellucid.explanations.effect import Effect
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import PanelOptions
from pellucid.explanations.store import stored
from pellucid.words import listed


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Effects(Explanation, options=PanelOptions):
    """Result of `pdp` and `ale` without features: the effects of those whose curves move most.

    ``values`` (features) is how much each curve moves: the standard deviation over its grid, of levels a quarter of
    the range. ``effects["temp"]`` and ``effects[0]`` are single effects.
    """

    effects: tuple[Effect, ...]

    def __len__(self) -> int:
        return len(self.effects)

    def __getitem__(self, feature: str | int) -> Effect:
        if not isinstance(feature, str):
            return self.effects[feature]
        feature = self.header.readable.get(feature, feature)
        if feature not in self.feature_names:
            raise InputError(f"there is no effect of {feature!r} here{nearest(feature, self.feature_names)}")
        return self.effects[self.feature_names.index(feature)]

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def columns(self) -> dict[str, AnyArray]:
        """One row per feature, output and grid point."""
        parts = [effect.columns() for effect in self.effects]
        names = self.feature_names
        shared = [name for name in parts[0] if name != names[0]]
        values = [part.pop(name).astype(object) for name, part in zip(names, parts, strict=True)]
        return {
            "feature": np.repeat(np.array(names, dtype=object), [len(value) for value in values]),
            "at": np.concatenate(values),
            **{name: np.concatenate([part[name] for part in parts]) for name in shared},
        }

    def _headline(self) -> str:
        first = listed(self.feature_names[:3])
        return f"Predictions change most with {first}. {self.effects[0].headline()}"

    def findings(self) -> list[str]:
        return [line for effect in self.effects for line in effect.findings()]
