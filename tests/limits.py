"""Explainers that cut their work into other pieces, or read a model where asking it would be as quick."""

from copy import copy
from dataclasses import replace


def limited(explainer, **limits):
    """The same Explainer with other limits (see `pellucid.runner.limits`); it shares what it has learnt."""
    other = copy(explainer)
    other._limits = replace(explainer._limits, **limits)
    return other
