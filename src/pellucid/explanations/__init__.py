"""Results: few kinds, frozen, and able to speak for themselves."""

from pellucid.explanations.agreement import Agreement
from pellucid.explanations.associations import Associations
from pellucid.explanations.attribution import Additivity, Attribution, Entries, InteractionValues, Reference
from pellucid.explanations.audit import Audit, AuditLine
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.clusters import Clusters
from pellucid.explanations.coefficients import Coefficients
from pellucid.explanations.component import Axis, Component
from pellucid.explanations.condition import Condition
from pellucid.explanations.counterfactual_scene import Observed, Scene, Surface
from pellucid.explanations.counterfactuals import Counterfactuals, Obstacle
from pellucid.explanations.decision_list import DecisionList
from pellucid.explanations.decomposition import Decomposition
from pellucid.explanations.effect import AtMissing, Colouring, Effect
from pellucid.explanations.effects import Effects
from pellucid.explanations.explanation import Explanation, Header, changed, squeeze_outputs
from pellucid.explanations.fragile_rows import FragileRows
from pellucid.explanations.importance import Importance
from pellucid.explanations.importance_comparison import ImportanceComparison
from pellucid.explanations.influence import Checked, Influence
from pellucid.explanations.interactions import Interactions
from pellucid.explanations.local_attribution import Boundary, LocalAttribution
from pellucid.explanations.network import Network
from pellucid.explanations.performance import Bins, Performance, Ranking
from pellucid.explanations.pick import Pick
from pellucid.explanations.poisoning import Poisoning
from pellucid.explanations.prototypes import Discrepancy, Neighbors, Prototypes, RowMap
from pellucid.explanations.robust import RobustFit
from pellucid.explanations.rule import Anchor, Rule, RuleCheck, Rules
from pellucid.explanations.store import load
from pellucid.explanations.surrogate import Surrogate, Surrogates
from pellucid.explanations.triage import Triage
from pellucid.explanations.width_search import WidthSearch

__all__ = [
    "Additivity",
    "Agreement",
    "Anchor",
    "Associations",
    "AtMissing",
    "Attribution",
    "Audit",
    "AuditLine",
    "Axis",
    "Bins",
    "Boundary",
    "Caveat",
    "Checked",
    "Clusters",
    "Coefficients",
    "Colouring",
    "Component",
    "Condition",
    "Counterfactuals",
    "DecisionList",
    "Decomposition",
    "Discrepancy",
    "Effect",
    "Effects",
    "Entries",
    "Explanation",
    "FragileRows",
    "Header",
    "Importance",
    "ImportanceComparison",
    "Influence",
    "InteractionValues",
    "Interactions",
    "LocalAttribution",
    "Neighbors",
    "Network",
    "Observed",
    "Obstacle",
    "Performance",
    "Pick",
    "Poisoning",
    "Prototypes",
    "Ranking",
    "Reference",
    "RobustFit",
    "RowMap",
    "Rule",
    "RuleCheck",
    "Rules",
    "Scene",
    "Surface",
    "Surrogate",
    "Surrogates",
    "Triage",
    "WidthSearch",
    "changed",
    "load",
    "squeeze_outputs",
]
