"""Every kind of result gets a valid specification, whatever the names and numbers are."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from charts.chart_examples import (
    CLASSES,
    NASTY,
    ale,
    associations,
    at_missing,
    attribution,
    attribution_cases,
    caveat,
    effect,
    importance,
    individual,
    levels,
    surface,
    three,
)
from golden_files import titles
from pellucid import teaching
from pellucid.charts import Chart, draw, panel
from pellucid.charts.layout import value_axis
from pellucid.charts.text import value_title
from pellucid.errors import InputError

SEASONS = np.array(["spring", "summer", "autumn", "winter"], dtype=object)
WEATHER = np.array(["good", "bad"], dtype=object)
MIXED = ("categorical", "numeric")
BOTH = ("categorical", "categorical")
DAYS = np.datetime64("2011-01-01") + 30 * np.arange(12).astype("timedelta64[D]")
LONG = [f"level {i} " + "with quite a long name " * 2 for i in range(41)]

CASES = {
    **attribution_cases(),
    "pdp": lambda: draw(effect(caveats=(caveat(),))),
    "rug": lambda: draw(effect(), distribution="rug"),
    "bare": lambda: draw(effect(), distribution=None),
    "five classes at missing": lambda: draw(effect(outputs=CLASSES, missing=at_missing(np.arange(5.0), np.ones(5)))),
    "ale": lambda: draw(ale()),
    "date": lambda: draw(effect(DAYS, kind="date", rug=DAYS)),
    "infinite": lambda: draw(ale(curve=np.r_[-np.inf, np.arange(19.0), np.inf], scale="log-odds")),
    "infinite surface": lambda: draw(
        surface(method="ale", function=lambda a, b: np.where(a == 0, -np.inf, np.where(b == 1, np.inf, a - b)))
    ),
    "tiny": lambda: draw(effect(curve=1e-7 * np.arange(50.0))),
    "huge": lambda: draw(effect(curve=-1e12 * np.arange(50.0))),
    "constant": lambda: draw(effect(curve=np.full(50, 0.3), se=np.zeros(50))),
    "one point": lambda: draw(effect([5.0], [3.0])),
    "unknown": lambda: draw(effect(curve=np.full(50, np.nan))),
    "nasty names": lambda: draw(effect(name=NASTY, outputs=(NASTY, "b"), scale="probability")),
    "levels": lambda: draw(levels(missing=at_missing())),
    "many levels": lambda: draw(levels(LONG)),
    "ale levels": lambda: draw(levels(method="ale", outputs=CLASSES)),
    "nasty levels": lambda: draw(levels([NASTY, "", None, 1, "1"], method="ale")),
    "boolean": lambda: draw(levels(np.array([False, True]), kind="boolean")),
    "ice": lambda: draw(individual(20)),
    "ice without colour": lambda: draw(individual(20), colour=None),
    "centred ice": lambda: draw(individual(20, center="min", colouring="nominal")),
    "slopes": lambda: draw(individual(20, derivative=True, outputs=CLASSES[:2])),
    "average slope": lambda: draw(effect(derivative=True, outputs=CLASSES[:2])),
    "ice of levels": lambda: draw(individual(20, SEASONS, missing=at_missing())),
    "ice at one point": lambda: draw(individual(20, [4.0])),
    "surface": lambda: draw(surface()),
    "individual surfaces": lambda: draw(surface(individual=True, values=np.zeros((3, 25, 25)))),
    "own colour": lambda: draw(effect(), colour="teal"),
    "twelve classes": lambda: draw(effect(outputs=tuple("abcdefghijkl"))),
    "surface without data": lambda: draw(surface(), show_data=False),
    "surface of classes": lambda: draw(surface(outputs=CLASSES[:3])),
    "ale surface": lambda: draw(surface(method="ale")),
    "all cells empty": lambda: draw(surface(method="ale", counts=np.zeros((24, 24)))),
    "constant surface": lambda: draw(surface(function=lambda a, b: 0 * a)),
    "mixed surface": lambda: draw(surface(SEASONS, method="ale", kinds=MIXED)),
    "nominal surface": lambda: draw(surface(SEASONS, WEATHER, kinds=BOTH)),
    "date surface": lambda: draw(surface(DAYS, kinds=("date", "numeric"))),
    "three features": lambda: draw(three()),
    "three features with levels": lambda: draw(three(SEASONS, kind="categorical"), width=90, height=80),
    "three features of classes": lambda: draw(three(SEASONS, kind="ordered", outputs=CLASSES[:2])),
    "three nasty features": lambda: draw(three([NASTY, "b"], kind="categorical", names=(NASTY, "b", NASTY))),
    "three features, one constant": lambda: draw(three([3.0], counts=np.ones((5, 4, 1)), rug=(np.zeros(3),) * 3)),
    "three features without rows": lambda: draw(three(counts=np.zeros((5, 4, 9)))),
    "isometric": lambda: draw(surface(), kind="surface"),
    "isometric ale of classes": lambda: draw(surface(method="ale", outputs=CLASSES[:2]), kind="surface"),
    "isometric constant": lambda: draw(surface(function=lambda a, b: 0 * a), kind="surface"),
    "isometric with unknown values": lambda: draw(
        surface(function=lambda a, b: np.where(a > 0.5, np.nan, b)), kind="surface"
    ),
    "isometric of nothing known": lambda: draw(surface(function=lambda a, b: a * np.nan), kind="surface"),
    "isometric dates": lambda: draw(surface(DAYS, kinds=("date", "numeric")), kind="surface"),
    "importance": lambda: draw(importance()),
    "importance ratio": lambda: draw(importance(compare="ratio")),
    "importance classes": lambda: draw(importance(outputs=CLASSES)),
    "importance train test": lambda: draw(importance(), against=importance(seed=1)),
    "importance unknown": lambda: draw(importance((NASTY, "b"), low=np.full(2, np.nan))),
    "associations": lambda: draw(associations()),
    "associations clusters": lambda: draw(associations(20), order="cluster"),
    "associations of one": lambda: draw(associations(1)),
    "waterfall": lambda: draw(attribution(caveats=(caveat(),))),
    "waterfall of many": lambda: draw(attribution(names=[f"feature {j}" for j in range(30)])),
    "waterfall of classes": lambda: draw(attribution(outputs=CLASSES, size=0.1)),
    "waterfall of nothing": lambda: draw(attribution(size=0.0)),
    "waterfall of nasty names": lambda: draw(attribution(names=(NASTY, "prediction", "average prediction"))),
    "waterfall of some rows": lambda: draw(attribution(3), kind="waterfall"),
    "beeswarm": lambda: draw(attribution(200)),
    "beeswarm of nasty names": lambda: draw(attribution(9, (NASTY, "b"), outputs=(NASTY, "c"))),
    "beeswarm of nothing": lambda: draw(attribution(20, size=0.0)),
    "beeswarm of one row": lambda: draw(attribution(), kind="beeswarm"),
    "bars of contributions": lambda: draw(attribution(50), kind="bar"),
    "bars of classes": lambda: draw(attribution(50, outputs=CLASSES[:2]), kind="bar", max_display=3),
    "panel": lambda: panel([effect(), levels(), ale()]),
    "panel of many levels": lambda: panel([effect(), levels(LONG)], columns=2),
    "panel of ice": lambda: panel([individual(9), individual(9, colouring="nominal")]),
    "overlay": lambda: panel([effect(), effect(method="mplot"), ale()], overlay=True),
    "overlay of levels": lambda: panel([levels(), levels(method="ale")], overlay=True, labels=("one", "two")),
    "overlay of classes": lambda: panel([effect(outputs=CLASSES), effect(outputs=CLASSES)], overlay=True),
    "densities": teaching.densities,
    "arrows": teaching.interval_arrows,
    "corners": teaching.cell_corners,
}


@pytest.mark.parametrize("name", CASES)
def test_specification_is_valid_and_names_no_user_text_as_field(name):
    chart = CASES[name]()
    assert isinstance(chart, Chart)
    spec = chart.spec  # Altair checks it against the schema
    json.dumps(spec, allow_nan=False)
    assert all(re.fullmatch(r"\w+", field) for field in _found(spec, "field"))


def _found(node, key):
    """All values of a key anywhere in a specification except its data."""
    if isinstance(node, dict):
        own = [node[key]] if isinstance(node.get(key), str) else []
        return own + [hit for name, part in node.items() if name != "datasets" for hit in _found(part, key)]
    return [hit for part in node for hit in _found(part, key)] if isinstance(node, list) else []


@pytest.mark.parametrize("result", [effect, three, lambda: surface(SEASONS, kinds=MIXED)])
def test_a_surface_in_space_needs_two_numeric_features(result):
    with pytest.raises(InputError, match="two numeric features"):
        draw(result(), kind="surface")
    with pytest.raises(InputError, match="kind='heat' is not known"):
        draw(result(), kind="heat")


def test_the_same_result_gives_the_same_specification():
    assert draw(individual(20)).spec == draw(individual(20)).spec


def test_titles_say_what_and_on_which_scale(golden):
    shown = {
        "partial dependence": effect(),
        "partial dependence, probability": effect(outputs=("Cancer",), scale="probability"),
        "partial dependence, log-odds of classes": effect(outputs=CLASSES, scale="log-odds"),
        "accumulated local effect": ale(),
        "accumulated local effect of two features": surface(method="ale"),
        "individual curves, centred": individual(5, center="12.5"),
        "individual curves, slopes": individual(5, derivative=True),
    }
    for name, result in shown.items():
        golden("charts", f"axis of effects: {name}", value_title(result))


def test_subtitle_counts_caveats_and_says_what_is_left_out(golden):
    shown = {
        "partial dependence, with a caveat": draw(effect(caveats=(caveat(),))),
        "importance, some features": draw(importance(), max_display=2),
        "individual curves, some rows": draw(individual(300)),
        "accumulated local effect of two features": draw(surface(method="ale")),
        "accumulated local effect of three features": draw(three()),
    }
    for name, chart in shown.items():
        golden("charts", name, titles(chart.spec))
    assert "100 of 300" in " ".join(titles(shown["individual curves, some rows"].spec))


def test_title_width_and_height_are_as_asked():
    spec = draw(effect(), title="My title", width=123, height=77, distribution=None).spec
    assert (spec["title"]["text"], spec["width"], spec["height"]) == (["My title"], 123, 77)


def test_changes_have_a_zero_line_and_predictions_do_not():
    def rules(chart):
        return [layer for layer in chart.spec["layer"] if layer["encoding"].get("y") == {"datum": 0}]

    assert len(rules(draw(ale(), distribution=None))) == 1
    assert rules(draw(effect(), distribution=None)) == []


def test_joint_effects_diverge_round_zero():
    def scale(chart):
        return chart.spec["layer"][0]["encoding"]["color"]["scale"]

    low, high = scale(draw(surface(method="ale")))["domain"]
    assert low == -high
    assert scale(draw(surface()))["scheme"] == "viridis"


def test_side_by_side_effects_have_common_limits():
    spec = panel([effect([0.0, 1.0], [1.0, 2.0], rug=[0.5]), effect([0.0, 1.0], [8.0, 9.0], rug=[0.5])]).spec
    domains = {tuple(d) for part in spec["concat"] for d in _y_domains(part["concat"][0])}
    assert len(domains) == 1


def _y_domains(view):
    encodings = [layer["encoding"]["y"] for layer in view["layer"]]
    return [y["scale"]["domain"] for y in encodings if "scale" in y]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: draw(effect(), hieght=3), "did you mean 'height'?"),
        (lambda: draw(effect(), max_display=3), "'max_display' is not an option of this chart"),
        (lambda: draw(effect(), distribution="histogramm"), "did you mean 'histogram'.*None switches it off"),
        (lambda: draw(effect(), width=-1), "width must be"),
        (lambda: draw(effect(), title=3), "title must be"),
        (lambda: draw(effect(), max_lines=0), "max_lines must be"),
        (lambda: draw(effect(), colour=3), "colour must be .*, got 3"),
        (lambda: draw(associations(), order="clusters"), "did you mean 'cluster'"),
        (lambda: draw(importance(), against=effect()), "against= takes the result of another importance"),
        (lambda: draw(importance(), against=importance(compare="ratio")), "compare like with like"),
        (lambda: draw(importance(), labels=("a", "a")), "two different names"),
        (lambda: draw("no result"), "no chart of a str"),
        (lambda: panel([]), "takes a list of effects"),
        (lambda: panel([effect()], columns=0), "columns must be"),
        (lambda: panel([surface()]), "is a surface"),
        (lambda: panel([effect(), effect(scale="probability")]), "different scales"),
        (lambda: panel([effect(), effect(name="other")], overlay=True), "not of 'temperature' and 'other'"),
        (lambda: panel([effect(), effect(derivative=True)], overlay=True), "do not share an axis"),
        (lambda: panel([effect(), effect()], overlay=True, labels=("a",)), "give 2 different names"),
    ],
)
def test_errors_name_the_remedy(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_large_numbers_on_an_axis_keep_apart():
    def ticks(size):
        return value_axis("loss", (0.0, size), 360.0)["axis"].to_dict()["tickCount"]

    assert ticks(80.0) > ticks(800_000.0) >= 3
    assert 360.0 / ticks(800_000.0) > 7.0 * len("800,000")
