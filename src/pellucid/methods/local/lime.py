"""LIME: a sparse model that imitates the model near a row.

Reference. Ribeiro, Singh and Guestrin 2016, "Why should I trust you? Explaining the predictions of any classifier".

Definition. The explanation of a row x is the model g of a family G of simple ones that is closest to f near x,

    argmin over g in G of   sum over samples z of  pi_x(z) (f(z) - g(z'))^2  +  Omega(g)

with z' the readable representation of z, pi_x(z) = exp(-D(x, z)^2 / width^2) how near z is, and Omega(g) infinite for
more than K features, else zero.

Estimator. Samples are drawn (`neighbourhood`), in the model's features or in others (`samples`), represented
(`representation`), weighted (`width`), and their moments taken for every width that is tried (`fitting`). The width
that is best in fidelity near the row times stability is kept (`width`); K columns are chosen there (`selection`) and
fitted. Standard errors are those of a jackknife over blocks of samples, with the chosen columns given: of the weights,
and of the mean of the samples that effects are compared with. That the same samples chose the width costs no coverage
that could be measured (docs/intervals.md). With the Shapley kernel instead of the exponential one the same regression,
on coalitions, gives Shapley values (`coalitions`).

When it misleads.
1. The neighbourhood is a choice: another width can give weights of another sign (`width_search`, caveat
   "width-decides").
2. Distances treat all features alike, and with many features no sample is near (caveat "nothing-near").
3. Samples of features drawn one by one are rows that do not occur (caveat "off-data"; sampler="correlated").
4. A straight line may fit badly even nearby (`fidelity`, caveats "low-fidelity" and "local-miss").
5. Another sample gives another explanation (`stability`, `agreement`; ``tolerance`` adds samples).
6. It does not say how far it holds; `radius` and `ranges` do.
7. K is the caller's, and the effects add up to the local prediction, not to the model's: no full account of a
   prediction.
8. A model can know samples from real rows and answer them otherwise (caveat "fooled").

Cost. 5,000 model rows for all rows together (for each row with sampler="around", and for each pattern of missing
values), once for an Explainer, up to 20,000 where explanations are not stable (`samples`), or as ``samples`` and
``tolerance`` say; and 21 per chosen number and row for `ranges`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.by_method import Facts, lime_caveats
from pellucid.errors import InputError
from pellucid.explanations import Entries, Header, LocalAttribution, Reference, squeeze_outputs
from pellucid.methods.attribution.shap import entries_of
from pellucid.methods.local.surrogate.coalitions import coalition_regression
from pellucid.methods.local.surrogate.fitting import Model
from pellucid.methods.local.surrogate.local_fit import LocalFit
from pellucid.methods.local.surrogate.neighbourhood import Sampler
from pellucid.methods.local.surrogate.options import Options, check
from pellucid.methods.local.surrogate.representation import Representation, Space
from pellucid.methods.local.surrogate.samples import Explained, Samples, maps_of, stable_fits
from pellucid.methods.local.surrogate.selection import Select
from pellucid.methods.local.surrogate.validity import boundary_of, ranges_of
from pellucid.methods.local.surrogate.width import Distance, width_search
from pellucid.models import Predictor
from pellucid.models.predictor import LOGIT_FLOOR
from pellucid.runner import Run
from pellucid.stats import logit


def lime(
    predictor: Predictor,
    data: Data,
    rows: Any,
    *,
    features: int = 6,
    samples: int | None = None,
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
    maps = maps_of(space)
    explained = Explained.of(predictor, data, data.rows(rows), maps, run)
    options = check(
        explained.predictor,
        explained.data,
        features=features,
        samples=samples,
        space="raw" if maps else space,
        sampler=sampler,
        distance=distance,
        width=width,
        kernel=kernel,
        model=model,
        select=select,
        tolerance=tolerance,
        boundary=boundary,
    )
    if boundary is not None and len(explained.rows) > 1:
        raise InputError(
            f"boundary={boundary!r} is a picture of one row, not of {len(explained.rows)}; explain one row."
        )
    run.scales_with("samples", options.samples, least=500)
    run.scales_with("fewer rows", len(explained.rows))
    if kernel == "shap":
        if maps is not None:
            raise InputError("kernel='shap' has no space= of its own features; leave space= out, or use groups=.")
        found = coalition_regression(predictor, data, explained.rows, options, background, run)
        return _wrapped(explained, options, list(found.fits), found.answers, None, found.settings, run)
    drawn, fits = stable_fits(Samples.of(explained, options, run), options, run)
    settings: dict[str, Any] = {"samples": drawn.n}
    if drawn.n > options.samples:
        settings["grown_from"] = options.samples
    if maps is not None:
        settings.update(space=[getattr(one, "__name__", "function") for one in maps], mapped=True)
    return _wrapped(explained, options, fits, drawn.predictions, drawn.space, settings, run)


_QUALITY = ("fidelity", "selection", "stability", "agreement", "radius")


# -- wrapping ----------------------------------------------------------------------------------------


def _wrapped(
    explained: Explained,
    options: Options,
    fits: list[LocalFit],
    answers: FloatArray,
    space: Representation | None,
    settings: Mapping[str, Any],
    run: Run,
) -> LocalAttribution:
    predictor, rows, players = explained.predictor, explained.rows, explained.data.schema.players()
    own = space if space is not None and space.own is not None else None
    names = space.names if space is not None else tuple(players)
    x = space.values(rows) if space is not None else np.ones((len(rows), len(names)))
    entries = players if space is not None and own is None else {name: (j,) for j, name in enumerate(names)}
    summed = [list(members) for members in entries.values()]
    effects = np.stack([one.effects for one in fits])
    bases = squeeze_outputs(np.stack([one.base for one in fits]))
    ranges, within = ranges_of(explained, space, fits, run)
    result = LocalAttribution(
        method="lime",
        game="" if space is not None else "marginal",
        reference=Reference(int(settings.get("background", 0))),
        header=Header(
            readable=explained.data.schema.readable,
            scale="log-odds" if options.model == "logistic" else predictor.scale,
            feature_names=tuple(players) if own is None else names,
            output_names=predictor.output_names,
            cost=run.cost(),
            library=explained.table.caller,
            row_labels=explained.originals.row_labels,
            settings={**_settings(predictor, options, fits, run), **settings},
        ),
        values=squeeze_outputs(np.stack([effects[:, part].sum(axis=1) for part in summed], axis=1)),
        se=squeeze_outputs(np.stack([one.entry_se(summed) for one in fits])),
        base=np.asarray(bases.mean(axis=0)),
        bases=bases,
        prediction=squeeze_outputs(logit(answers, LOGIT_FLOOR) if options.model == "logistic" else answers),
        entries=(
            entries_of(explained.data, rows, players)
            if own is None
            else Entries(own.cells(x), tuple((name,) for name in own.names))
        ),
        terms=names,
        **_local_models(explained, fits, space, x),
        ranges=squeeze_outputs(ranges),
        within=squeeze_outputs(within),
        boundary=(
            None if options.boundary is None or space is None else boundary_of(explained, space, fits[0], options, run)
        ),
    )
    facts = Facts(
        [one.nearest for one in fits],
        [one.spread for one in fits],
        options.sampler,
        options.tolerance,
        answers,
        _returned(explained, run),
    )
    originals = explained.model, explained.table, explained.originals
    caveats = lime_caveats(*originals, run, result, players=explained.table.schema.players(), facts=facts)
    return run.finish(result, caveats)


def _returned(explained: Explained, run: Run) -> FloatArray | None:
    """Predictions for rows mapped to other features and back, where there are others."""
    if not (explained.mapped and run.checks):
        return None
    with run.checking():
        return run.predict(explained.predictor, explained.rows)


def _local_models(
    explained: Explained, fits: list[LocalFit], space: Representation | None, x: FloatArray
) -> dict[str, Any]:
    """The terms of the local models ``x`` (rows, terms), their weights, and how well each local model holds."""
    plain = np.ones(x.shape[1])
    per_unit = np.stack([plain if space is None else space.per_unit(row) for row in x])

    def stacked(name: str) -> FloatArray:
        return np.stack([getattr(one, name) for one in fits])

    return {
        "conditions": tuple(("",) * x.shape[1] if space is None else space.conditions(row) for row in x),
        "weights": squeeze_outputs(stacked("coefficients") * per_unit[:, :, None]),
        "weights_se": squeeze_outputs(stacked("coefficients_se") * per_unit[:, :, None]),
        "scales": 1.0 / per_unit,
        "encoded": np.stack([plain if space is None else space.encoded(row) for row in x]),
        **{name: squeeze_outputs(stacked(name)) for name in _QUALITY},
        "width": stacked("width"),
        "effective": stacked("effective"),
        "width_search": width_search(
            [one.widths for one in fits],
            [one.width for one in fits],
            per_unit,
            explained.predictor.output_names,
            explained.table.caller,
        ),
    }


def _settings(predictor: Predictor, options: Options, fits: list[LocalFit], run: Run) -> dict[str, Any]:
    classes = predictor.classes or ()
    return {
        "method": "lime",
        **options.settings(),
        "random_state": run.seed,
        "why": _why(fits, options),
        **({"classes": [str(label) for label in classes]} if len(classes) == 2 else {}),
    }


def _why(fits: list[LocalFit], options: Options) -> str:
    """Why this width."""
    if options.kernel == "shap":
        return ""
    if options.width != "auto":
        return "the usual 0.75 times the root of the number of features" if options.width == "default" else "as given"
    tried = len(fits[0].widths.widths)
    return f"the best of {tried} tried (by fidelity near the row times stability)"
