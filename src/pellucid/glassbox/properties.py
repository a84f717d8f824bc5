"""What every glass box can and cannot be: one table, from which the docs are made and which tests measure.

- *linear*: along a number, all others fixed, predictions lie on a straight line (second differences are 0);
- *monotone*: along a number predictions never turn;
- *interactions*: the effect of a feature depends on another, on the scale on which the model adds up (where it does
  not: Friedman's H is 0 for every pair);
- *tasks*: what it predicts; *read*: what an Explainer reads of it instead of asking for predictions.

"on request" is what an option brings about: interactions of linear models (``interactions=``), pairs (``pairs=``) and
monotone functions (``shapes=``) of additive ones.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

Answer = Literal["yes", "no", "on request"]
Reading = Literal["sum of terms", "trees", "nothing"]


@dataclass(frozen=True)
class Properties:
    """The properties of one glass box."""

    linear: Answer
    monotone: Answer
    interactions: Answer
    tasks: str
    scale: str
    read: Reading


PROPERTIES: dict[str, Properties] = {
    "LinearModel": Properties("yes", "yes", "on request", "numbers", "response", "sum of terms"),
    "LogisticModel": Properties("no", "yes", "on request", "classes", "log-odds", "sum of terms"),
    "GeneralizedLinearModel": Properties("no", "yes", "on request", "numbers", "link", "sum of terms"),
    "AdditiveModel": Properties("no", "on request", "on request", "numbers, classes", "link", "sum of terms"),
    "NaiveBayes": Properties("no", "no", "no", "classes", "log-odds", "sum of terms"),
    "ShortTree": Properties("no", "no", "yes", "numbers, classes", "response", "trees"),
    "RuleList": Properties("no", "no", "yes", "numbers, classes", "response", "trees"),
    "RuleFit": Properties("no", "no", "yes", "numbers, two classes", "response, log-odds", "nothing"),
    "NearestNeighbours": Properties("no", "no", "yes", "numbers, classes", "response", "nothing"),
    "NearestPrototype": Properties("no", "no", "yes", "classes", "response", "nothing"),
}


def table() -> str:
    """The properties as a table in Markdown."""
    names = [field.name for field in fields(Properties)]
    lines = [["model", *names], ["---"] * (len(names) + 1)]
    lines += [[f"`{model}`", *(getattr(own, name) for name in names)] for model, own in PROPERTIES.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
