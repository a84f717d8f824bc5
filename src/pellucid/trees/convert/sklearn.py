"""scikit-learn: which of its estimators are trees, or sums of them, and which reader knows them.

A subclass from elsewhere is read like its scikit-learn parent as long as it predicts by its parent's methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pellucid.models.adapter import unfitted
from pellucid.trees.convert import sklearn_trees, wrappers
from pellucid.trees.convert.tree_model import NotTrees, TreeModel, Unsupported

_READERS: dict[str, Callable[[Any], TreeModel]] = {
    **dict.fromkeys(("DecisionTreeRegressor", "ExtraTreeRegressor"), sklearn_trees.tree),
    **dict.fromkeys(("DecisionTreeClassifier", "ExtraTreeClassifier"), sklearn_trees.tree),
    **dict.fromkeys(("RandomForestRegressor", "ExtraTreesRegressor"), sklearn_trees.forest),
    **dict.fromkeys(("RandomForestClassifier", "ExtraTreesClassifier"), sklearn_trees.forest),
    "GradientBoostingRegressor": sklearn_trees.gradient_boosting,
    "GradientBoostingClassifier": sklearn_trees.gradient_boosting,
    "IsolationForest": sklearn_trees.isolation_forest,
    "HistGradientBoostingRegressor": sklearn_trees.hist_gradient_boosting,
    "HistGradientBoostingClassifier": sklearn_trees.hist_gradient_boosting,
    "Pipeline": wrappers.pipeline,
    "VotingRegressor": wrappers.voting_regressor,
    "VotingClassifier": wrappers.voting_classifier,
    "BaggingRegressor": wrappers.bagging_regressor,
    "BaggingClassifier": wrappers.bagging_classifier,
    "StackingRegressor": wrappers.stacking_regressor,
    "CalibratedClassifierCV": wrappers.calibrated_classifier,
    "MultiOutputRegressor": wrappers.multi_output_regressor,
    "TransformedTargetRegressor": wrappers.transformed_target,
    "BaseSearchCV": wrappers.search,
    "FrozenEstimator": wrappers.frozen,
    "BaseThresholdClassifier": wrappers.threshold_classifier,
}
_REFUSED: dict[str, str] = {
    "AdaBoostRegressor": "it predicts the weighted median of its trees, which does not add up over them",
    "AdaBoostClassifier": "it passes a weighted vote of its members through a softmax of its own",
    "StackingClassifier": "what its final estimator makes of its members is not followed",
    "MultiOutputClassifier": "it has the classes of several targets",
    "ClassifierChain": "each member sees the predictions of the one before",
    "RegressorChain": "each member sees the predictions of the one before",
    "OneVsRestClassifier": "it scales the probabilities of its members to a sum of one",
    "OneVsOneClassifier": "it counts the votes of its members",
}
_VERBS = ("predict", "predict_proba", "decision_function", "score_samples")


def convert(model: Any) -> TreeModel:
    """A scikit-learn model as trees, or `Unsupported` with the construct that stands in the way."""
    name = type(model).__name__
    for parent in type(model).__mro__:
        if not parent.__module__.startswith("sklearn."):
            continue
        if parent.__name__ in _REFUSED:
            raise Unsupported(f"{name} is not read as trees: {_REFUSED[parent.__name__]}")
        if parent.__name__ in _READERS:
            _refuse_own_verbs(model, parent)
            _refuse_unfitted(model)
            return _READERS[parent.__name__](model)
    raise NotTrees(f"{name} is not a tree model that the tree engine reads")


def _refuse_own_verbs(model: Any, parent: type) -> None:
    """A subclass from elsewhere that predicts in its own way (quantiles, say) is not its parent's sum."""
    for verb in _VERBS:
        owner = next((cls for cls in type(model).__mro__ if verb in vars(cls)), parent)
        if verb in vars(model) or not owner.__module__.startswith("sklearn."):
            raise Unsupported(
                f"{type(model).__name__} has a {verb} of its own: it is not read like the {parent.__name__} it derives"
                " from"
            )


def _refuse_unfitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise unfitted(type(model).__name__) from None
