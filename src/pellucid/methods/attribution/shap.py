"""Shapley values of predictions: the request, and which way answers it.

Trees are read by the tree engine (`tree_shap`), exactly; any other model is asked: for every coalition where that is
possible (`shapley_exact`), else for some of them (`shapley_kernel`, `shapley_permutation`), with standard errors. All
give the same numbers where several are possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.rarity import rarity
from pellucid.diagnostics.by_method import attribution_caveats
from pellucid.diagnostics.general import unread_trees
from pellucid.explanations import Attribution, Caveat
from pellucid.explanations.attribution import Cells, Entries, Reference, cells_of
from pellucid.explanations.explanation import Header, squeeze_outputs
from pellucid.games.marginal import MOST, Players, background_rows
from pellucid.later import Later
from pellucid.methods.attribution.dispatch import COPIED, Conditional, GameName, Method, Request, Scale, answer
from pellucid.methods.attribution.estimation.estimate import Solved
from pellucid.methods.attribution.interaction_indices import Index
from pellucid.methods.attribution.shapley_kernel import Proxy
from pellucid.methods.attribution.tree_shap import both_games
from pellucid.models import Predictor
from pellucid.reading import Asked, SumRows, TreeRows
from pellucid.reading.trees import OutputTrees
from pellucid.runner import Run

_SAMPLE = 200  # rows that are explained where none are named
_COMPARED = 4  # rows of the data on which the path game is compared with the marginal game


def shap(
    predictor: Predictor,
    data: Data,
    rows: Any,
    *,
    background: Any = None,
    method: Method = "auto",
    game: GameName = "marginal",
    budget: int | None = None,
    tolerance: float | None = None,
    interactions: bool | Index = False,
    scale: Scale = "auto",
    conditional: Conditional = "auto",
    sparse: int | None = None,
    proxy: Proxy = "curve",
    run: Run,
) -> Attribution:
    """Contributions of the features (or groups) to the predictions of some rows; None: of a sample of X."""
    request = Request.of(
        predictor,
        data,
        _sample(data, run) if rows is None else rows,
        background=background,
        method=method,
        game=game,
        budget=budget,
        tolerance=tolerance,
        interactions=interactions,
        scale=scale,
        conditional=conditional,
        sparse=sparse,
        proxy=proxy,
        run=run,
    )
    run.scales_with("fewer rows", len(request.rows))
    solved, read = answer(request)
    asks = {
        "game": game,
        "scale": scale,
        "interactions": interactions,
        "random_state": run.seed,
        **{
            name: value
            for name, value in (("budget", budget), ("tolerance", tolerance), ("sparse", sparse))
            if value is not None
        },
        **({"proxy": proxy} if proxy != "curve" else {}),
    }
    return _checked(request, _wrapped(request, solved, asks), read)


def _sample(data: Data, run: Run) -> list[int]:
    """Positions of a random sample of the rows, in their order."""
    drawn = run.generator("shap.rows").permutation(len(data))[:_SAMPLE]
    return [int(i) for i in np.sort(drawn)]


# -- wrapping ----------------------------------------------------------------------------------------


def _wrapped(request: Request, solved: Solved, asks: Mapping[str, Any]) -> Attribution:
    predictor, data, rows, players = request.predictor, request.data, request.rows, request.players
    found = solved.estimate
    two = predictor.classes if predictor.classes is not None and len(predictor.classes) == 2 else None
    asks = asks if two is None else {**asks, "classes": [str(label) for label in two]}
    return Attribution(
        method=found.method,
        game=request.game,
        reference=reference_of(
            solved.background,
            solved.base_se,
            len(data),
            "the background row" if request.game == "marginal" and solved.background == 1 else "",
        ),
        header=Header(
            scale=solved.scale,
            feature_names=tuple(players),
            output_names=predictor.output_names,
            cost=request.run.cost(),
            readable=data.schema.readable,
            library=data.caller,
            row_labels=rows.row_labels,
            settings={
                "method": "shap",
                "algorithm": found.method,
                **asks,
                "background": solved.background,
                **found.settings,
            },
        ),
        values=squeeze_outputs(found.values),
        se=squeeze_outputs(found.se),
        base=squeeze_outputs(solved.base),
        prediction=squeeze_outputs(solved.prediction),
        interactions=found.pairs(request.effort.index or ""),
        entries=entries_of(data, rows, players),
    )


def reference_of(rows: int, se: FloatArray | None, among: int, name: str = "") -> Reference:
    """What contributions are compared with: so many rows, a sample of others where there is an error ``se``."""
    return Reference(rows, name) if se is None else Reference(rows, name, among=among, se=tuple(se.tolist()))


def entries_of(data: Data, rows: Data, players: Players) -> Entries:
    """What the players stand for in the explained rows, and how unusual their values are among the data."""
    referred = rows.lean and 8 * len(rows) * len(rows.columns) > COPIED
    return Entries(
        Cells(data, rows, players) if referred else tuple(cells_of(rows, members) for members in players.values()),
        tuple(tuple(data.schema.names[j] for j in members) for members in players.values()),
        Later(partial(rarity, data, rows, players)),
    )


def _checked(request: Request, result: Attribution, read: TreeRows | SumRows | Asked) -> Attribution:
    """The result with its caveats and what it cost in all."""
    predictor, data, players, run = request.predictor, request.data, request.players, request.run
    unread: Caveat | None = None
    if isinstance(read, Asked) and read.trees.kind in ("unread", "unlike") and run.unread is None:
        why = read.trees
        unread = unread_trees(why.reason, run.cost().model_rows, why.difference, why.tolerance)

    def games() -> tuple[FloatArray, FloatArray] | None:
        """Both games of a few rows of the data, once for all rows that are explained."""
        if result.game != "path" or not isinstance(read, TreeRows):
            return None
        outputs = read.outputs
        return run.keep(f"games of {tuple(players)}", outputs, lambda: _both_games(request, outputs))

    caveats = attribution_caveats(
        predictor, data, run, result, rows=request.rows, players=players, unread=unread, games=games
    )
    return run.finish(result, caveats)


def _both_games(request: Request, outputs: OutputTrees) -> tuple[FloatArray, FloatArray]:
    """The path game and the marginal game of a few rows of the data."""
    data, run = request.data, request.run
    absent = background_rows(data, request.background, run, most=MOST)
    absent, some = absent.take(absent.spread(MOST)), data.take(data.spread(_COMPARED))
    return both_games(request.predictor, outputs, some, absent, players=request.players, run=run)
