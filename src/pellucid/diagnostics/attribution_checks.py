"""The caveats of contributions: trees that could not be read, sums that do not add up, features that go together,
a game that credits features for the company they keep, a model that knows a synthetic row when it sees one, and answers
that are not sharp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.fooled import fooled_caveat
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.off_data import off_data_caveat
from pellucid.diagnostics.sampling_checks import (
    conditional_game,
    dense_answer,
    imprecise,
    missed_tolerance,
    sparse_answer,
)
from pellucid.explanations import Attribution
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import number, percent

_TOP = 5
_RESIDUAL = 1e-4  # of the row's numbers; single precision stays far below
_GAMES_DIFFER = 0.2

Players = Mapping[str, tuple[int, ...]]


def attribution_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    result: Attribution,
    *,
    rows: Data,
    players: Players,
    unread: Caveat | None = None,
    marginal: Callable[[], FloatArray | None],
) -> tuple[Caveat, ...]:
    """Everything known against these contributions; ``marginal`` gives the first rows' in the marginal game, if this is
    another.

    A model whose trees or terms were read has been seen through; one that was asked could have known that it was.
    """
    if not run.checks:
        return ()
    caveats = list(general_caveats(predictor, data, run))
    caveats += [] if unread is None else [unread]
    caveats.extend(_additivity(result))
    with run.checking():
        other = marginal()
    caveats += [] if other is None else _path_game(result, other)
    caveats.extend(imprecise(result))
    caveats.extend(conditional_game(result, result.settings.get("effective")))
    caveats.extend(dense_answer(result))
    caveats.extend(sparse_answer(result))
    caveats.extend(missed_tolerance(result))
    if result.game == "marginal" and result.method not in ("tree", "linear"):
        caveats.extend(fooled_caveat(predictor, data, rows, players, run))
    if result.game == "marginal":
        for player in [players[name] for name in result.top(_TOP)]:
            if len(player) == 1:
                caveats.extend(off_data_caveat(data, player[0], run, method="the marginal game"))
    return tuple(caveats)


def _additivity(result: Attribution) -> Iterator[Caveat]:
    worst = result.additivity
    if not worst.relative <= _RESIDUAL:  # NaN is no small residual
        yield Caveat(
            code="not-additive",
            message=(
                f"Base and contributions miss the prediction of row {worst.row} by {number(worst.residual)},"
                f" {percent(worst.relative)} of the row's numbers."
            ),
            value=worst.relative,
            threshold=_RESIDUAL,
            advice=(
                "A model that answers differently when asked again, or depending on the other rows of a batch, has no"
                " contributions that add up: make it steady first."
            ),
        )


def _path_game(result: Attribution, marginal: FloatArray) -> Iterator[Caveat]:
    """How far the path game is from the marginal game on the same rows."""
    ours = result.stacked()[: len(marginal)]
    size = float(np.abs(marginal).sum())
    share = float(np.abs(ours - marginal).sum()) / size if size > 0 else 0.0
    if share > _GAMES_DIFFER:
        by_player = np.abs(ours - marginal).sum(axis=(0, 2))
        name = result.feature_names[int(np.argmax(by_player))]
        yield Caveat(
            code="path-game",
            message=(
                f"The path game differs from the marginal game by {percent(share)} of all contributions, most of all"
                f" for {name}: features are credited for others that go along with them in the trees."
            ),
            value=share,
            threshold=_GAMES_DIFFER,
            advice="Use game='marginal' for what the model itself does with each feature.",
            feature=name,
        )
