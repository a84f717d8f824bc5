"""Texts and images: a whole (a text, an image) that is made of parts (words, segments) which can be absent.

One family: what the parts are (`tokens`, `segments`), the game in which they are absent (`game`), the methods
(`shap`, `lime`, `anchor`, `counterfactual`, and `importance` of words over many texts), their results, checks and
charts, and two explainers that bind a model to them.
"""

from pellucid.charts.doorway import register
from pellucid.parts.answers import ImageCounterfactuals, TextCounterfactuals
from pellucid.parts.attack import ImageAttack
from pellucid.parts.attribution import ImageAttribution, TextAttribution
from pellucid.parts.local import LocalImageAttribution, LocalTextAttribution
from pellucid.parts.rule import ImageRule, TextRule
from pellucid.parts.word_importance import WordImportance

register(TextAttribution, "pellucid.parts.text_chart")
register(ImageAttribution, "pellucid.parts.image_chart")
register(LocalTextAttribution, "pellucid.parts.variants_chart")
register(LocalImageAttribution, "pellucid.parts.variants_chart")
register(TextRule, "pellucid.parts.rule_chart")
register(ImageRule, "pellucid.parts.rule_chart")
register(WordImportance, "pellucid.parts.importance_chart")
register(TextCounterfactuals, "pellucid.parts.answer_chart")
register(ImageCounterfactuals, "pellucid.parts.answer_chart")
register(ImageAttack, "pellucid.parts.attack_chart")

__all__ = [
    "ImageAttack",
    "ImageAttribution",
    "ImageCounterfactuals",
    "ImageRule",
    "LocalImageAttribution",
    "LocalTextAttribution",
    "TextAttribution",
    "TextCounterfactuals",
    "TextRule",
    "WordImportance",
]
