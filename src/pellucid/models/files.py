"""Models from files. Only formats that hold data are opened; a file that runs code needs the user's trust.

The types that a skops file may hold besides those that skops itself trusts are fixed by hand: each is plain data, or a
part of a known library whose state is numbers. A type that runs something of the file's choice when it is built or
asked does not belong there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pellucid.errors import InputError, PellucidError, nearest, require
from pellucid.models import onnx
from pellucid.models.adapter import Adapter

_CODE = (".pkl", ".pickle", ".joblib")


def adapt(path: str | Path) -> Adapter:
    """A model given by the name of its file."""
    from pellucid.models.registry import adapt as adapt_any

    if Path(path).suffix.lower() == ".onnx":
        return onnx.adapt(path)
    return adapt_any(load_model(path))


def load_model(path: str | Path, *, trust: bool = False) -> Any:
    """The model in a file: skops, ONNX, XGBoost (json, ubj), LightGBM (txt) or CatBoost (cbm).

    A pickle or joblib file runs code when it is opened: it is refused unless ``trust=True``. An ONNX file
    is checked and given back as its path, which `Predictor` takes.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in _READERS and ending not in _CODE:
        known = nearest(ending, (*_READERS, *_CODE)) if ending else "; " + ", ".join(_READERS) + " are known."
        raise InputError(f"{str(path)!r} does not end like a model file{known}")
    if not path.is_file():
        raise InputError(f"there is no model file {str(path)!r}; check the path.")
    if ending in _CODE and not trust:
        raise InputError(
            f"{str(path)!r} runs code when it is opened; pass --trust (trust=True) if you trust its origin, or save the"
            " model with skops."
        )
    read, what = _READERS.get(ending, (_read_code, "pickled"))
    try:
        return read(path)
    except PellucidError:
        raise
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")[:200]
        raise InputError(
            f"{str(path)!r} is no {what} model that can be read ({type(error).__name__}: {first}); check that it is the"
            " file the model was saved to."
        ) from error


def _read_skops(path: Path) -> Any:
    skops = require("skops.io", extra="skops", purpose="a skops file")
    trusted = trusted_types()
    strangers = sorted(set(skops.get_untrusted_types(file=path)) - trusted)
    if strangers:
        raise InputError(
            f"{str(path)!r} holds the type {strangers[0]!r}, which pellucid does not open from a file; if you trust its"
            " origin, save the model with joblib and pass --trust (trust=True)."
        )
    return skops.load(path, trusted=sorted(trusted))


def _read_onnx(path: Path) -> Path:
    onnx.adapt(path)
    return path


def _read_xgboost(path: Path) -> Any:
    xgboost = require("xgboost", extra="xgboost", purpose="an XGBoost file")
    return xgboost.Booster(model_file=str(path))


def _read_lightgbm(path: Path) -> Any:
    lightgbm = require("lightgbm", extra="lightgbm", purpose="a LightGBM file")
    with path.open("rb") as file:
        if file.readline().strip() != b"tree":  # LightGBM would print to the terminal before it fails
            raise InputError(f"{str(path)!r} is no LightGBM model; save one with booster.save_model(path).")
    return lightgbm.Booster(model_file=str(path))


def _read_catboost(path: Path) -> Any:
    catboost = require("catboost", extra="catboost", purpose="a CatBoost file")
    return catboost.CatBoost().load_model(str(path))


def _read_code(path: Path) -> Any:
    """Only reached with the user's trust."""
    import joblib

    return joblib.load(path)


_READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    ".skops": (_read_skops, "skops"),
    ".onnx": (_read_onnx, "ONNX"),
    ".json": (_read_xgboost, "XGBoost"),
    ".ubj": (_read_xgboost, "XGBoost"),
    ".txt": (_read_lightgbm, "LightGBM"),
    ".cbm": (_read_catboost, "CatBoost"),
}


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
