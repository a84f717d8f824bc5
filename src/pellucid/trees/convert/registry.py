"""Which file reads which library's trees; no library is imported to look."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from pellucid.data.frames.doorway import library_of
from pellucid.errors import PellucidError
from pellucid.models.quiet import quietly
from pellucid.trees.convert.tree_model import NotTrees, TreeModel, Unsupported, stumbled

# (library, module with `convert(model) -> TreeModel`), most specific first
KNOWN: tuple[tuple[str, str], ...] = (
    ("xgboost", "pellucid.trees.convert.xgboost"),
    ("lightgbm", "pellucid.trees.convert.lightgbm"),
    ("catboost", "pellucid.trees.convert.catboost"),
    ("onnx", "pellucid.trees.convert.onnx"),
    ("onnxruntime", "pellucid.trees.convert.onnx"),
    ("pellucid", "pellucid.trees.convert.glassbox"),
    ("sklearn", "pellucid.trees.convert.sklearn"),
)

_BOOSTERS = ("xgboost", "lightgbm", "catboost")
_VERBS = ("predict", "predict_proba", "decision_function")


def convert(model: Any) -> TreeModel:
    """The model as trees; raises `Unsupported`, naming the reason, where it is none or not all trees."""
    libraries = {"onnx"} if _is_onnx_file(model) else library_of(model)
    for library, module in KNOWN:
        if library in libraries:
            if library in _BOOSTERS:
                _refuse_own_verbs(model)
            return _converted(model, library, module)
    raise NotTrees(f"{type(model).__name__} is not a tree model that the tree engine reads")


def _converted(model: Any, library: str, module: str) -> TreeModel:
    """A release that stores its models in another way makes a reader stumble: where, is all that is known then."""
    try:
        with quietly():
            converted: TreeModel = import_module(module).convert(model)
    except PellucidError:
        raise
    except Exception as error:
        release = getattr(sys.modules.get(library), "__version__", "")
        form = f"{library} {release} stores {type(model).__name__} in a form that is not known here"
        raise Unsupported(stumbled(form, error)) from error
    return converted


def _refuse_own_verbs(model: Any) -> None:
    """A model that predicts in a way of its own (a subclass, a replaced method) is not what its library's trees add up
    to.
    """
    for verb in _VERBS:
        owner = next((cls for cls in type(model).__mro__ if verb in vars(cls)), None)
        own = verb in getattr(model, "__dict__", ())
        if own or (owner is not None and owner.__module__.partition(".")[0] not in (*_BOOSTERS, "sklearn")):
            raise Unsupported(f"{type(model).__name__} has a {verb} of its own, which its trees know nothing of")


def _is_onnx_file(model: Any) -> bool:
    return isinstance(model, str | Path) and Path(model).suffix == ".onnx"
