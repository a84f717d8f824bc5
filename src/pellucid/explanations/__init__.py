"""Results: few kinds, frozen, and able to speak for themselves."""

from pellucid.explanations.attribution import Additivity, Attribution
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.dependence import Dependence
from pellucid.explanations.effect import AtMissing, Colouring, Effect
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.image_attribution import ImageAttribution
from pellucid.explanations.importance import Importance
from pellucid.explanations.store import load
from pellucid.explanations.text_attribution import TextAttribution

__all__ = [
    "Additivity",
    "AtMissing",
    "Attribution",
    "Caveat",
    "Colouring",
    "Dependence",
    "Effect",
    "Explanation",
    "ImageAttribution",
    "Importance",
    "TextAttribution",
    "load",
]
