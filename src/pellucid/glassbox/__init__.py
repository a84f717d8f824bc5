"""Models that need no explaining: scikit-learn estimators that people can read."""

from pellucid.glassbox.additive.model import AdditiveModel
from pellucid.glassbox.linear.generalized import GeneralizedLinearModel
from pellucid.glassbox.linear.linear_model import LinearModel
from pellucid.glassbox.linear.logistic_model import LogisticModel
from pellucid.glassbox.naive_bayes import NaiveBayes
from pellucid.glassbox.nearest_neighbours import NearestNeighbours
from pellucid.glassbox.nearest_prototype import NearestPrototype
from pellucid.glassbox.properties import PROPERTIES
from pellucid.glassbox.rules.rule_fit import RuleFit
from pellucid.glassbox.rules.rule_list import RuleList
from pellucid.glassbox.rules.short_tree import ShortTree

__all__ = [
    "PROPERTIES",
    "AdditiveModel",
    "GeneralizedLinearModel",
    "LinearModel",
    "LogisticModel",
    "NaiveBayes",
    "NearestNeighbours",
    "NearestPrototype",
    "RuleFit",
    "RuleList",
    "ShortTree",
]
