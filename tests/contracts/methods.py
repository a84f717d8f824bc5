"""The methods under contract: every method, now and later, is one line here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from contracts.fitting import fit
from pellucid import Explainer
from pellucid.explanations import Explanation


@dataclass(frozen=True, eq=False)
class Method:
    """A call on an Explainer over the contract's table (see tables.py).

    ``features`` are the columns it is about, to be given by name or by position. ``weighable``: whether two
    equal rows count exactly like one row of weight two (not so where rows are drawn at random or are the
    result itself). ``sampled``: estimates with standard errors.
    """

    call: Callable[..., Explanation]
    features: tuple[str, ...] = ()
    weighable: bool = True
    needs_y: bool = False
    sampled: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, explainer: Explainer, *, by: Callable[[str], Any] = str) -> Explanation:
        given = [by(name) for name in self.features]
        arguments = [given[0] if len(given) == 1 else tuple(given)] if given else []
        return self.call(explainer, *arguments, **self.options)


METHODS = {
    "pdp": Method(Explainer.pdp, ("temp",), options={"grid": 12}),
    "pdp integer": Method(Explainer.pdp, ("day",), options={"grid": 7}),
    "pdp category": Method(Explainer.pdp, ("season",)),
    "pdp pair": Method(Explainer.pdp, ("temp", "season"), options={"grid": 5}),
    "pdp pure": Method(Explainer.pdp, ("temp", "hum"), options={"grid": 4, "pure": True}),
    "pdp centred": Method(Explainer.pdp, ("temp",), options={"grid": 6, "center": "mean"}),
    "ice": Method(Explainer.ice, ("temp",), weighable=False, options={"grid": 6}),
    "ice centred": Method(Explainer.ice, ("temp",), weighable=False, options={"grid": 6, "center": 10.0}),
    "ice derivative": Method(Explainer.ice, ("hum",), weighable=False, options={"grid": 6, "derivative": True}),
    "ale": Method(Explainer.ale, ("temp",), options={"bins": 8}),
    "ale category": Method(Explainer.ale, ("season",)),
    "ale boolean": Method(Explainer.ale, ("work",)),
    "ale pair": Method(Explainer.ale, ("temp", "hum"), options={"bins": 3}),
    "ale mixed pair": Method(Explainer.ale, ("season", "hum"), options={"bins": 3, "total": True}),
    "ale three": Method(Explainer.ale, ("temp", "hum", "season"), options={"bins": 2}),
    "ale three total": Method(Explainer.ale, ("season", "day", "work"), options={"bins": 2, "total": True}),
    "mplot": Method(Explainer.mplot, ("temp",), options={"bins": 6}),
    "importance": Method(Explainer.importance, weighable=False, needs_y=True, options={"repeats": 3}),
    "importance halves": Method(Explainer.importance, weighable=False, needs_y=True, options={"scheme": "halves"}),
    "importance pairs": Method(Explainer.importance, needs_y=True, options={"scheme": "pairs", "loss": "mae"}),
    "importance without y": Method(Explainer.importance, options={"scheme": "pairs", "loss": "variance"}),
    "importance pdp": Method(Explainer.importance, options={"method": "pdp", "grid": 6}),
    "importance conditional": Method(
        Explainer.importance,
        weighable=False,
        needs_y=True,
        sampled=True,
        options={"method": "conditional", "repeats": 3},
    ),
    "importance shap": Method(Explainer.importance, options={"method": "shap"}),
    "importance comparison": Method(
        Explainer.importance,
        weighable=False,
        needs_y=True,
        options={"method": ["permutation", "pdp"], "repeats": 3, "grid": 6},
    ),
    "associations": Method(Explainer.associations),
    "clusters": Method(Explainer.clusters),
    "audit": Method(Explainer.audit, weighable=False, needs_y=True),
    "performance": Method(Explainer.performance, needs_y=True),
    "influence": Method(
        Explainer.influence, weighable=False, needs_y=True, options={"rows": [0, 1], "refit": fit, "budget": 500}
    ),
    "triage": Method(Explainer.triage, weighable=False, needs_y=True, options={"folds": 2, "refit": fit}),
    "robust": Method(Explainer.robust, weighable=False, needs_y=True, options={"without": 2, "folds": 2, "refit": fit}),
    "poisoning": Method(
        Explainer.poisoning, weighable=False, needs_y=True, options={"row": 0, "target": 1e6, "refit": fit, "budget": 4}
    ),
    "surrogate": Method(Explainer.surrogate, options={"size": 4}),
    "surrogate linear": Method(Explainer.surrogate, options={"kind": "linear", "size": 3}),
    "surrogates": Method(Explainer.surrogate, options={"kind": ["tree", "linear"], "folds": 3}),
    "clusters importance": Method(
        Explainer.clusters, weighable=False, needs_y=True, options={"importance": True, "threshold": 0.1}
    ),
    "shap": Method(Explainer.shap, options={"rows": 0}),
    "shap rows": Method(Explainer.shap, weighable=False, options={"rows": range(4)}),
    "shap interactions": Method(Explainer.shap, options={"rows": 0, "interactions": True, "method": "exact"}),
    "shap kernel": Method(Explainer.shap, weighable=False, options={"rows": 0, "method": "kernel", "budget": 20_000}),
    "shap permutation": Method(
        Explainer.shap, weighable=False, sampled=True, options={"rows": 0, "method": "permutation", "budget": 2_000}
    ),
    "shap sparse": Method(Explainer.shap, weighable=False, options={"rows": 0, "sparse": 2}),
    "shap conditional": Method(Explainer.shap, weighable=False, options={"rows": 0, "game": "conditional"}),
    "breakdown": Method(Explainer.breakdown, options={"row": 0}),
    "breakdown interactions": Method(Explainer.breakdown, options={"row": 0, "interactions": True}),
    "lime": Method(Explainer.lime, options={"row": 0, "samples": 1000}),
    "lime lasso": Method(
        Explainer.lime,
        weighable=False,
        options={"row": 0, "samples": 1000, "features": 2, "select": "lasso", "space": "quartile"},
    ),
    "lime correlated": Method(
        Explainer.lime,
        weighable=False,
        options={"row": [0, 3], "samples": 1000, "sampler": "correlated", "width": "default"},
    ),
    "lime around": Method(
        Explainer.lime,
        weighable=False,
        options={"row": 1, "samples": 500, "sampler": "around", "distance": "gower", "select": "backward"},
    ),
    "lime tree": Method(
        Explainer.lime,
        weighable=False,
        options={"row": 0, "samples": 400, "sampler": "gaussian", "model": "tree", "space": "entropy"},
    ),
    "lime shap": Method(Explainer.lime, options={"row": 0, "kernel": "shap"}),
    "lime pick": Method(
        Explainer.lime_pick, weighable=False, options={"budget": 3, "sample": 8, "samples": 400, "features": 2}
    ),
    "interactions greenwell": Method(
        Explainer.interactions, ("temp", "season", "hum"), options={"method": "greenwell", "rows": 400}
    ),
    "interactions greenwell pair": Method(
        Explainer.interactions, ("hum", "work"), options={"method": "greenwell", "normalize": False, "rows": 400}
    ),
    "interactions shap": Method(
        Explainer.interactions, ("temp", "season", "hum"), weighable=False, options={"method": "shap", "rows": 12}
    ),
    "interactions shap all": Method(
        Explainer.interactions, weighable=False, options={"method": "shap", "against": "all", "rows": 12}
    ),
    "decompose": Method(Explainer.decompose, options={"grid": 6}),
    "decompose one": Method(Explainer.decompose, options={"order": 1}),
    "decompose three": Method(Explainer.decompose, options={"order": 3, "grid": 3}),
    "decompose anova": Method(Explainer.decompose, options={"method": "anova"}),
    "decompose generalized": Method(Explainer.decompose, options={"method": "generalized"}),
    "decompose generalized grid": Method(Explainer.decompose, options={"method": "generalized", "grid": 3}),
    "decompose generalized uniform": Method(
        Explainer.decompose, weighable=False, sampled=True, options={"method": "generalized", "density": "uniform"}
    ),
    "decompose ale": Method(Explainer.decompose, options={"method": "ale"}),
    "decompose ale three": Method(Explainer.decompose, options={"method": "ale", "order": 3}),
    "importance drop": Method(
        Explainer.importance, weighable=False, needs_y=True, options={"method": "drop", "loss": "mae", "refit": fit}
    ),
    "importance folds": Method(
        Explainer.importance,
        weighable=False,
        needs_y=True,
        options={"folds": 3, "loss": "mae", "refit": fit, "repeats": 2},
    ),
    "importance p-values": Method(
        Explainer.importance,
        weighable=False,
        needs_y=True,
        options={"p_values": 5, "loss": "mae", "refit": fit, "repeats": 2},
    ),
    "interactions": Method(Explainer.interactions, ("temp", "hum")),
    "interactions with a category": Method(Explainer.interactions, ("season", "temp"), options={"normalize": False}),
    "interactions all": Method(Explainer.interactions, options={"against": "all"}),
    "interactions triple": Method(Explainer.interactions, ("temp", "hum", "work"), options={"against": "triples"}),
    "importance sage": Method(Explainer.importance, needs_y=True, options={"method": "sage"}),
    "importance sage sampled": Method(
        Explainer.importance, weighable=False, needs_y=True, sampled=True, options={"method": "sage", "budget": 40_000}
    ),
    "importance sage without y": Method(Explainer.importance, options={"method": "sage", "loss": "variance"}),
    "importance sobol": Method(Explainer.importance, sampled=True, options={"method": "sobol", "budget": 4_000}),
    "importance anova": Method(Explainer.importance, sampled=True, options={"method": "anova", "budget": 4_000}),
    "importance shapley effects": Method(
        Explainer.importance, weighable=False, sampled=True, options={"method": "shapley-effects", "budget": 2_000}
    ),
    "anchor": Method(Explainer.anchor, weighable=False, sampled=True, options={"rows": 0, "within": 60.0}),
    "anchor rows": Method(
        Explainer.anchor, weighable=False, sampled=True, options={"rows": [0, 3], "within": 60.0, "bins": 2}
    ),
    "anchor conditional": Method(
        Explainer.anchor,
        weighable=False,
        options={"rows": 0, "within": 60.0, "perturb": "conditional", "precision": 0.8},
    ),
    "anchor balanced": Method(
        Explainer.anchor, weighable=False, sampled=True, options={"rows": 0, "within": 60.0, "perturb": "balanced"}
    ),
    "counterfactuals": Method(
        Explainer.counterfactuals, weighable=False, options={"row": 0, "target": ">= 300", "n": 1}
    ),
    "adversarial": Method(
        Explainer.adversarial, weighable=False, options={"row": 0, "target": ">= 300", "norm": "linf", "budget": 400}
    ),
    "adversarial rows": Method(
        Explainer.adversarial, weighable=False, options={"row": [0, 3, 5], "target": ">= 300", "budget": 400}
    ),
    "counterfactuals neighbours": Method(
        Explainer.counterfactuals,
        weighable=False,
        options={"row": 0, "target": ">= 300", "method": "neighbours", "n": 3},
    ),
    "prototypes": Method(Explainer.prototypes, weighable=False, options={"n": 4, "criticisms": 2}),
    "prototypes gower": Method(
        Explainer.prototypes, weighable=False, options={"n": "auto", "kernel": "gower", "by": "prediction"}
    ),
    "prototypes weighted": Method(
        Explainer.prototypes, weighable=False, options={"n": 3, "criticisms": 1, "method": "weighted"}
    ),
    "prototypes medoids": Method(Explainer.prototypes, weighable=False, options={"n": 3, "method": "medoids"}),
    "prototypes given": Method(
        Explainer.prototypes, weighable=False, options={"n": [0, 3, 5], "method": "given", "width": 1.5}
    ),
    "neighbors": Method(Explainer.neighbors, weighable=False, options={"row": 0, "n": 3}),
    "neighbors contributions": Method(
        Explainer.neighbors, weighable=False, options={"row": 1, "n": 2, "distance": "contributions"}
    ),
    "counterfactuals diverse": Method(
        Explainer.counterfactuals,
        weighable=False,
        options={"row": 0, "target": ">= 300", "method": "diverse", "n": 3, "budget": 300},
    ),
}
