"""pellucid: see through any machine-learning model.

>>> from pellucid import Explainer  # doctest: +SKIP
>>> Explainer(model, X, y).pdp("temp").plot()  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pellucid.drawing import drawn_by

if TYPE_CHECKING:
    from pellucid import datasets as datasets
    from pellucid import glassbox as glassbox
    from pellucid.charts import panel as panel
    from pellucid.data.sampling.generator import RowGenerator as RowGenerator
    from pellucid.errors import InputError as InputError
    from pellucid.errors import MissingExtra as MissingExtra
    from pellucid.errors import ModelError as ModelError
    from pellucid.errors import PellucidError as PellucidError
    from pellucid.explainer import Explainer as Explainer
    from pellucid.explanations import Agreement as Agreement
    from pellucid.explanations import Anchor as Anchor
    from pellucid.explanations import Associations as Associations
    from pellucid.explanations import Attribution as Attribution
    from pellucid.explanations import Audit as Audit
    from pellucid.explanations import Caveat as Caveat
    from pellucid.explanations import Clusters as Clusters
    from pellucid.explanations import Coefficients as Coefficients
    from pellucid.explanations import Condition as Condition
    from pellucid.explanations import Counterfactuals as Counterfactuals
    from pellucid.explanations import DecisionList as DecisionList
    from pellucid.explanations import Decomposition as Decomposition
    from pellucid.explanations import Effect as Effect
    from pellucid.explanations import Effects as Effects
    from pellucid.explanations import Explanation as Explanation
    from pellucid.explanations import FragileRows as FragileRows
    from pellucid.explanations import Importance as Importance
    from pellucid.explanations import ImportanceComparison as ImportanceComparison
    from pellucid.explanations import Influence as Influence
    from pellucid.explanations import Interactions as Interactions
    from pellucid.explanations import LocalAttribution as LocalAttribution
    from pellucid.explanations import Neighbors as Neighbors
    from pellucid.explanations import Network as Network
    from pellucid.explanations import Performance as Performance
    from pellucid.explanations import Pick as Pick
    from pellucid.explanations import Poisoning as Poisoning
    from pellucid.explanations import Prototypes as Prototypes
    from pellucid.explanations import RobustFit as RobustFit
    from pellucid.explanations import Rule as Rule
    from pellucid.explanations import RuleCheck as RuleCheck
    from pellucid.explanations import Rules as Rules
    from pellucid.explanations import Surrogate as Surrogate
    from pellucid.explanations import Surrogates as Surrogates
    from pellucid.explanations import Triage as Triage
    from pellucid.methods.attribution.shapley_game import shapley as shapley
    from pellucid.methods.local.agreement import agreement as agreement
    from pellucid.methods.local.pick import pick_rows as pick_rows
    from pellucid.models import Predictor as Predictor
    from pellucid.parts import ImageAttack as ImageAttack
    from pellucid.parts import ImageAttribution as ImageAttribution
    from pellucid.parts import ImageCounterfactuals as ImageCounterfactuals
    from pellucid.parts import ImageRule as ImageRule
    from pellucid.parts import LocalImageAttribution as LocalImageAttribution
    from pellucid.parts import LocalTextAttribution as LocalTextAttribution
    from pellucid.parts import TextAttribution as TextAttribution
    from pellucid.parts import TextCounterfactuals as TextCounterfactuals
    from pellucid.parts import TextRule as TextRule
    from pellucid.parts import WordImportance as WordImportance
    from pellucid.parts.image_explainer import ImageExplainer as ImageExplainer
    from pellucid.parts.text_explainer import TextExplainer as TextExplainer
    from pellucid.saved import load as load

__version__ = "0.1.0"

# Public name -> module it is loaded from, on first use: importing pellucid loads no library.
_HOME = {
    "Agreement": "pellucid.explanations",
    "Anchor": "pellucid.explanations",
    "Attribution": "pellucid.explanations",
    "Audit": "pellucid.explanations",
    "Caveat": "pellucid.explanations",
    "Clusters": "pellucid.explanations",
    "Coefficients": "pellucid.explanations",
    "Condition": "pellucid.explanations",
    "Counterfactuals": "pellucid.explanations",
    "DecisionList": "pellucid.explanations",
    "Decomposition": "pellucid.explanations",
    "Associations": "pellucid.explanations",
    "Effect": "pellucid.explanations",
    "Effects": "pellucid.explanations",
    "Explainer": "pellucid.explainer",
    "Explanation": "pellucid.explanations",
    "FragileRows": "pellucid.explanations",
    "ImageAttack": "pellucid.parts",
    "ImageAttribution": "pellucid.parts",
    "ImageCounterfactuals": "pellucid.parts",
    "ImageExplainer": "pellucid.parts.image_explainer",
    "ImageRule": "pellucid.parts",
    "Importance": "pellucid.explanations",
    "ImportanceComparison": "pellucid.explanations",
    "Influence": "pellucid.explanations",
    "InputError": "pellucid.errors",
    "Interactions": "pellucid.explanations",
    "LocalAttribution": "pellucid.explanations",
    "LocalImageAttribution": "pellucid.parts",
    "LocalTextAttribution": "pellucid.parts",
    "MissingExtra": "pellucid.errors",
    "ModelError": "pellucid.errors",
    "Neighbors": "pellucid.explanations",
    "Network": "pellucid.explanations",
    "PellucidError": "pellucid.errors",
    "Performance": "pellucid.explanations",
    "Pick": "pellucid.explanations",
    "Predictor": "pellucid.models",
    "Poisoning": "pellucid.explanations",
    "Prototypes": "pellucid.explanations",
    "RobustFit": "pellucid.explanations",
    "RowGenerator": "pellucid.data.sampling.generator",
    "Rule": "pellucid.explanations",
    "RuleCheck": "pellucid.explanations",
    "Rules": "pellucid.explanations",
    "Surrogate": "pellucid.explanations",
    "Surrogates": "pellucid.explanations",
    "TextAttribution": "pellucid.parts",
    "TextCounterfactuals": "pellucid.parts",
    "TextExplainer": "pellucid.parts.text_explainer",
    "TextRule": "pellucid.parts",
    "Triage": "pellucid.explanations",
    "WordImportance": "pellucid.parts",
    "datasets": "pellucid.datasets",
    "glassbox": "pellucid.glassbox",
    "load": "pellucid.saved",
    "panel": "pellucid.charts",
    "agreement": "pellucid.methods.local.agreement",
    "pick_rows": "pellucid.methods.local.pick",
    "shapley": "pellucid.methods.attribution.shapley_game",
}

__all__ = [
    "Agreement",
    "Anchor",
    "Associations",
    "Attribution",
    "Audit",
    "Caveat",
    "Clusters",
    "Coefficients",
    "Condition",
    "Counterfactuals",
    "DecisionList",
    "Decomposition",
    "Effect",
    "Effects",
    "Explainer",
    "Explanation",
    "FragileRows",
    "ImageAttack",
    "ImageAttribution",
    "ImageCounterfactuals",
    "ImageExplainer",
    "ImageRule",
    "Importance",
    "ImportanceComparison",
    "Influence",
    "InputError",
    "Interactions",
    "LocalAttribution",
    "LocalImageAttribution",
    "LocalTextAttribution",
    "MissingExtra",
    "ModelError",
    "Neighbors",
    "Network",
    "PellucidError",
    "Performance",
    "Pick",
    "Poisoning",
    "Predictor",
    "Prototypes",
    "RobustFit",
    "RowGenerator",
    "Rule",
    "RuleCheck",
    "Rules",
    "Surrogate",
    "Surrogates",
    "TextAttribution",
    "TextCounterfactuals",
    "TextExplainer",
    "TextRule",
    "Triage",
    "WordImportance",
    "__version__",
    "agreement",
    "datasets",
    "glassbox",
    "load",
    "panel",
    "pick_rows",
    "shapley",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pellucid' has no attribute {name!r}")
    module = import_module(_HOME[name])
    value = module if _HOME[name] == f"pellucid.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def _draw(result: Any, **options: Any) -> Any:
    from pellucid.charts import draw

    return draw(result, **options)


drawn_by(_draw)  # so that results need not know of charts


def __dir__() -> list[str]:
    return sorted(__all__)
