"""The types that a skops file may hold besides those that skops itself trusts.

Fixed by hand: each is plain data, or a part of a known library whose state is numbers. A type that runs
something of the file's choice when it is built or asked does not belong here.
"""

from __future__ import annotations

import sys

_LOSSES = (
    "CyAbsoluteError",
    "CyExponentialLoss",
    "CyHalfBinomialLoss",
    "CyHalfGammaLoss",
    "CyHalfMultinomialLoss",
    "CyHalfPoissonLoss",
    "CyHalfSquaredError",
    "CyHalfTweedieLoss",
    "CyHalfTweedieLossIdentity",
    "CyHuberLoss",
    "CyPinballLoss",
)

_PREFIXED: dict[str, tuple[str, ...]] = {
    "collections": ("OrderedDict", "defaultdict"),
    "functools": ("partial",),  # what it calls is a type of its own, checked like every other
    "numpy": ("dtype",),
    "sklearn.utils.validation": ("check_array",),
    # As earlier versions of scikit-learn write them: a list of columns, and names of what fit is given.
    "sklearn.compose._column_transformer": ("_RemainderColsList",),
    "sklearn.utils._metadata_requests": ("MetadataRequest", "MethodMetadataRequest"),
    "sklearn.tree._tree": ("Tree",),
    "sklearn.ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
    "sklearn.ensemble._hist_gradient_boosting.predictor": ("TreePredictor",),
    "sklearn._loss.link": ("HalfLogitLink", "IdentityLink", "Interval", "LogLink", "LogitLink", "MultinomialLogit"),
    "sklearn._loss.loss": (
        "AbsoluteError",
        "ExponentialLoss",
        "HalfBinomialLoss",
        "HalfGammaLoss",
        "HalfMultinomialLoss",
        "HalfPoissonLoss",
        "HalfSquaredError",
        "HalfTweedieLoss",
        "HalfTweedieLossIdentity",
        "HuberLoss",
        "PinballLoss",
    ),
    "sklearn._loss._loss": _LOSSES,
    "sklearn.calibration": ("_CalibratedClassifier", "_SigmoidCalibration", "_TemperatureScaling"),
    "sklearn.metrics._scorer": ("_PassthroughScorer",),
    "sklearn.metrics._dist_metrics": ("EuclideanDistance64", "ManhattanDistance64", "MinkowskiDistance64"),
    "sklearn.neighbors._ball_tree": ("BallTree",),
    "sklearn.neighbors._kd_tree": ("KDTree",),
    "sklearn.model_selection._split": (
        "GroupKFold",
        "KFold",
        "RepeatedKFold",
        "RepeatedStratifiedKFold",
        "ShuffleSplit",
        "StratifiedKFold",
        "TimeSeriesSplit",
    ),
    "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "sklearn.gaussian_process.kernels": (
        "ConstantKernel",
        "DotProduct",
        "Matern",
        "Product",
        "RBF",
        "RationalQuadratic",
        "Sum",
        "WhiteKernel",
    ),
    "lightgbm.basic": ("Booster",),
    "lightgbm.sklearn": ("LGBMClassifier", "LGBMRegressor", "LGBMRanker"),
    "xgboost.core": ("Booster",),
    "xgboost.sklearn": ("XGBClassifier", "XGBRegressor", "XGBRanker", "XGBRFClassifier", "XGBRFRegressor"),
}

TRUSTED: frozenset[str] = frozenset(f"{module}.{name}" for module, names in _PREFIXED.items() for name in names)


def trusted_types() -> frozenset[str]:
    """The same, with the compiled losses under the short name that scikit-learn up to 1.8 gives them, where it is
    theirs.
    """
    from sklearn._loss import _loss

    short = {f"_loss.{name}" for name in _LOSSES} if sys.modules.get("_loss") is _loss else set()
    return TRUSTED | short
