"""The one list of known kinds of model, most specific first.

A model is recognised by the modules its classes come from, so no library is imported to look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from pellucid.data.frames.doorway import library_of
from pellucid.errors import InputError
from pellucid.models.adapter import Adapter
from pellucid.models.quiet import quietly
from pellucid.words import kind_of

Test = Callable[[Any], bool]


def _from_library(*names: str) -> Test:
    return lambda model: not library_of(model).isdisjoint(names)


def _is_file(model: Any) -> bool:
    return isinstance(model, str | Path)


def _is_estimator(model: Any) -> bool:
    return any(callable(getattr(model, verb, None)) for verb in ("predict", "predict_proba", "decision_function"))


# (test, module with `adapt(model) -> Adapter`)
KNOWN: tuple[tuple[Test, str], ...] = (
    (_is_file, "pellucid.models.files"),
    (_from_library("onnxruntime", "onnx"), "pellucid.models.onnx"),
    (_from_library("xgboost"), "pellucid.models.xgboost"),
    (_from_library("lightgbm"), "pellucid.models.lightgbm"),
    (_from_library("catboost", "_catboost"), "pellucid.models.catboost"),
    (_from_library("torch"), "pellucid.models.torch"),
    (_is_estimator, "pellucid.models.sklearn"),
    (callable, "pellucid.models.callable"),
)


def adapt(model: Any) -> Adapter:
    """The adapter of any model."""
    if isinstance(model, Adapter):
        return model
    if isinstance(model, type):
        raise InputError(f"model is the class {model.__name__}, not a fitted model; create it and call fit first.")
    for test, module in KNOWN:
        if test(model):
            with quietly():
                adapter: Adapter = import_module(module).adapt(model)
            return adapter if adapter.model is not None else replace(adapter, model=model)
    raise InputError(
        f"model is {kind_of(model)}; give a fitted estimator with predict or predict_proba, a booster, a torch"
        " module, an ONNX file or a function f(X) -> array."
    )
