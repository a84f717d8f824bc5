"""Which file reads which library's trees; no library is imported to look."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pellucid.data.doorway import library_of
from pellucid.trees.convert.tree_model import TreeModel, Unsupported

# (library, module with `convert(model) -> TreeModel`), most specific first
KNOWN: tuple[tuple[str, str], ...] = (
    ("xgboost", "pellucid.trees.convert.xgboost"),
    ("lightgbm", "pellucid.trees.convert.lightgbm"),
    ("catboost", "pellucid.trees.convert.catboost"),
    ("onnx", "pellucid.trees.convert.onnx"),
    ("onnxruntime", "pellucid.trees.convert.onnx"),
    ("sklearn", "pellucid.trees.convert.sklearn"),
)


def convert(model: Any) -> TreeModel:
    """The model as trees; raises `Unsupported`, naming the reason, where it is none or not all trees."""
    libraries = library_of(model)
    for library, module in KNOWN:
        if library in libraries:
            converted: TreeModel = import_module(module).convert(model)
            return converted
    raise Unsupported(f"{type(model).__name__} is not a tree model that the tree engine reads")
