"""Every public option: a wrong value ends in an `InputError` that names it, a numpy scalar is the number it holds."""

import inspect
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import pytest

import pellucid
from pellucid import Explainer, ImageExplainer, InputError, TextExplainer

# -- kinds of options --------------------------------------------------------------------------------------

NO_NUMBER = [True, np.True_, "3", [3], np.array([3, 4]), float("nan"), float("inf"), object()]


@dataclass(frozen=True)
class Option:
    """A value that works, others that mean the same, and values that must be refused."""

    good: Any
    same: list[Any]
    wrong: list[Any]
    given: dict[str, Any] = field(default_factory=dict)  # what must be given with it

    def along(self, **given: Any) -> "Option":
        """The same option, given with others."""
        return Option(self.good, self.same, self.wrong, given)


def whole(good: int, least: int = 1, *, none: bool = False, also: tuple[type, ...] = ()) -> Option:
    """A whole number of at least ``least``; values of a type in ``also`` mean something else."""
    same = [float(good), np.int64(good), np.uint16(good), np.float32(good), np.float64(good)]
    wrong = [least - 1, -3, good + 0.5, np.float64(good + 0.5), *NO_NUMBER, *([] if none else [None])]
    return Option(good, same, [value for value in wrong if not isinstance(value, also)])


def positive(good: float, *, none: bool = False) -> Option:
    """A number above zero."""
    wrong = [0, 0.0, -1, np.float32(-2), *NO_NUMBER, *([] if none else [None])]
    return Option(good, [np.float64(good)], wrong)


def fraction(good: float = 0.5, *, one: bool = False, zero: bool = False, none: bool = False) -> Option:
    """A number between 0 and 1; the ends where they are told."""
    ends = [*([] if zero else [0, np.int8(0)]), *([] if one else [1, 1.0])]
    return Option(good, [np.float64(good), np.float32(good)], [*ends, -0.5, 2, *NO_NUMBER, *([] if none else [None])])


def flag(good: bool = True) -> Option:
    """True or False."""
    return Option(good, [np.bool_(good)], [1, 0.0, "yes", [True], np.array([True, False]), object()])


def word(good: str, *, none: bool = False, also: tuple[type, ...] = ()) -> Option:
    """One of some words."""
    wrong = ["nonsense", "", 3, True, [good], np.array([good, good]), object(), *([] if none else [None])]
    return Option(good, [np.str_(good)], [value for value in wrong if not isinstance(value, also)])


# -- what is asked -----------------------------------------------------------------------------------------


def f(X: Any) -> Any:
    """A model of three features."""
    return X[:, 0] * 2 + X[:, 1] * X[:, 2]


@cache
def table() -> Any:
    """Some rows and their outcome."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    return X, f(X) + np.tanh(X[:, 0])


@cache
def explainer() -> Explainer:
    """Of the function."""
    return Explainer(f, *table(), checks=False, progress=False)


def texts(given: list[str]) -> list[float]:
    """A model of texts."""
    return [float("free" in text) + 0.5 * text.count("!") for text in given]


def images(given: Any) -> Any:
    """A model of images."""
    return np.asarray(given, dtype=float)[:, :4, :4].mean(axis=(1, 2))


def refitted(X: Any, y: Any) -> Any:
    """Least squares."""
    weights = np.linalg.lstsq(np.asarray(X), np.asarray(y), rcond=None)[0]
    return lambda Z: np.asarray(Z) @ weights


def text_explainer(**options: Any) -> TextExplainer:
    """Of the model of texts."""
    return TextExplainer(texts, **{"checks": False, "progress": False, **options})


def image_explainer(**options: Any) -> ImageExplainer:
    """Of the model of images."""
    return ImageExplainer(images, **{"segmenter": "grid", "segments": 4, "checks": False, "progress": False, **options})


IMAGE = np.random.default_rng(0).random((8, 8))
IMAGES = [IMAGE + 0.1 * k for k in range(6)]
TEXT = "free money now! call me"
TEXTS = [TEXT, "free call now", "call me, please", "a song I love", "my song", "money and songs"]
ONE = np.random.default_rng(1).normal(size=(20, 3))
MAKING = {
    "link": word("identity"),
    "random_state": whole(3, 0),
    "n_jobs": Option(1, [1.0, np.int64(1)], [0, 1.5, True, "two", [1], object()]),
    "progress": Option(False, [np.False_], [1, "yes", [True]]),
    "checks": flag(False),
}
EFFORT = {
    "method": word("exact"),
    "budget": whole(5000, none=True),
    "tolerance": positive(0.5, none=True),
    "interactions": Option("taylor", [np.str_("taylor")], [1, 0.0, "yes", "", [True], object()]),
}
LIME = {
    "features": whole(2),
    "samples": whole(200, 100, none=True, also=(list, np.ndarray)),
    "sampler": word("data"),
    "distance": word("euclidean"),
    "width": Option(0.5, [np.float64(0.5), np.float32(0.5)], [0, -1, "wide", *NO_NUMBER]),
    "kernel": word("exponential"),
    "model": word("ridge"),
    "select": word("forward"),
    "tolerance": fraction(none=True),
}
PART_LIME = {**LIME, "sampler": word("coin"), "distance": word("cosine"), "kernel": word("share")}
ANCHOR = {
    "precision": fraction(0.875, one=True),
    "delta": fraction(0.125),
    "epsilon": fraction(0.125),
    "beams": whole(2),
    "batch": whole(16),
    "max_conditions": whole(2, none=True),
    "budget": whole(5000, none=True),
    "empty_evaluations": whole(100),
    "suboptimal": flag(False),
    "within": Option(0.5, [np.float64(0.5), np.float32(0.5)], [0, -1, "far", True, float("nan"), (2, 1), object()]),
    "perturb": word("absent"),
}
ANSWERS = {"n": whole(2), "max_changes": whole(2, none=True), "best_effort": flag(), "budget": whole(500, 8, none=True)}
ATTACK = {**ANSWERS, "budget": whole(500, 4, none=True)}
PIECES = {"by": word("word"), "most": whole(3)}

# verb: how it is called, its options, and those of a free form (tables, functions, names, rows)
TYPICAL = {
    "n": whole(3, also=(str,)),
    "criticisms": whole(2, 0, also=(str,)),
    "method": word("medoids"),
    "by": word("prediction", none=True),
    "kernel": word("laplace"),
    "width": positive(1.5),
    "sample": whole(20, 2, none=True),
}
VERBS: dict[str, tuple[Any, dict[str, Option], set[str]]] = {
    "Explainer": (
        lambda **o: Explainer(f, *table(), **{"progress": False, **o}).pdp(0),
        MAKING,
        {
            "model",
            "X",
            "y",
            "output",
            "categorical",
            "groups",
            "feature_names",
            "class_names",
            "background",
            "sample_weight",
        }
        | {"row_labels", "labels", "units"},
    ),
    "predict": (lambda **o: explainer().predict(0, **o), {}, {"rows"}),
    "pdp": (
        lambda **o: explainer().pdp(**{"features": 0, **o}),
        {"grid": whole(3), "kind": word("both"), "pure": flag().along(features=(0, 1))},
        {"features", "at", "center", "rows"},
    ),
    "ice": (
        lambda **o: explainer().ice(0, **o),
        {"sample": whole(3, none=True), "grid": whole(3), "derivative": flag()},
        {"feature", "rows", "at", "center"},
    ),
    "ale": (
        lambda **o: explainer().ale(**{"features": 0, **o}),
        {"bins": whole(3, none=True, also=(list, np.ndarray)), "total": flag(), "gradient": flag(False)},
        {"features", "order"},
    ),
    "mplot": (lambda **o: explainer().mplot(0, **o), {"bins": whole(3)}, {"feature"}),
    "importance": (
        lambda **o: explainer().importance(**o),
        {
            "method": word("pdp", also=(list,)),
            "compare": word("ratio"),
            "repeats": whole(3),
            "scheme": word("halves"),
            "p_values": Option(2, [2.0, np.int64(2)], [0, -1, 2.5, "3", [3], None]).along(refit=refitted),
            "grid": whole(3).along(method="pdp"),
            "folds": whole(2, 2, none=True, also=(list, np.ndarray)).along(refit=refitted),
            "budget": whole(5000, none=True).along(method="sage"),
            "tolerance": positive(0.5, none=True).along(method="sage"),
        },
        {"loss", "holdout", "refit", "at", "ranges"},
    ),
    "interactions": (
        lambda **o: explainer().interactions(**o),
        {
            "method": word("greenwell"),
            "against": word("all"),
            "normalize": flag(False),
            "p_values": flag(False),
            "rows": whole(10, 2, none=True),
            "network": flag(False),
        },
        {"features"},
    ),
    "decompose": (
        lambda **o: explainer().decompose(**o),
        {
            "method": word("anova"),
            "order": whole(1),
            "grid": whole(4, 2, none=True),
            "density": word("data").along(method="generalized"),
        },
        {"features", "at"},
    ),
    "clusters": (lambda **o: explainer().clusters(**o), {"threshold": fraction(one=True), "importance": flag()}, set()),
    "associations": (lambda **o: explainer().associations(**o), {}, set()),
    "audit": (lambda **o: explainer().audit(**o), {}, {"holdout"}),
    "performance": (lambda **o: explainer().performance(**o), {"bins": whole(3, 2)}, set()),
    "triage": (
        lambda **o: explainer().triage(**{"refit": refitted, "folds": 2, **o}),
        {"folds": whole(2, 2), "changed": fraction()},
        {"refit", "new"},
    ),
    "robust": (
        lambda **o: explainer().robust(**{"refit": refitted, "folds": 2, **o}),
        {"folds": whole(2, 2)},
        {"refit", "without"},
    ),
    "poisoning": (
        lambda **o: explainer().poisoning(**{"row": 0, "target": 1.0, "refit": refitted, "budget": 4, **o}),
        {"budget": whole(4, 4)},
        {"row", "target", "refit"},
    ),
    "influence": (
        lambda **o: explainer().influence(**{"rows": [0], "refit": refitted, "budget": 4, **o}),
        {"method": word("deletion"), "budget": whole(4, 4, none=True)},
        {"rows", "on", "refit", "together"},
    ),
    "surrogate": (
        lambda **o: explainer().surrogate(**o),
        {
            "kind": word("linear", also=(list, tuple)),
            "size": whole(3, none=True, also=(float, np.floating)),
            "folds": whole(3, 2, also=(list, np.ndarray)),
        },
        {"rows", "weights", "near"},
    ),
    "prototypes": (lambda **o: explainer().prototypes(**{"n": 3, **o}), TYPICAL, {"features"}),
    "neighbors": (
        lambda **o: explainer().neighbors(**{"row": 0, **o}),
        {"n": whole(3), "distance": word("euclidean")},
        {"row"},
    ),
    "shap": (
        lambda **o: explainer().shap(**{"rows": [0, 1], **o}),
        {
            **EFFORT,
            "game": word("marginal"),
            "scale": word("auto"),
            "conditional": word("copula"),
            "sparse": whole(2, none=True).along(method="kernel"),
            "proxy": word("trees"),
        },
        {"rows"},
    ),
    "breakdown": (lambda **o: explainer().breakdown(0, **o), {"interactions": flag()}, {"row", "order"}),
    "lime": (lambda **o: explainer().lime(0, **{"samples": 200, **o}), LIME, {"row", "space", "boundary"}),
    "lime_pick": (
        lambda **o: explainer().lime_pick(**{"budget": 2, "samples": 200, "sample": 5, **o}),
        {"budget": whole(2), "sample": whole(3), **LIME},
        {"rows", "options"},
    ),
    "anchor": (
        lambda **o: explainer().anchor(0, **o),
        {**ANCHOR, "perturb": word("data"), "bins": whole(3, also=(str, list, np.ndarray))},
        {"rows"},
    ),
    "check_rule": (None, {}, {"rule", "rows"}),
    "adversarial": (
        lambda **o: explainer().adversarial(0, **{"target": 2.0, **o}),
        {
            "norm": word("l1"),
            "sample": whole(3),
            "n": whole(2),
            "budget": whole(60, none=True),
            "seconds": positive(600.0, none=True),
            "target": Option(2.0, [np.float64(2.0)], ["nonsense", None, (3, 2), object()]),
            "fixed": Option("x1", [np.str_("x1")], ["x9", 3, None, [7]]),
            "ranges": Option({"x1": (0, 1)}, [], [3, "x1", {"x1": 3}, {"x1": (2, 1)}]),
        },
        {"row"},
    ),
    "counterfactuals": (
        lambda **o: explainer().counterfactuals(0, **{"target": 2.0, "method": "neighbours", **o}),
        {
            "method": word("neighbours"),
            "n": whole(2),
            "max_changes": whole(2, none=True),
            "budget": whole(60, none=True),
            "seconds": positive(600.0, none=True),
            "effort": whole(20, none=True),
            "polish": flag(False),
            "best_effort": flag(),
            "surface": Option(True, [np.True_], ["x1", 3, ("x1",), ("x1", "x9"), object()]),
            "distance": word("manhattan"),
            "target": Option(2.0, [np.float64(2.0), np.float32(2.0)], ["nonsense", None, (3, 2), [1, 2, 3], object()]),
            "fixed": Option("x1", [np.str_("x1")], ["x9", 3, None, [7]]),
            "protected": Option("x1", [np.str_("x1")], ["x9", 3, None, [7]]),
            "ranges": Option({"x1": (0, 1)}, [], [3, "x1", {"x1": 3}, {"x1": (2, 1)}, {"x1": []}]),
            "monotone": Option({"x1": "up"}, [], [3, "x1", {"x1": "rising"}, {"x1": 1}]),
            "costs": Option({"x1": 2.0}, [{"x1": np.float64(2.0)}], [3, "x1", {"x1": -1}, {"x1": "dear"}]),
            "relations": Option("x1 <= 1", [np.str_("x1 <= 1")], [3, None, [3], ["x1 <"], "x9 <= 1"]),
            "feasible": Option(None, [], [3, "yes", True]),
            "refits": Option(2, [2.0, np.int64(2)], [-1, 2.5, "3", [3], None]).along(refit=refitted),
        },
        {"row", "options", "refit"},
    ),
    "report": (
        lambda **o: explainer().report(Path(gettempdir()) / "never written.html", **o),
        {
            "top": Option(2, [], whole(2).wrong),
            "rows": Option(2, [], ["2", [2.5], [True], 99, -1]),
            "detail": Option("short", [], word("short").wrong),
        },
        {"path", "title"},
    ),
    "shapley": (
        lambda **o: pellucid.shapley(**{"value": lambda S: S.sum(axis=1) + S[:, 0] * S[:, 1], "n": 4, **o}),
        {
            **{name: option for name, option in EFFORT.items() if name != "interactions"},
            "n": whole(3),
            "order": whole(2),
            "index": word("taylor").along(order=2),
            "random_state": MAKING["random_state"],
            "proxy": word("trees"),
            "progress": MAKING["progress"],
        },
        {"value", "names"},
    ),
    "TextExplainer": (
        lambda **o: text_explainer(**o).shap(TEXT),
        {**MAKING, "batch": whole(7)},
        {"f", "output", "class_names", "tokenizer", "mask"},
    ),
    "TextExplainer.shap": (lambda **o: text_explainer().shap(TEXT, **o), {**EFFORT, **PIECES}, {"text"}),
    "TextExplainer.lime": (
        lambda **o: text_explainer().lime(TEXT, **{"samples": 100, **o}),
        {**PART_LIME, **PIECES},
        {"text"},
    ),
    "TextExplainer.anchor": (lambda **o: text_explainer().anchor(TEXT, **o), {**ANCHOR, **PIECES}, {"text", "corpus"}),
    "TextExplainer.importance": (
        lambda **o: text_explainer().importance([TEXT, "free call", "call me now"], **o),
        {
            "budget": whole(50, none=True),
            "sample": whole(2, none=True),
            "min_texts": whole(1, none=True),
            "fold": flag(False),
            "most": whole(3),
        },
        {"texts"},
    ),
    "TextExplainer.prototypes": (
        lambda **o: text_explainer().prototypes(TEXTS, **{"n": 2, **o}),
        {**TYPICAL, "n": whole(2, also=(str,)), "sample": whole(4, 2, none=True)},
        {"texts", "y", "features"},
    ),
    "TextExplainer.neighbors": (
        lambda **o: text_explainer().neighbors(TEXT, TEXTS, **o),
        {"n": whole(2)},
        {"text", "texts", "y", "features"},
    ),
    "TextExplainer.report": (None, {}, {"path", "texts", "y", "title"}),
    "TextExplainer.counterfactuals": (
        lambda **o: text_explainer().counterfactuals(TEXT, "<= 0.5", **o),
        {**ANSWERS, **PIECES},
        {"text", "target", "replace"},
    ),
    "TextExplainer.adversarial": (
        lambda **o: text_explainer().adversarial(TEXT, "<= 0.5", **o),
        {**ATTACK, **PIECES},
        {"text", "target", "replace"},
    ),
    "ImageExplainer": (
        lambda **o: image_explainer(**o).shap(IMAGE),
        {**MAKING, "batch": whole(7, none=True), "segments": whole(4), "flatten": flag(False)},
        {"f", "output", "class_names", "segmenter", "absent"},
    ),
    "ImageExplainer.shap": (lambda **o: image_explainer().shap(IMAGE, **o), EFFORT, {"image"}),
    "ImageExplainer.lime": (lambda **o: image_explainer().lime(IMAGE, **{"samples": 100, **o}), PART_LIME, {"image"}),
    "ImageExplainer.anchor": (lambda **o: image_explainer().anchor(IMAGE, **o), ANCHOR, {"image", "corpus"}),
    "ImageExplainer.prototypes": (
        lambda **o: image_explainer().prototypes(IMAGES, **{"n": 2, **o}),
        {**TYPICAL, "n": whole(2, also=(str,)), "sample": whole(4, 2, none=True)},
        {"images", "y", "features"},
    ),
    "ImageExplainer.neighbors": (
        lambda **o: image_explainer().neighbors(IMAGE, IMAGES, **o),
        {"n": whole(2)},
        {"image", "images", "y", "features"},
    ),
    "ImageExplainer.report": (None, {}, {"path", "images", "y", "title"}),
    "ImageExplainer.counterfactuals": (
        lambda **o: image_explainer().counterfactuals(IMAGE, "> 0.5", **o),
        ANSWERS,
        {"image", "target"},
    ),
    "ImageExplainer.adversarial": (
        lambda **o: image_explainer().adversarial(IMAGE, "> 0.5", **o),
        {
            **ATTACK,
            "kind": word("pixel"),
            "norm": word("l2").along(kind="gradient"),
            "steps": whole(2).along(kind="gradient"),
        },
        {"image", "target"},
    ),
}
OPTIONS = [(verb, name) for verb, (_, options, _) in VERBS.items() for name in options]


def call(verb: str, name: str, value: Any) -> Any:
    """What a verb gives for one value of an option."""
    ask, options, _ = VERBS[verb]
    return ask(**{**options[name].given, name: value})


def public(owner: Any) -> set[str]:
    """Names of the public methods of a class."""
    return {name for name in dir(owner) if callable(getattr(owner, name)) and not name.startswith("_")}


def callee(verb: str) -> Any:
    """The function of a verb."""
    owner, _, name = verb.rpartition(".")
    if owner:
        return getattr(getattr(pellucid, owner), name)
    return getattr(Explainer, verb, None) or getattr(pellucid, verb)


def test_every_option_of_every_verb_is_here():
    parts = {f"{kind.__name__}.{name}" for kind in (TextExplainer, ImageExplainer) for name in public(kind)}
    verbs = public(Explainer) | parts | {"Explainer", "TextExplainer", "ImageExplainer", "shapley"}
    assert verbs - {"TextExplainer.parts"} == set(VERBS)
    for verb, (_, options, free) in VERBS.items():
        known = set(inspect.signature(callee(verb)).parameters) - {"self"}
        extra = set(LIME) - {"samples"} if verb == "lime_pick" else set()
        assert (set(options) | free) - extra - {"samples"} == known - {"samples"}, verb


@pytest.mark.parametrize(("verb", "name"), OPTIONS)
def test_a_wrong_value_is_refused_by_name(verb, name):
    accepted, unnamed = [], []
    for value in VERBS[verb][1][name].wrong:
        try:
            call(verb, name, value)
            accepted.append(value)
        except InputError as error:
            unnamed += [str(error)] if name not in str(error) else []
    assert (accepted, unnamed) == ([], [])


@pytest.mark.parametrize(("verb", "name"), [pair for pair in OPTIONS if VERBS[pair[0]][1][pair[1]].same])
def test_a_numpy_scalar_is_the_number_it_holds(verb, name):
    option = VERBS[verb][1][name]
    plain = call(verb, name, option.good)
    for value in option.same:
        other = call(verb, name, value)
        for attribute in ("values", "settings"):
            np.testing.assert_equal(
                getattr(other, attribute, None), getattr(plain, attribute, None), err_msg=repr(value)
            )
