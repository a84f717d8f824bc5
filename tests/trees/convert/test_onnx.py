"""ONNX tree operators: the trees answer as onnxruntime does, for every mode and version of the operators."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pellucid.errors import InputError
from pellucid.trees.convert import onnx_nodes
from pellucid.trees.convert.onnx import convert
from pellucid.trees.convert.tree_model import Unsupported

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402  after the skip

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def asked(model, feed, output=-1):
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    if not isinstance(feed, dict):
        feed = {session.get_inputs()[0].name: feed}
    answer = session.run(None, feed)[output]
    return np.array([list(row.values()) for row in answer]) if isinstance(answer, list) else answer


def linked(tree_model, raw):
    """Predictions from raw scores, with both columns of a logistic."""
    if tree_model.link == "logistic":
        p = 1 / (1 + np.exp(-raw))
        return np.hstack([1 - p, p])
    if tree_model.link == "one-vs-rest":
        return 1 / (1 + np.exp(-raw))
    if tree_model.link == "softmax":
        e = np.exp(raw - raw.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    assert tree_model.link in ("identity", "exp")
    return np.exp(raw) if tree_model.link == "exp" else raw


def agrees(model, X, tolerance=1e-5):
    tree_model = convert(model)
    before = X.copy()
    raw = tree_model.ensemble.predict(tree_model.encode(X))
    np.testing.assert_array_equal(before, X)
    expected = asked(model, X)
    np.testing.assert_allclose(linked(tree_model, raw), expected.reshape(len(X), -1), rtol=tolerance, atol=tolerance)
    return tree_model


def hard_rows(X, thresholds, dtype=np.float32):
    """Rows on, just below and just above every threshold, and missing and infinite ones."""
    t = np.asarray(thresholds, dtype=dtype)
    values = np.concatenate(
        [t, np.nextafter(t, dtype(-np.inf)), np.nextafter(t, dtype(np.inf)), [np.nan, np.inf, -np.inf]]
    ).astype(dtype)
    rows = np.resize(X.astype(dtype), (len(values) * X.shape[1], X.shape[1])).copy()
    for j in range(X.shape[1]):
        rows[j * len(values) : (j + 1) * len(values), j] = values
    return rows


# ---------------------------------------------------------------------------------- graphs by hand


def a_tree(rng, modes, depth=4, features=3):
    """A full tree in random modes over small whole thresholds: (mode, feature, value, true, false) or None."""
    inner = 2**depth - 1
    nodes = []
    for k in range(2 * inner + 1):
        if k < inner:
            mode = modes[rng.integers(len(modes))]
            nodes.append((mode, int(rng.integers(features)), float(rng.integers(-2, 4)), 2 * k + 1, 2 * k + 2))
        else:
            nodes.append(None)
    return nodes


def lists(trees, rng, targets=1, weight=None, tensor=False, tracks=True, kind="target"):
    """The attributes of operators of versions 1 to 3."""
    out = {
        key: []
        for key in [
            "nodes_treeids",
            "nodes_nodeids",
            "nodes_featureids",
            "nodes_modes",
            "nodes_values",
            "nodes_truenodeids",
            "nodes_falsenodeids",
            "nodes_missing_value_tracks_true",
        ]
    }
    out |= {f"{kind}_{part}": [] for part in ("treeids", "nodeids", "ids", "weights")}
    for t, tree in enumerate(trees):
        for k, node in enumerate(tree):
            mode, feature, value, true, false = node or ("LEAF", 0, 0.0, 0, 0)
            for key, item in (
                ("nodes_treeids", t),
                ("nodes_nodeids", k),
                ("nodes_featureids", feature),
                ("nodes_modes", mode),
                ("nodes_values", value),
                ("nodes_truenodeids", true),
                ("nodes_falsenodeids", false),
                ("nodes_missing_value_tracks_true", int(rng.integers(2)) if node and tracks else 0),
            ):
                out[key].append(item)
            for target in range(targets) if node is None else ():
                out[f"{kind}_treeids"].append(t)
                out[f"{kind}_nodeids"].append(k)
                out[f"{kind}_ids"].append(target)
                out[f"{kind}_weights"].append(float(weight() if weight else rng.normal()))
    if tensor:
        for key in ("nodes_values", f"{kind}_weights"):
            out[f"{key}_as_tensor"] = numpy_helper.from_array(np.array(out.pop(key)), key)
    return out


def model_of(nodes, version, columns=3, element=FLOAT, inputs=None, output=("Y",), initializer=()):
    inputs = inputs or [helper.make_tensor_value_info("X", element, [None, columns])]
    outputs = [
        helper.make_tensor_value_info(name, INT64 if name == "label" else kind, [None] * (1 + (name != "label")))
        for name, kind in ((o if isinstance(o, tuple) else (o, FLOAT)) for o in output)
    ]
    graph = helper.make_graph(nodes, "trees", inputs, outputs, list(initializer))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def regressor(version=3, element=FLOAT, input_name="X", output_name="Y", post="NONE", **given):
    return helper.make_node(
        "TreeEnsembleRegressor", [input_name], [output_name], domain="ai.onnx.ml", post_transform=post, **given
    )


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def X(rng):
    rows = rng.normal(scale=2, size=(150, 3))
    whole = rng.random(rows.shape) < 0.5
    rows[whole] = np.round(rows[whole])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return hard_rows(rows.astype(np.float32), [-2, -1, 0, 1, 2, 3]).astype(np.float32)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("modes", [(m,) for m in MODES] + [MODES])
def test_every_mode_of_the_regressor(rng, X, version, modes):
    given = lists([a_tree(rng, modes) for _ in range(5)], rng)
    model = model_of([regressor(n_targets=1, base_values=[0.5], **given)], version)
    tree_model = agrees(model, X)
    assert np.isnan(tree_model.ensemble.nodes.cover).all()
    assert (tree_model.link, tree_model.scale) == ("identity", "response")
    nodes = tree_model.ensemble.nodes
    inner = nodes.feature >= 0
    assert (nodes.left[inner] > np.flatnonzero(inner)).all()
    assert (nodes.right[inner] > np.flatnonzero(inner)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("value", [-np.inf, np.inf, -3.4028234663852886e38, 3.4028234663852886e38, -0.0])
def test_thresholds_at_the_ends_of_the_numbers(rng, mode, value):
    given = lists([[(mode, 0, value, 1, 2), None, None]], rng, tracks=False)
    X = np.array([[-np.inf], [np.inf], [np.nan], [-3.4028234663852886e38], [3.4028234663852886e38], [0.0], [-1.0]])
    agrees(model_of([regressor(n_targets=1, **given)], 3, columns=1), X.astype(np.float32))


def test_doubles_are_compared_as_doubles(rng):
    given = lists([a_tree(rng, MODES) for _ in range(4)], rng, tensor=True)
    X = hard_rows(rng.normal(scale=2, size=(100, 3)), [-2, -1, 0, 1, 2, 3], np.float64)
    model = model_of([regressor(n_targets=1, **given)], 3, element=DOUBLE)
    agrees(model, X)


def test_singles_are_compared_after_rounding(rng):
    given = lists([a_tree(rng, ("BRANCH_LEQ", "BRANCH_LT"))], rng)
    model = model_of([regressor(n_targets=1, **given)], 3)
    X = hard_rows(rng.normal(size=(60, 3)), [-2, -1, 0, 1, 2, 3], np.float64)
    tree_model = convert(model)
    expected = asked(model, X.astype(np.float32))
    np.testing.assert_allclose(tree_model.ensemble.predict(tree_model.encode(X)), expected, rtol=1e-5)


def test_whole_number_inputs(rng):
    given = lists([a_tree(rng, MODES)], rng)
    cast = helper.make_node("Cast", ["X"], ["x"], to=FLOAT)
    model = model_of([cast, regressor(n_targets=1, input_name="x", **given)], 3, element=INT64)
    agrees(model, rng.integers(-4, 5, size=(80, 3)))
    with pytest.raises(InputError, match="cannot be missing"):
        convert(model).encode(np.full((2, 3), np.nan))


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE"])
@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_targets_aggregates_and_transforms(rng, X, targets, aggregate, post):
    given = lists([a_tree(rng, MODES[:4]) for _ in range(4)], rng, targets=targets)
    node = regressor(n_targets=targets, aggregate_function=aggregate, post=post, base_values=[0.5] * targets, **given)
    agrees(model_of([node], 3), X)


def test_trees_that_serve_one_target_each_have_leaves_of_one_number(rng, X):
    given = lists([a_tree(rng, MODES[:4]) for _ in range(6)], rng)
    given["target_ids"] = [t % 3 for t in given["target_treeids"]]
    tree_model = agrees(model_of([regressor(n_targets=3, **given)], 3), X)
    assert tree_model.ensemble.width == 1
    assert tree_model.ensemble.output.tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("sign", [-1.0, 0.0])
def test_classifiers_with_a_weight_per_label(rng, X, post, labels, sign):
    given = lists([a_tree(rng, MODES[:4])] * 3, rng, labels, lambda: rng.uniform(sign, 1), kind="class")
    node = helper.make_node(
        "TreeEnsembleClassifier",
        ["X"],
        ["label", "Y"],
        domain="ai.onnx.ml",
        post_transform=post,
        classlabels_int64s=list(range(labels)),
        **({"base_values": [0.1, 0.2, 0.3]} if labels == 3 else {}),
        **given,
    )
    agrees(probabilities(node), X)


def probabilities(node):
    """A graph that gives the scores of a classifier under a name that says what they are."""
    renamed = helper.make_node("Identity", [node.output[1]], ["probabilities"])
    return model_of([node, renamed], 3, output=("label", "probabilities"))


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("sign", [-1.0, 0.0])
@pytest.mark.parametrize("base", [(), (0.25,)])
def test_two_labels_with_one_weight(rng, X, post, label, sign, base):
    given = lists([a_tree(rng, MODES[:4])] * 3, rng, 1, lambda: rng.uniform(sign, 0.3), kind="class")
    given["class_ids"] = [label] * len(given["class_ids"])
    node = helper.make_node(
        "TreeEnsembleClassifier",
        ["X"],
        ["label", "Y"],
        domain="ai.onnx.ml",
        post_transform=post,
        classlabels_strings=["no", "yes"],
        **({"base_values": list(base)} if base else {}),
        **given,
    )
    model = probabilities(node)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.STRING
    if label == 1 and base:
        with pytest.raises(Unsupported, match="two labels with 1 base_values"):
            convert(model)
    else:
        agrees(model, X)


# ------------------------------------------------------------------------------------- version 5


def arrays(rng, dtype=np.float32, targets=2, modes=range(7), sets=((0, 2, 3), (1, 1.5, 2))):
    """Two trees of depth 2 for the operator TreeEnsemble, with a root that is a leaf at the end."""
    modes = [int(rng.choice(list(modes))) for _ in range(6)]
    members = []
    for k in range(modes.count(6)):
        members += [*sets[k % len(sets)], np.nan]
    inner = {"truenodeids": [], "falsenodeids": [], "trueleafs": [], "falseleafs": []}
    for tree in range(2):
        first = 3 * tree
        inner["truenodeids"] += [first + 1, 4 * tree, 4 * tree + 2]
        inner["falsenodeids"] += [first + 2, 4 * tree + 1, 4 * tree + 3]
        inner["trueleafs"] += [0, 1, 1]
        inner["falseleafs"] += [0, 1, 1]
    inner["truenodeids"].append(8)
    inner["falsenodeids"].append(8)
    inner["trueleafs"].append(1)
    inner["falseleafs"].append(1)
    return {
        "n_targets": targets,
        "nodes_featureids": [*rng.integers(0, 3, 6).tolist(), 0],
        "nodes_missing_value_tracks_true": [*rng.integers(0, 2, 6).tolist(), 0],
        "nodes_modes": numpy_helper.from_array(np.array([*modes, 0], np.uint8)),
        "nodes_splits": numpy_helper.from_array(np.array([*rng.integers(-2, 4, 6), 0], dtype)),
        "membership_values": numpy_helper.from_array(np.array(members[:-1], dtype)),
        "leaf_targetids": rng.integers(0, targets, 9).tolist(),
        "leaf_weights": numpy_helper.from_array(rng.normal(size=9).astype(dtype)),
        "tree_roots": [0, 3, 6],
        **{f"nodes_{key}": value for key, value in inner.items()},
    }


def ensemble5(given, element=FLOAT, **more):
    if not numpy_helper.to_array(given["membership_values"]).size:
        given = {key: value for key, value in given.items() if key != "membership_values"}
    node = helper.make_node("TreeEnsemble", ["X"], ["Y"], domain="ai.onnx.ml", **given, **more)
    return model_of([node], 5, element=element, output=[("Y", element)])


@pytest.mark.parametrize("seed", range(12))
def test_version_five(seed, X):
    rng = np.random.default_rng(seed)
    dtype, element = ((np.float32, FLOAT), (np.float64, DOUBLE))[seed % 2]
    model = ensemble5(arrays(rng, dtype, modes=range(6)), element, aggregate_function=(seed // 2) % 2)
    agrees(model, X.astype(dtype))


@pytest.mark.parametrize("post", [1, 2])
def test_version_five_keeps_raw_scores_where_the_transform_is_not_sure(rng, X, post):
    given = arrays(rng, modes=range(6))
    tree_model = convert(ensemble5(given, post_transform=post))
    assert (tree_model.link, tree_model.scale) == ("other", "score")
    expected = asked(ensemble5(given), X)
    np.testing.assert_allclose(tree_model.ensemble.predict(tree_model.encode(X)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sets", [((5, 40, 41, 70),), ((-3, 0, 2),), ((1.5, 2), (-1, 1)), ((0, 1, 30), (31,))])
@pytest.mark.parametrize("seed", range(3))
def test_membership(seed, X, sets):
    rng = np.random.default_rng(seed)
    X = np.vstack([X, rng.choice([5, 40, 41, 70.5, 70, 1.5, -1, 1, 0, 2, 2.5, -3], size=(100, 3))])
    model = ensemble5(arrays(rng, modes=[0, 3, 6], sets=sets))
    agrees(model, X.astype(np.float32))


def test_equality_that_needs_too_many_nodes_is_refused(rng):
    given = lists([a_tree(rng, ("BRANCH_EQ",), depth=5)], rng)
    found = onnx_nodes.operator(regressor(n_targets=1, **given))
    assert len(onnx_nodes.trees(found, "single", 3).nodes.feature) > 100
    with pytest.raises(Unsupported, match=r"BRANCH_EQ.* more than 100 nodes"):
        onnx_nodes.trees(found, "single", 3, most_nodes=100)


def test_hit_rates_that_add_up_are_the_cover(rng, X):
    given = lists([a_tree(rng, MODES[:4], depth=2)] * 2, rng)
    hits = [10, 6, 4, 5, 1, 2, 2]
    right = model_of([regressor(n_targets=1, nodes_hitrates=[float(h) for h in hits * 2], **given)], 3)
    tree_model = agrees(right, X)
    nodes = tree_model.ensemble.nodes
    inner = nodes.feature >= 0
    np.testing.assert_allclose(nodes.cover[inner], nodes.cover[nodes.left[inner]] + nodes.cover[nodes.right[inner]])
    np.testing.assert_allclose(nodes.cover[tree_model.ensemble.roots], 10)
    ones = model_of([regressor(n_targets=1, nodes_hitrates=[1.0] * 14, **given)], 3)
    assert np.isnan(convert(ones).ensemble.nodes.cover).all()


# ----------------------------------------------------------------------------------- around the trees


def test_columns_that_are_joined_scaled_and_filled(rng, X):
    given = lists([a_tree(rng, MODES[:4]) for _ in range(4)], rng)
    inputs = [
        helper.make_tensor_value_info(name, kind, [None, 1])
        for name, kind in (("a", FLOAT), ("unused", FLOAT), ("b", DOUBLE), ("c", FLOAT))
    ]
    nodes = [
        helper.make_node("Cast", ["b"], ["b32"], to=FLOAT),
        helper.make_node("Concat", ["c", "a", "b32"], ["joined"], axis=1),
        helper.make_node("Imputer", ["joined"], ["filled"], domain="ai.onnx.ml",
                         imputed_value_floats=[0.5, -1.0, 2.0], replaced_value_float=float("nan")),
        helper.make_node("Scaler", ["filled"], ["scaled"], domain="ai.onnx.ml",
                         offset=[0.1, 0.2, 0.3], scale=[1.5, 0.7, 1.1]),
        helper.make_node("Identity", ["scaled"], ["same"]),
        regressor(n_targets=1, input_name="same", **given),
    ]  # fmt: skip
    model = model_of(nodes, 3, inputs=inputs)
    tree_model = convert(model)
    assert tree_model.source.tolist() == [3, 0, 2]
    table = np.column_stack([X[:, 0], X[:, 0], X[:, 1], X[:, 2]]).astype(np.float64)
    feed = {"a": X[:, [0]], "unused": X[:, [0]], "b": X[:, [1]].astype(np.float64), "c": X[:, [2]]}
    expected = asked(model, feed)
    np.testing.assert_allclose(tree_model.ensemble.predict(tree_model.encode(table)), expected, rtol=1e-5)
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(tree_model.encode(pandas.DataFrame(table)), tree_model.encode(table))


def test_arithmetic_after_the_trees(rng, X):
    given = lists([a_tree(rng, MODES[:4]) for _ in range(6)], rng)
    given["target_ids"] = [t % 3 for t in given["target_treeids"]]
    numbers = {"by": [2.0, 3.0, -1.0], "plus": [0.5], "from": [1.0, 2.0, 3.0], "over": [4.0], "less": [0.25]}
    constants = [numpy_helper.from_array(np.array(v, np.float32), k) for k, v in numbers.items()]
    nodes = [
        regressor(n_targets=3, output_name="y0", base_values=[1.0, 2.0, 3.0], **given),
        helper.make_node("Mul", ["y0", "by"], ["y1"]),
        helper.make_node("Add", ["plus", "y1"], ["y2"]),
        helper.make_node("Sub", ["from", "y2"], ["y3"]),
        helper.make_node("Div", ["y3", "over"], ["y4"]),
        helper.make_node("Sub", ["y4", "less"], ["Y"]),
    ]
    agrees(model_of(nodes, 3, initializer=constants), X)
    nodes[-1].output[0] = "y5"
    agrees(model_of([*nodes, helper.make_node("Softmax", ["y5"], ["Y"])], 3, initializer=constants), X)
    agrees(model_of([*nodes, helper.make_node("Sigmoid", ["y5"], ["Y"])], 3, initializer=constants), X)
    agrees(model_of([*nodes, helper.make_node("Exp", ["y5"], ["Y"])], 3, initializer=constants), X)


def refusals(rng):
    given = lists([a_tree(rng, MODES[:1])], rng)
    yield "MIN", model_of([regressor(n_targets=1, aggregate_function="MIN", **given)], 3)
    yield (
        "Abs before",
        model_of([helper.make_node("Abs", ["X"], ["x"]), regressor(n_targets=1, input_name="x", **given)], 3),
    )
    yield (
        "Relu after",
        model_of([regressor(n_targets=1, output_name="y", **given), helper.make_node("Relu", ["y"], ["Y"])], 3),
    )
    yield "Relu after", model_of([helper.make_node("Relu", ["X"], ["Y"])], 3)
    two = [regressor(n_targets=1, output_name=n, **given) for n in ("y1", "y2")]
    yield "Add of 2 computed", model_of([*two, helper.make_node("Add", ["y1", "y2"], ["Y"])], 3)
    strings = helper.make_tensor_value_info("X", TensorProto.STRING, [None, 3])
    yield "of type string", model_of([regressor(n_targets=1, **given)], 3, inputs=[strings])
    yield (
        "mode BRANCH_ODD",
        model_of(
            [
                regressor(
                    n_targets=1,
                    **given | {"nodes_modes": ["BRANCH_ODD" if m != "LEAF" else m for m in given["nodes_modes"]]},
                )
            ],
            3,
        ),
    )
    yield "names a node", model_of([regressor(n_targets=1, **given | {"nodes_truenodeids": [99] * 31})], 3)
    yield "without trees", model_of([helper.make_node("Identity", ["X"], ["Y"])], 3)
    labels = {"classlabels_int64s": [0, 1], **lists([a_tree(rng, MODES[:1])], rng, 2, kind="class")}
    classifier = helper.make_node("TreeEnsembleClassifier", ["X"], ["label", "y"], domain="ai.onnx.ml", **labels)
    yield "the label", model_of([classifier], 3, output=("label",))
    classifier = helper.make_node(
        "TreeEnsembleClassifier", ["X"], ["label", "y"], domain="ai.onnx.ml", base_values=[0.1, 0.2], **labels
    )
    yield "two labels with 2 base_values", probabilities(classifier)


def test_what_is_not_read_is_refused_by_name(rng):
    for message, model in refusals(rng):
        with pytest.raises(Unsupported, match=message):
            convert(model)


def test_files_and_sessions(rng, X, tmp_path):
    model = model_of([regressor(n_targets=1, **lists([a_tree(rng, MODES[:1])], rng))], 3)
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    expected = convert(model).ensemble.predict(X)
    for form in (path, str(path), session):
        np.testing.assert_array_equal(convert(form).ensemble.predict(X), expected)
    nameless = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with pytest.raises(Unsupported, match="not opened from a file"):
        convert(nameless)


def test_without_the_package_the_refusal_names_it(monkeypatch, rng):
    model = model_of([regressor(n_targets=1, **lists([a_tree(rng, MODES[:1])], rng))], 3)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(Unsupported, match="package 'onnx'"):
        convert(model)


# ----------------------------------------------------------------------------------------- exporters

EXPORTED = [
    (DecisionTreeRegressor, "number"),
    (DecisionTreeRegressor, "two numbers"),
    (DecisionTreeClassifier, "two"),
    (DecisionTreeClassifier, "three"),
    (RandomForestRegressor, "number"),
    (RandomForestRegressor, "two numbers"),
    (RandomForestClassifier, "two"),
    (RandomForestClassifier, "three"),
    (ExtraTreesRegressor, "number"),
    (ExtraTreesClassifier, "three"),
    (GradientBoostingRegressor, "number"),
    (GradientBoostingClassifier, "two"),
    (GradientBoostingClassifier, "three"),
    (HistGradientBoostingRegressor, "number"),
    (HistGradientBoostingClassifier, "two"),
    (HistGradientBoostingClassifier, "three"),
]
LINKS = {
    ("GradientBoostingClassifier", "two"): "logistic",
    ("HistGradientBoostingClassifier", "two"): "logistic",
    ("GradientBoostingClassifier", "three"): "softmax",
    ("HistGradientBoostingClassifier", "three"): "softmax",
}


@pytest.fixture
def skl2onnx(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = pytest.importorskip("skl2onnx")
        from skl2onnx.common import _container

    def whole(attribute):
        is_list = isinstance(attribute, list)
        return [int(v) if isinstance(v, bool | np.bool_) else v for v in attribute] if is_list else attribute

    # newer onnx takes no truth values where whole numbers are meant, as the exporter still gives them
    make = _container.make_node
    monkeypatch.setattr(
        _container, "make_node", lambda *a, **k: make(*a, **{key: whole(value) for key, value in k.items()})
    )
    return package


@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize(("kind", "task"), EXPORTED, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_exported_from_scikit_learn(rng, skl2onnx, kind, task, zipmap):
    X = rng.normal(size=(300, 4)).astype(np.float32)
    X[::3] = X[::3].round()
    y = {
        "number": X[:, 0] * X[:, 1],
        "two numbers": X[:, :2],
        "two": (X[:, 0] > 0).astype(int),
        "three": np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5]),
    }[task]
    size = {"n_estimators": 7} if "n_estimators" in kind().get_params() else {}
    size |= {"max_iter": 5} if "max_iter" in kind().get_params() else {"max_depth": 4}
    model = kind(random_state=0, **size).fit(X, y)
    options = {} if task in ("number", "two numbers") or zipmap else {"options": {id(model): {"zipmap": False}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = skl2onnx.to_onnx(model, X[:1], **options)
    tree_model = convert(exported)
    nodes = tree_model.ensemble.nodes
    rows = hard_rows(X, np.unique(nodes.threshold[nodes.feature >= 0].astype(np.float32))[:40])
    if kind not in (HistGradientBoostingClassifier, HistGradientBoostingRegressor):
        rows = rows[np.isfinite(rows).all(axis=1)]
    agrees(exported, rows)
    assert tree_model.link == LINKS.get((kind.__name__, task), "identity")
    assert np.isnan(nodes.cover).all()
