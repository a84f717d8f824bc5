"""LIME: a sparse model that imitates the model near a row.

Reference. Ribeiro, Singh and Guestrin 2016, "Why should I trust you? Explaining the predictions of any classifier".

Definition. The explanation of a row x is the model g of a family G of simple ones that is closest to f near x,

    argmin over g in G of   sum over samples z of  pi_x(z) (f(z) - g(z'))^2  +  Omega(g)

with z' the readable representation of z, pi_x(z) = exp(-D(x, z)^2 / width^2) how near z is, and Omega(g) infinite for more
than K features, else zero.

Estimator. Samples are drawn (`neighbourhood`), represented (`representation`), weighted (`weighting`), and their moments taken for
every width that is tried (`fitting`). The width that is best in fidelity near the row times stability is kept (`width`); K
columns are chosen there (`selection`) and fitted. Standard errors are those of a jackknife over blocks of samples, with the
chosen columns given. With the Shapley kernel instead of the exponential one the same regression, on coalitions,
gives Shapley values (`coalitions`).

When it misleads.
1. The neighbourhood is a choice: another width can give weights of another sign (`sweep`, caveat "width-decides").
2. Distances treat all features alike, and with many features no sample is near (caveat "nothing-near").
3. Samples of features drawn one by one are rows that do not occur (caveat "off-data"; sampler="correlated").
4. A straight line may fit badly even nearby (`fidelity`, caveats "low-fidelity" and "local-miss").
5. Another sample gives another explanation (`stability`, `agreement`; ``tolerance`` adds samples).
6. It does not say how far it holds; `radius` and `ranges` do.
7. K is the caller's, and the effects add up to the local prediction, not to the model's: no full account of a prediction.
8. A model can know samples from real rows and answer them otherwise (caveat "fooled").

Cost. ``samples`` model rows for all rows together (for each row with sampler="around", and for each pattern of missing values), and 21 per
chosen number and row for `ranges`; twice, four times, ... as many with ``tolerance``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.rarity import rarity
from pellucid.diagnostics.lime_checks import Facts, lime_caveats
from pellucid.errors import InputError
from pellucid.explanations.explanation import squeeze_outputs
from pellucid.explanations.local_attribution import LocalAttribution
from pellucid.methods.attribution.shap import cells_of
from pellucid.methods.local.coalitions import coalition_regression
from pellucid.methods.local.local_fit import LocalFit, Task, fit_row
from pellucid.methods.local.neighbourhood import BLOCKS, Distributions, Sampler, draw
from pellucid.methods.local.options import Options, check
from pellucid.methods.local.other_models import Model
from pellucid.methods.local.picture import boundary_of
from pellucid.methods.local.representation import (
    Representation,
    Space,
    by_feature,
    entropy_edges,
    representation,
)
from pellucid.methods.local.selection import Select
from pellucid.methods.local.stability import repeat_counts
from pellucid.methods.local.validity import ranges_of
from pellucid.methods.local.weighting import Distance
from pellucid.models import Predictor
from pellucid.models.predictor import LOGIT_FLOOR
from pellucid.runner import Run

Answered = tuple[FloatArray, FloatArray, FloatArray]  # samples as explained, as compared, and their answers
_KEY = 67  # of the random generator
_MOST = 16  # times the samples, with a tolerance


def lime(
    predictor: Predictor,
    data: Data,
    rows: Any,
    *,
    features: int = 6,
    samples: int = 5000,
    space: Space = "raw",
    sampler: Sampler = "data",
    distance: Distance = "euclidean",
    width: Any = "auto",
    kernel: Any = "exponential",
    model: Model = "linear",
    select: Select = "auto",
    tolerance: float | None = None,
    boundary: Any = None,
    background: Any = None,
    run: Run,
) -> LocalAttribution:
    """Sparse local models of the predictions of some rows."""
    options = check(
        predictor, data, features=features, samples=samples, space=space, sampler=sampler, distance=distance,
        width=width, kernel=kernel, model=model, select=select, tolerance=tolerance, boundary=boundary,
    )  # fmt: skip
    explained = data.rows(rows)
    if boundary is not None and len(explained) > 1:
        raise InputError(
            f"boundary={boundary!r} is a picture of one row, not of {len(explained)}; explain one row."
        )
    if kernel == "shap":
        found = coalition_regression(predictor, data, explained, options, background, run)
        answers = found.answers
        fits, space_of = list(found.fits), None
        settings: Mapping[str, Any] = found.settings
    else:
        asked = _Asked.of(predictor, data, explained, options, run)
        asked, fits = _stable_enough(asked, options, run)
        answers, space_of, settings = asked.predictions, asked.space, {"samples": asked.n}
    return _wrapped(predictor, data, explained, options, fits, answers, space_of, settings, run)


# -- asking ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Asked:
    """What was asked of the model: samples (as columns of the representation) that serve some rows, and the answers.

    ``values`` and ``metric`` (samples, columns) are the samples as they are explained and as they are compared; they differ
    only where the caller has columns of his own. All are in blocks of equal length.
    """

    predictor: Predictor
    data: Data
    rows: Data
    space: Representation
    metric: Representation
    sets: tuple[Answered, ...]
    serves: tuple[IntArray, ...]
    predictions: FloatArray
    n: int

    @classmethod
    def of(cls, predictor: Predictor, data: Data, rows: Data, options: Options, run: Run) -> _Asked:
        known = Distributions.of(data, run)
        predictions = run.predict(predictor, rows)
        space = representation(data, known, options.space)
        metric = space if space.own is None else representation(data, known, "raw")
        blank = cls(predictor, data, rows, space, metric, (), (), predictions, 0)
        asked = blank.more(options.samples, options, run, 0)
        if space.own is None:
            ways = by_feature(data, options.space)
            space = entropy_edges(space, ways, asked.sets[0][0], asked.sets[0][2])
            return replace(asked, space=space, metric=space)
        return asked

    def more(self, n: int, options: Options, run: Run, start: int) -> _Asked:
        """The same with ``n`` further samples, spread over the blocks."""
        sets: list[Answered] = []
        serves: list[IntArray] = []
        for k, sample in enumerate(draw(self.data, self.rows, n, options.sampler, run, start=start)):
            table = self.data.of_codes(sample.codes)
            answers = run.predict(self.predictor, table)
            new = (self.space.values(table), sample.codes, answers)
            old = self.sets[k] if self.sets else None
            sets.append(
                new
                if old is None
                else (_joined(old[0], new[0]), _joined(old[1], new[1]), _joined(old[2], new[2]))
            )
            serves.append(sample.rows)
        return replace(self, sets=tuple(sets), serves=tuple(serves), n=self.n + n)

    def tasks(self, options: Options) -> list[Task]:
        """For every explained row its columns, distances and answers."""
        row_values = self.space.values(self.rows)
        row_codes = self.metric.values(self.rows)
        tasks: dict[int, Task] = {}
        for (values, codes, answers), rows in zip(self.sets, self.serves, strict=True):
            for i in rows:
                x, code = row_values[i], row_codes[i]
                columns = self.space.apart(values, x)
                apart = columns if self.metric is self.space else self.metric.apart(codes, code)
                tasks[int(i)] = Task(
                    columns, options.distances(apart, self.metric, code), answers, self.predictions[i]
                )
        return [tasks[i] for i in range(len(self.rows))]


def _joined(old: FloatArray, new: FloatArray) -> FloatArray:
    """Old and new samples block by block."""
    parts = [part.reshape(BLOCKS, len(part) // BLOCKS, -1) for part in (old, new)]
    whole = np.concatenate(parts, axis=1)
    return whole.reshape(-1, whole.shape[2])


def _stable_enough(asked: _Asked, options: Options, run: Run) -> tuple[_Asked, list[LocalFit]]:
    """The local fits; with a tolerance, samples are doubled until repeats choose the same features at the same width."""
    repeats = repeat_counts(BLOCKS, run.generator(_KEY))
    fits = [fit_row(task, options, repeats, compare=run.checks) for task in asked.tasks(options)]
    rounds = 0
    while options.tolerance is not None and asked.n < _MOST * options.samples:
        if min(float(one.stability.min()) for one in fits) >= 1.0 - options.tolerance:
            break
        rounds += 1
        asked = asked.more(asked.n, options, run, rounds)
        fits = [
            fit_row(task, options, repeats, compare=run.checks, fixed=one.width)
            for task, one in zip(asked.tasks(options), fits, strict=True)
        ]
    return asked, fits


# -- wrapping ----------------------------------------------------------------------------------------


def _wrapped(
    predictor: Predictor, data: Data, rows: Data, options: Options, fits: list[LocalFit], answers: FloatArray,
    space: Representation | None, settings: Mapping[str, Any], run: Run,
) -> LocalAttribution:  # fmt: skip
    players = data.schema.players()
    own = space is not None and space.own is not None
    names = space.names if space is not None else tuple(players)
    entries = {name: (j,) for j, name in enumerate(names)} if own or space is None else players
    x = space.values(rows) if space is not None else np.ones((len(rows), len(names)))
    per_unit = np.stack([np.ones(len(names)) if space is None else space.per_unit(row) for row in x])
    summed = [list(members) for members in entries.values()]
    stack = {
        name: np.stack([getattr(one, name) for one in fits])
        for name in ("coefficients", "coefficients_se", "effects", "base")
    }
    values = np.stack([stack["effects"][:, part].sum(axis=1) for part in summed], axis=1)
    se = np.stack([[one.entry_se(part) for part in summed] for one in fits])
    bases = squeeze_outputs(stack["base"])
    shown = _logit(answers) if options.model == "logistic" else answers
    rare = None if own else rarity(data, rows, players)
    two = predictor.classes if predictor.classes is not None and len(predictor.classes) == 2 else None
    ranges, within = ranges_of(predictor, data, rows, space, fits, run)
    result = LocalAttribution(
        method="lime", game="" if space is not None else "marginal", background=int(settings.get("background", 0)),
        scale="log-odds" if options.model == "logistic" else predictor.scale,
        values=squeeze_outputs(values), se=squeeze_outputs(se), base=np.asarray(bases.mean(axis=0)), bases=bases,
        prediction=squeeze_outputs(shown),
        data=tuple(x.T) if own else tuple(cells_of(rows, members) for members in players.values()),
        rarity=None if rare is None else rare.share, side=None if rare is None else rare.side,
        members=tuple((name,) for name in names) if own else tuple(tuple(data.schema.names[j] for j in members) for members in players.values()),
        terms=names, conditions=tuple(("",) * len(names) if space is None else space.conditions(row) for row in x),
        weights=squeeze_outputs(stack["coefficients"] * per_unit[:, :, None]),
        weights_se=squeeze_outputs(stack["coefficients_se"] * per_unit[:, :, None]),
        scales=1.0 / per_unit,
        encoded=np.stack([np.ones(len(names)) if space is None else space.encoded(row) for row in x]),
        **_quality(fits, per_unit), ranges=squeeze_outputs(ranges), within=squeeze_outputs(within),
        feature_names=tuple(names) if own else tuple(players), output_names=predictor.output_names, cost=run.cost(), library=data.caller,
        settings={
            "method": "lime", **options.settings(), "random_state": run.seed, "why": _why(fits, options), **settings,
            **({} if two is None else {"classes": [str(label) for label in two]}),
        },
        boundary=None if options.boundary is None or space is None else boundary_of(predictor, data, rows, space, fits[0], options, run),
    )  # fmt: skip
    facts = Facts(
        [one.nearest for one in fits], [one.spread for one in fits], options.sampler, options.tolerance
    )
    caveats = lime_caveats(predictor, data, run, result, rows=rows, players=players, facts=facts)
    return replace(result, caveats=caveats, cost=run.cost())


def _quality(fits: list[LocalFit], per_unit: FloatArray) -> dict[str, Any]:
    """How well each local model holds, and its sweep; rows with fewer widths are filled with NaN."""
    widest = max(len(one.sweep.widths) for one in fits)

    def table(name: str) -> FloatArray:
        parts = [getattr(one.sweep, name) for one in fits]
        out = np.full((len(parts), widest, *parts[0].shape[1:]), np.nan)
        for i, part in enumerate(parts):
            out[i, : len(part)] = part
        return out

    by_unit = per_unit[:, None, :, None]
    return {
        **{name: squeeze_outputs(np.stack([getattr(one, name) for one in fits])) for name in ("fidelity", "selection", "stability", "agreement", "radius")},
        "width": np.array([one.width for one in fits]), "effective": np.array([one.effective for one in fits]),
        "sweep_widths": table("widths"), "sweep_effective": table("effective"),
        **{f"sweep_{name}": squeeze_outputs(table(name)) for name in ("near", "fidelity", "selection", "stability", "agreement")},
        "sweep_weights": squeeze_outputs(table("weights") * by_unit), "sweep_spread": squeeze_outputs(table("spread") * by_unit),
    }  # fmt: skip


def _why(fits: list[LocalFit], options: Options) -> str:
    """Why this width."""
    if options.kernel == "shap":
        return ""
    if options.width != "auto":
        return (
            "0.75 times the root of the number of features, by habit"
            if options.width == "default"
            else "as given"
        )
    tried = len(fits[0].sweep.widths)
    return f"of {tried} tried the best in fidelity near the row times stability"


def _logit(p: FloatArray) -> FloatArray:
    inside = np.clip(p, LOGIT_FLOOR, 1.0 - LOGIT_FLOOR)
    return np.asarray(np.log(inside) - np.log1p(-inside))
