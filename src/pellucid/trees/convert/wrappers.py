"""scikit-learn's estimators around estimators, where what they make of their members is a weighted sum, and pipelines.

A pipeline is read where its steps work column by column. The matrix is made by the transformers themselves; which input
column each of its columns comes from is known to `pellucid.models.columnwise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.models.columnwise import Mixing, chained, is_absent
from pellucid.models.quiet import quietly
from pellucid.trees.convert.combine import Term, combine, rescaled
from pellucid.trees.convert.registry import convert
from pellucid.trees.convert.tree_model import TreeModel, Unsupported, dense


def search(model: Any) -> TreeModel:
    """GridSearchCV and its like: the estimator that was refitted."""
    if not hasattr(model, "best_estimator_"):
        raise Unsupported(f"{_name(model)} with refit=False holds no model")
    return convert(model.best_estimator_)


def frozen(model: Any) -> TreeModel:
    """FrozenEstimator: what it holds."""
    return convert(model.estimator)


def threshold_classifier(model: Any) -> TreeModel:
    """FixedThresholdClassifier and its like: the threshold is for labels, the scores are the classifier's."""
    return convert(getattr(model, "estimator_", model.estimator))


def voting_regressor(model: Any) -> TreeModel:
    """The weighted mean of the members' predictions."""
    members = [_predicting(model, member) for member in model.estimators_]
    return _mean(members, _shares(model))


def voting_classifier(model: Any) -> TreeModel:
    """Soft voting: the weighted mean of the members' probabilities."""
    if model.voting != "soft":
        raise Unsupported(f"VotingClassifier with voting={model.voting!r} counts votes, which do not add up")
    members = [_predicting(model, member) for member in model.estimators_]
    return _mean(members, _shares(model))


def _shares(model: Any) -> FloatArray:
    weights = [1.0] * len(model.estimators_) if model._weights_not_none is None else model._weights_not_none
    return np.asarray(weights, dtype=np.float64) / np.sum(weights)


def _mean(members: Sequence[TreeModel], shares: FloatArray) -> TreeModel:
    terms = [
        Term(member, share * np.eye(member.ensemble.n_outputs)) for member, share in zip(members, shares, strict=True)
    ]
    return combine(terms)


def bagging_regressor(model: Any) -> TreeModel:
    """The mean of members that each see some of the columns."""
    terms = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        read = _predicting(model, member)
        weight = np.eye(read.ensemble.n_outputs) / len(model.estimators_)
        terms.append(Term(read, weight, np.asarray(columns)))
    return combine(terms, n_features=model.n_features_in_)


def bagging_classifier(model: Any) -> TreeModel:
    """The mean of the members' probabilities; a class that a member has not seen has none there."""
    terms = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        read = _predicting(model, member)
        weight = np.zeros((model.n_classes_, read.ensemble.n_outputs))
        weight[np.asarray(member.classes_, dtype=np.intp), np.arange(len(member.classes_))] = 1.0
        terms.append(Term(read, weight / len(model.estimators_), np.asarray(columns)))
    return combine(terms, n_features=model.n_features_in_)


def stacking_regressor(model: Any) -> TreeModel:
    """A linear final estimator: its coefficients times the members' predictions, plus its intercept."""
    if model.passthrough:
        raise Unsupported("StackingRegressor with passthrough=True uses the columns themselves, outside any tree")
    members = [_predicting(model, member) for member in model.estimators_ if not isinstance(member, str)]
    coefficients, intercept = _linear(model.final_estimator_, len(members))
    terms = [Term(member, np.array([[coefficient]])) for member, coefficient in zip(members, coefficients, strict=True)]
    return combine(terms, base=np.array([intercept]))


def _linear(final: Any, n: int) -> tuple[FloatArray, float]:
    """Coefficients and intercept, if the estimator's predictions are what they say on points that span the space."""
    refusal = Unsupported(
        f"StackingRegressor with final_estimator {_name(final)}: only a linear one adds up over its members"
    )
    if not hasattr(final, "coef_") or not hasattr(final, "intercept_"):
        raise refusal
    coefficients = np.asarray(final.coef_, dtype=np.float64).ravel()
    intercept = np.asarray(final.intercept_, dtype=np.float64).ravel()
    if coefficients.shape != (n,) or intercept.shape != (1,):
        raise refusal
    points = np.vstack([np.zeros(n), np.eye(n), -2.5 * np.eye(n), np.full((1, n), 3.0)])
    told, found = points @ coefficients + intercept, np.ravel(final.predict(points))
    if not np.allclose(found, told, rtol=1e-9, atol=1e-9 * (1 + np.abs(told).max())):
        raise refusal
    return coefficients, float(intercept[0])


def multi_output_regressor(model: Any) -> TreeModel:
    """One member per target."""
    members = [_predicting(model, member) for member in model.estimators_]
    targets = np.eye(len(members))
    terms = [Term(member, targets[:, [k]]) for k, member in enumerate(members)]
    return combine(terms)


def transformed_target(model: Any) -> TreeModel:
    """The regressor's own scores; its inverse function is the link."""
    inner = _predicting(model, model.regressor_)
    if model.transformer is not None:
        raise Unsupported(
            f"TransformedTargetRegressor with transformer={_name(model.transformer)} is not read as trees"
        )
    if model.inverse_func is None:
        return inner
    return replace(inner, link="exp" if model.inverse_func is np.exp else "other", scale="score")


def calibrated_classifier(model: Any) -> TreeModel:
    """Platt scaling by one calibrator: log-odds that are linear in the classifier's score, -(a s + b)."""
    if model.method != "sigmoid":
        raise Unsupported(f"CalibratedClassifierCV with method={model.method!r} is not linear in the scores")
    if len(model.calibrated_classifiers_) != 1:
        raise Unsupported(
            f"CalibratedClassifierCV with {len(model.calibrated_classifiers_)} calibrators averages their "
            "probabilities, which do not add up; ensemble=False has one"
        )
    calibrated = model.calibrated_classifiers_[0]
    calibrators, n_classes = calibrated.calibrators, len(model.classes_)
    if len(calibrated.estimator.classes_) != n_classes:
        raise Unsupported("CalibratedClassifierCV around a classifier that has not seen all classes")
    inner = _scoring(model, calibrated.estimator)
    slope = -np.array([each.a_ for each in calibrators])
    weight = slope[:, None] * np.eye(inner.ensemble.n_outputs)[-len(slope) :]  # of two classes the second
    raw = rescaled(inner, weight, -np.array([each.b_ for each in calibrators]))
    # The sigmoids of several classes are scaled to a sum of one afterwards.
    return replace(raw, link="logistic" if n_classes == 2 else "other", scale="log-odds")


def _scoring(model: Any, classifier: Any) -> TreeModel:
    """A classifier as what a calibrator is fitted to: its decision function, else its probabilities."""
    inner = convert(classifier)
    if hasattr(classifier, "decision_function") or inner.scale == "probability":
        return inner
    raise Unsupported(
        f"{_name(model)} around {_name(classifier)} works on probabilities, but the trees add up to {_sums(inner)}"
    )


def _predicting(model: Any, member: Any) -> TreeModel:
    """A member whose trees add up to its predictions."""
    read = convert(member)
    if read.link == "identity":
        return read
    wanted = "probabilities" if hasattr(model, "classes_") else "predictions"
    raise Unsupported(f"{_name(model)} around {_name(member)} works on {wanted}, but the trees add up to {_sums(read)}")


def _sums(model: TreeModel) -> str:
    return "log-odds" if model.scale == "log-odds" else f"scores (link {model.link!r})"


def _name(model: Any) -> str:
    return type(model).__name__


@dataclass(frozen=True, eq=False)
class _Steps:
    """The transformers one after another, then the model's own encoding."""

    steps: tuple[Any, ...]
    final: TreeModel

    def __call__(self, table: Any) -> FloatArray:
        with quietly():
            for step in self.steps:
                table = step.transform(table)
        return self.final.encode(dense(table, self.final.fill))


def pipeline(model: Any) -> TreeModel:
    """The trees at the end of a pipeline, on its input columns."""
    last = model.steps[-1][1]
    if is_absent(last):
        raise Unsupported(f"{type(model).__name__} ends with {last!r}: it holds no model")
    final = convert(last)
    steps = tuple(step for _, step in model.steps[:-1] if not is_absent(step))
    if not steps:
        return final
    try:
        source = chained(steps)
    except Mixing as reason:
        raise Unsupported(str(reason)) from None
    return replace(
        final, encode=_Steps(steps, final), source=final.source if source is None else source[final.source], fill=0.0
    )
