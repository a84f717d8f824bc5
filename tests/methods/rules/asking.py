"""Anchors asked for as an Explainer does, and a classifier made of a function."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from pellucid import Explainer
from pellucid.methods.rules.anchor import anchor


class Labels(ClassifierMixin, BaseEstimator):
    """A classifier that says True where a function of the matrix is positive."""

    def __init__(self, score=None):
        self.score_of = score
        self.classes_ = np.array(["no", "yes"], dtype=object)
        self.asked = 0

    def predict_proba(self, X):
        self.asked += len(X)
        yes = (np.asarray(self.score_of(np.asarray(X, dtype=float))) > 0).astype(float)
        return np.column_stack([1 - yes, yes])


def ask(explainer, rows, **options):
    return anchor(explainer.predictor, explainer.data, rows, run=explainer._run("anchors"), **options)


def explain(score, X, rows, *, explainer=None, **options):
    """The anchor of a row under ``score(X) > 0``; checks off unless asked for."""
    return ask(
        Explainer(Labels(score), X, **{"checks": False, "progress": False, **(explainer or {})}), rows, **options
    )
