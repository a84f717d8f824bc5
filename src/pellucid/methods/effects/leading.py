"""The effects of the features that matter most, for those who name none.

Definition. Features are ordered by how much their partial dependence moves (Greenwell, Boehmke and McCarthy 2018: the
standard deviation of the curve, of levels a quarter of the range), on some rows and a coarse grid; the first few are
then drawn with all rows, and ordered by their own curves.

When it misleads: a feature that acts only through interactions has a flat curve and is left out; see `importance`.

Cost. Ten grid points times at most 200 rows for each feature, then one effect for each of the six.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.explanations import Effect, Effects, Header, squeeze_outputs
from pellucid.methods.importance.pdp_importance import curve_spread, spreads
from pellucid.models import Predictor
from pellucid.runner import Run

_SHOWN, _FLAT = 6, 1e-9  # features; of the largest movement, rounding
_GRID, _ROWS, _CELLS = 10, 200, 200_000  # of the first look; fewer rows where there are very many features


def leading_effects(predictor: Predictor, data: Data, effect_of: Callable[..., Effect], *, run: Run) -> Effects:
    """The effects, by ``effect_of(feature, run=run)``, of the features whose curves move most."""
    rows = min(_ROWS, max(20, _CELLS // len(data.schema.features)))
    moves = spreads(predictor, data.take(data.spread(rows)).regrouped({}), _GRID, run).max(axis=1)
    moving = max(1, int((moves > _FLAT * moves.max()).sum()))  # what does not move at all is not drawn
    first = np.argsort(-moves, kind="stable")[: min(_SHOWN, moving)]
    effects = [effect_of(int(j), run=run) for j in first]
    own = np.array([curve_spread(effect.stacked("average"), effect.nominal[0]) for effect in effects])
    order = np.argsort(-own.max(axis=1), kind="stable")
    found = tuple(effects[k] for k in order)
    caveats = tuple(dict.fromkeys(caveat for effect in found for caveat in effect.caveats))
    return Effects(
        header=Header.of(
            predictor,
            data,
            run,
            {"method": found[0].method, "features": None, "random_state": run.seed},
            feature_names=tuple(effect.feature_names[0] for effect in found),
            scale=found[0].scale,
            caveats=caveats,
        ),
        values=squeeze_outputs(own[order]),
        se=np.full(squeeze_outputs(own).shape, np.nan),
        effects=found,
    )


def named(verb: str, options: Mapping[str, Any]) -> None:
    """Refuse options that belong to one feature where none is named."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InputError(f"{given[0]}= belongs to named features; name them: {verb}('temp', {given[0]}=...).")
