"""ONNX: the tree operators, with the few operators around them that exporters write.

Scores follow onnxruntime, by which the model is asked; it departs from the specification in places that
are marked here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.frames.doorway import library_of
from pellucid.trees.convert.onnx_columns import Encoder, attributes, columns_of
from pellucid.trees.convert.onnx_nodes import Operator, operator, trees
from pellucid.trees.convert.tree_model import Link, TreeModel, Unsupported
from pellucid.trees.ensemble import TreeEnsemble

Scale = Literal["response", "probability", "log-odds", "score"]

_TREES = ("TreeEnsembleRegressor", "TreeEnsembleClassifier", "TreeEnsemble")
_ARITHMETIC = ("Add", "Sub", "Mul", "Div")
_LINKS = ("Sigmoid", "Softmax", "Exp", "Normalizer")
_PLAIN = ("Identity", "Cast", "ZipMap")


def convert(model: Any) -> TreeModel:
    """The trees of a file, an onnx ModelProto or an onnxruntime session that was opened from a file."""
    graph = _proto(model).graph
    node, following = _trees_behind(graph, _explained(graph))
    found = operator(node)
    columns = columns_of(graph, node.input[0])
    source = columns.source
    precision: Literal["float32", "float64"] = "float64" if columns.dtype == np.float64 else "float32"
    ensemble = trees(found, precision, None if source is None else len(source))
    scores = _classifier(found, ensemble) if found.classes is not None else _regressor(found, ensemble)
    for step in following:
        scores = _followed(graph, step, *scores)
    ensemble, link, scale = scores
    return TreeModel(
        ensemble=ensemble,
        encode=Encoder(columns, ensemble.n_features),
        source=np.arange(ensemble.n_features) if source is None else source,
        link=link,
        scale=scale,
    )


def _proto(model: Any) -> Any:
    try:
        import onnx
    except ImportError as error:
        raise Unsupported("an ONNX model, which is read with the package 'onnx' (pip install onnx)") from error

    if hasattr(model, "SerializeToString"):
        return model
    path = model
    if "onnxruntime" in library_of(model):
        path = getattr(model, "_model_path", None)
        if not path or not Path(path).is_file():
            raise Unsupported("an onnxruntime session that was not opened from a file")
    return onnx.load(str(path))


def _explained(graph: Any) -> str:
    """The output that is explained: the probabilities if the graph has them, else the first."""
    for entry in graph.output:
        is_map = entry.type.WhichOneof("value") in ("sequence_type", "map_type")
        if is_map or "prob" in entry.name.lower():
            return str(entry.name)
    return str(graph.output[0].name)


def _trees_behind(graph: Any, name: str) -> tuple[Any, list[Any]]:
    """The tree operator that an output comes from, and the operators between, first one first."""
    makers = {output: node for node in graph.node for output in node.output}
    constants = set(_constants(graph))
    steps: list[Any] = []
    while name in makers:
        node = makers[name]
        if node.op_type in _TREES:
            if node.op_type == "TreeEnsembleClassifier" and name == node.output[0]:
                raise Unsupported("an ONNX model whose output is the label, not a score")
            return node, steps[::-1]
        if node.op_type not in (*_PLAIN, *_ARITHMETIC, *_LINKS):
            raise Unsupported(f"ONNX operator {node.op_type} after the trees or in their place")
        varying = [entry for entry in node.input if entry not in constants]
        if len(varying) != 1:
            raise Unsupported(f"ONNX operator {node.op_type} of {len(varying)} computed values")
        steps.append(node)
        name = varying[0]
    raise Unsupported("an ONNX graph without trees")


def _constants(graph: Any) -> dict[str, FloatArray]:
    from onnx import numpy_helper

    found = {entry.name: entry for entry in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and "value" in attributes(node):
            found[node.output[0]] = attributes(node)["value"]
    return {name: numpy_helper.to_array(entry) for name, entry in found.items()}


# --------------------------------------------------------------------------------------------- scores

Scores = tuple[TreeEnsemble, Link, Scale]


def _regressor(found: Operator, ensemble: TreeEnsemble) -> Scores:
    ensemble = _based(ensemble, found.base)
    if found.post == "NONE":
        return ensemble, "identity", "response"
    if found.targets == 1:
        # onnxruntime transforms a single target by PROBIT only
        return (ensemble, "other", "score") if found.post == "PROBIT" else (ensemble, "identity", "response")
    return ensemble, *_transformed(found.post)


def _classifier(found: Operator, ensemble: TreeEnsemble) -> Scores:
    if found.classes == 1:
        raise Unsupported("ONNX TreeEnsembleClassifier with one label")
    if found.classes == 2:
        return _two_classes(found, ensemble)
    ensemble = _based(ensemble, found.base)
    return (
        (ensemble, "identity", _plain_scale(found)) if found.post == "NONE" else (ensemble, *_transformed(found.post))
    )


def _two_classes(found: Operator, ensemble: TreeEnsemble) -> Scores:
    """With weights for the first label only, these are the score of the second."""
    given = set(found.target.tolist())
    if given == {0} and len(found.base) < 2:
        return _one_score(found, _based(ensemble.select(np.array([0])), found.base))
    if len(found.base):
        raise Unsupported(f"ONNX TreeEnsembleClassifier of two labels with {len(found.base)} base_values")
    if given != {1} and not (_always(found, 0) and _always(found, 1)):
        # where a row gets no weight for a label, onnxruntime writes other scores
        raise Unsupported("ONNX TreeEnsembleClassifier of two labels with leaves for one label only")
    return (
        (ensemble, "identity", _plain_scale(found)) if found.post == "NONE" else (ensemble, *_transformed(found.post))
    )


def _one_score(found: Operator, ensemble: TreeEnsemble) -> Scores:
    if found.post == "LOGISTIC":
        return ensemble, "logistic", "log-odds"
    if found.post in ("PROBIT", "SOFTMAX_ZERO"):
        raise Unsupported(f"ONNX post_transform {found.post} of a single score")
    # onnxruntime passes over SOFTMAX; weights without a sign are those of a probability
    rest = 1.0 if (found.weight >= 0).all() else 0.0
    both = _multiplied(_wide(ensemble, 2), np.array([-1.0, 1.0]))
    both = replace(both, base=both.base + np.array([rest, 0.0]))
    return both, "identity", "probability" if rest else "score"


def _always(found: Operator, label: int) -> bool:
    """Whether some tree has a weight for the label at every leaf."""
    starts = np.append(found.roots, len(found.mode))
    has = np.zeros(len(found.mode), dtype=np.bool_)
    has[found.leaf[found.target == label]] = True
    without = (found.true < 0) & ~has
    return bool((np.add.reduceat(without, starts[:-1]) == 0).any())


def _plain_scale(found: Operator) -> Scale:
    return "probability" if ((found.weight >= 0) & (found.weight <= 1)).all() and not len(found.base) else "score"


def _transformed(post: str) -> tuple[Link, Scale]:
    links: dict[str, tuple[Link, Scale]] = {"SOFTMAX": ("softmax", "score"), "LOGISTIC": ("one-vs-rest", "log-odds")}
    return links.get(post, ("other", "score"))


def _based(ensemble: TreeEnsemble, base: FloatArray) -> TreeEnsemble:
    if len(base) not in (0, ensemble.n_outputs):
        raise Unsupported(f"ONNX base_values of {len(base)} numbers for {ensemble.n_outputs} outputs")
    return replace(ensemble, base=ensemble.base + base) if len(base) else ensemble


# ------------------------------------------------------------------------------- operators after the trees


def _followed(graph: Any, node: Any, ensemble: TreeEnsemble, link: Link, scale: Scale) -> Scores:
    """The scores after one more operator."""
    if node.op_type in _PLAIN:
        return _plain(node, ensemble, link, scale)
    if link != "identity":
        raise Unsupported(f"ONNX operator {node.op_type} after the scores are transformed")
    if node.op_type in _ARITHMETIC:
        return _arithmetic(graph, node, ensemble), link, scale
    if node.op_type == "Sigmoid":
        return ensemble, "logistic" if ensemble.n_outputs == 1 else "one-vs-rest", "log-odds"
    if node.op_type == "Softmax" and attributes(node).get("axis", 1) in (1, -1):
        return ensemble, "softmax", "score"
    if node.op_type == "Exp":
        return ensemble, "exp", "score"
    if node.op_type == "Normalizer":
        return ensemble, "other", "score"
    raise Unsupported(f"ONNX operator {node.op_type} along the rows")


def _plain(node: Any, ensemble: TreeEnsemble, link: Link, scale: Scale) -> Scores:
    from onnx import TensorProto

    if node.op_type == "Cast" and attributes(node)["to"] not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        raise Unsupported("ONNX Cast of the scores to whole numbers")
    return ensemble, link, scale


def _arithmetic(graph: Any, node: Any, ensemble: TreeEnsemble) -> TreeEnsemble:
    constants = _constants(graph)
    first = node.input[0] in constants
    number = constants[node.input[0 if first else 1]].astype(np.float64).ravel()
    if len(number) not in (1, ensemble.n_outputs):
        raise Unsupported(f"ONNX operator {node.op_type} with {len(number)} numbers after the trees")
    if node.op_type in ("Mul", "Div"):
        if node.op_type == "Div" and first:
            raise Unsupported("ONNX operator Div by the sum of the trees")
        return _multiplied(ensemble, 1 / number if node.op_type == "Div" else number)
    if node.op_type == "Sub" and first:
        ensemble = ensemble.scaled(-1.0)
    sign = -1.0 if node.op_type == "Sub" and not first else 1.0
    return replace(ensemble, base=ensemble.base + sign * number)


def _multiplied(ensemble: TreeEnsemble, factor: FloatArray) -> TreeEnsemble:
    """The ensemble with every output times its own number, or all times one."""
    if len(factor) == 1:
        return ensemble.scaled(float(factor[0]))
    ensemble = _wide(ensemble, len(factor))
    value = ensemble.nodes.value * factor
    return replace(ensemble, nodes=replace(ensemble.nodes, value=value), base=ensemble.base * factor)


def _wide(ensemble: TreeEnsemble, width: int) -> TreeEnsemble:
    """Leaves that hold a number for every output; a single output is repeated."""
    if ensemble.width == width:
        return ensemble
    ends = np.append(ensemble.roots[1:], len(ensemble.nodes.feature))
    output = np.repeat(ensemble.output, ends - ensemble.roots)
    mine = (output[:, None] == np.arange(width)) | (ensemble.n_outputs == 1)
    return replace(
        ensemble,
        nodes=replace(ensemble.nodes, value=ensemble.nodes.value * mine),
        output=np.zeros_like(ensemble.roots),
        base=np.broadcast_to(ensemble.base, (width,)),
    )
