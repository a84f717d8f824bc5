"""The one list of known kinds of model, most specific first.

A model is recognised by the modules its classes come from, so no library is imported to look.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pellucid.data.doorway import library_of
from pellucid.errors import InputError
from pellucid.models.adapter import Adapter

Test = Callable[[Any], bool]


def _from_library(name: str) -> Test:
    return lambda model: name in library_of(model)


def _is_onnx(model: Any) -> bool:
    if isinstance(model, str | Path):
        return str(model).endswith(".onnx")
    return bool(library_of(model) & {"onnxruntime", "onnx"})


def _is_estimator(model: Any) -> bool:
    return any(
        callable(getattr(model, verb, None)) for verb in ("predict", "predict_proba", "decision_function")
    )


# (test, module with `adapt(model) -> Adapter`)
KNOWN: tuple[tuple[Test, str], ...] = (
    (_is_onnx, "pellucid.models.onnx"),
    (_from_library("xgboost"), "pellucid.models.xgboost"),
    (_from_library("lightgbm"), "pellucid.models.lightgbm"),
    (_from_library("catboost"), "pellucid.models.catboost"),
    (_from_library("torch"), "pellucid.models.torch"),
    (_is_estimator, "pellucid.models.sklearn"),
    (callable, "pellucid.models.callable"),
)


def adapt(model: Any) -> Adapter:
    """The adapter of any model."""
    if isinstance(model, Adapter):
        return model
    if isinstance(model, type):
        raise InputError(
            f"model is the class {model.__name__}, not a fitted model; create it and call fit first."
        )
    for test, module in KNOWN:
        if test(model):
            adapter: Adapter = import_module(module).adapt(model)
            return adapter
    raise InputError(
        f"model is a {type(model).__name__}; give an estimator with predict or predict_proba, a booster, a torch module, an ONNX file or a function f(X) -> array."
    )
