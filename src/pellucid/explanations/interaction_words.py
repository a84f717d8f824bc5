"""What interactions say in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.explanations.network import pooled_additive
from pellucid.words import listed, number, percent

if TYPE_CHECKING:
    from pellucid.explanations.interactions import Interactions

_SIGNIFICANT = 0.05
_OPENINGS = {"h": "Friedman's H", "greenwell": "Greenwell's interaction strength", "shap": "SHAP interaction strength"}
_NOTHING = {"greenwell": "no effect changes in size with another feature"}
_KINDS = {"pairs": "pair", "triples": "triple", "all": "feature"}


def findings(result: Interactions) -> list[str]:
    """Which sets interact, how strongly, and what the numbers do not say."""
    return [
        *_strongest(result),
        *_other_scale(result),
        *_tests(result),
        *_none(result),
        *_costs(result),
        *_shape(result),
    ]


def set_name(names: tuple[str, ...]) -> str:
    """``temp × hum``."""
    return " × ".join(names)


def count(n: int, against: str) -> str:
    """``1 pair``, ``45 pairs``."""
    return f"{n} {_KINDS[against]}{'' if n == 1 else 's'}"


def _strongest(result: Interactions) -> list[str]:
    known = [s for s in result.ranking if np.isfinite(result.overall[s])]
    asked = (
        f"{_OPENINGS.get(result.method, result.method)} ({result.measure}) of {count(len(result.sets), result.against)}"
    )
    if result.against == "all":
        asked += ", each with all others"
    if "screened" in result.settings:
        few, all_ = len(result.settings["features"]), result.settings["screened"]
        asked += f" among the {few} of {all_} features with the largest interactions in all"
    shown = _leading(result)
    if not shown:
        return [f"{asked}: {_NOTHING.get(result.method, 'none interacts') if known else 'no value is known'}."]
    words = [f"{set_name(result.sets[s])} ({number(float(result.overall[s]))}{_interval(result, s)})" for s in shown]
    mean = ", averaged over the outputs" if result.values.ndim == 2 else ""
    return [f"{asked}{mean}. Strongest: {listed(words)}."]


def headline(result: Interactions) -> str:
    """The strongest sets, or that none interacts."""
    words = [f"{set_name(result.sets[s])} ({number(float(result.overall[s]))})" for s in _leading(result)]
    noun = "interaction" if len(words) == 1 else "interactions"
    return f"Strongest {noun}: {listed(words)}." if words else _strongest(result)[0]


def _leading(result: Interactions) -> list[int]:
    """Positions of at most three sets that interact, the strongest first."""
    return [int(s) for s in result.ranking if np.isfinite(result.overall[s]) and result.overall[s] > 0][:3]


def _interval(result: Interactions, s: int) -> str:
    """The 95% interval of a single output."""
    if result.values.ndim == 2 or not np.isfinite(result.low[s]):
        return ""
    low, high = number(float(result.low[s])), number(float(result.high[s]))
    return f", 95% interval {low} to {high}" if low != high else ""


def _other_scale(result: Interactions) -> list[str]:
    """Sets are named by their strength; where another has the largest share of its own effect, say so."""
    if not result.normalized or not np.isfinite(result.overall).any() or len(result.sets) < 2:
        return []
    best = int(np.nanargmax(result.overall))
    if best == result.ranking[0] or not result.overall[best] > 0:
        return []
    return [
        f"These are strongest in units of the prediction; as a share of its joint effect,"
        f" {set_name(result.sets[best])} is strongest ({number(float(result.overall[best]))})."
    ]


def _tests(result: Interactions) -> list[str]:
    if result.adjusted is None:
        return []
    adjusted = result.adjusted if result.adjusted.ndim == 1 else np.nanmin(result.adjusted, axis=-1)
    found = [set_name(result.sets[s]) for s in result.ranking if adjusted[s] <= _SIGNIFICANT]
    asked = count(len(result.sets), result.against)
    if not found:
        return [
            f"None of the {asked} is significant (5%, adjusted for their number): the outcome does not confirm them."
        ]
    return [f"Confirmed by the outcome (p at most 5%, adjusted for {asked}): {listed(found)}."]


def _none(result: Interactions) -> list[str]:
    """Sets without any interaction, if there are others."""
    none = [set_name(names) for names, value in zip(result.sets, result.overall, strict=True) if value == 0]
    if not none or len(none) == len(result.sets):
        return []
    what = "Effects of the same size" if result.method == "greenwell" else "No interaction at all"
    return [f"{what}: {listed(none, 3)}."]


def _costs(result: Interactions) -> list[str]:
    lost = pooled_additive(result)
    if not np.isfinite(lost):
        return []
    if lost == 0:
        return [
            "Interactions explain none of the variance of the predictions: the model is additive in these features."
        ]
    return [
        f"Interactions explain about {percent(lost)} of the variance of the predictions; network() names those that are"
        " needed."
    ]


def _shape(result: Interactions) -> list[str]:
    best = result.top(1)[0]
    if not result.overall[result.ranking[0]] > 0:
        return []
    says = "The value says how strong an interaction is, not what it looks like:"
    if result.against == "all":
        return [f"{says} interactions({best[0]!r}) tells with which feature."]
    drawn = [name for name in best if name not in result.settings.get("groups", ())]
    if len(drawn) < 2:
        return [f"{says} plot the features of the groups with pdp()."]
    return [f"{says} plot it with pdp(({drawn[0]!r}, {drawn[1]!r}))."]
