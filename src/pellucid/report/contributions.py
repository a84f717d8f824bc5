"""What the contributions add up to: their size over many rows, row by row, and along the most important feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.explanations import Attribution, changed
from pellucid.explanations.attribution_partner import partner, position
from pellucid.explanations.attribution_words import grouped, scale_of
from pellucid.report.cards import Plain, card, section

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "Contributions to the predictions: SHAP summary"
_BARS = 15  # features of the bars
_STRIPS = 10  # and of the dots, which take more room
_HALF, _STRIP, _FEW_STRIPS = 270.0, 22.0, 8  # width of the dots beside another chart, height of a strip, strips
_HUES = dict(zip(theme.CATEGORIES, ("blue", "orange", "green", "pink", "yellow"), strict=False))
_LEGEND = {"orient": "top", "direction": "horizontal", "title": "value of the feature", "titleOrient": "left"}
_PANELS = 4  # outputs that are shown side by side
_EXACT = ("tree", "linear", "exact")  # ways that leave nothing to chance
_MEANING = (
    "A contribution is a feature's share of the difference between a prediction and the average prediction "
    "(Shapley value, SHAP); those of a row add up to that difference."
)


def contribution_section(explainer: Explainer, found: Attribution) -> Plain:
    """Bars, dots and the dependence of the feature that contributes most."""
    main = found.for_output(main_output(explainer, found))
    if not np.abs(found.values).max(initial=0.0) > 0:
        nothing = f"No feature contributes anything: all {len(found):,} predictions are the same."
        return section("contributions", TITLE, [_MEANING, nothing])
    intro = [_MEANING, *how_found(explainer, found), *_which_output(explainer, found, main.output_names[0])]
    cards = [_bars(found, main), dots(main)]
    top = main.top(1)[0]
    if not grouped(main, position(main, top)):
        cards.append(_along(main, top))
    return section("contributions", TITLE, intro, cards=cards)


def no_contributions(name: str, title: str, reason: str) -> Plain:
    """The chapter where contributions could not be had: why, and what to call instead."""
    instead = "Explainer.shap explains single rows at any cost: explainer.shap(0, budget=1_000_000)."
    return section(name, title, [f"Contributions are not shown: {reason}", instead])


def rivals(explainer: Explainer) -> bool:
    """Whether outputs compete, as classes do, so that the highest is what the model predicts."""
    return explainer.predictor.classes is not None or explainer.predictor.raw_scale == "probability"


def main_output(explainer: Explainer, found: Attribution) -> str:
    """The class that is predicted most often, or the first of several numbers."""
    if not rivals(explainer):
        return found.output_names[0]
    highest = found.stacked("prediction").argmax(axis=1)
    return found.output_names[int(np.bincount(highest).argmax())]


def how_found(explainer: Explainer, found: Attribution) -> list[str]:
    """Whether the contributions are exact, for which background, and on which scale."""
    drawn = " drawn from the data" if 0 < found.reference.rows < len(explainer.data) else ""
    against = f"a background of {found.reference.rows:,} rows{drawn}"
    if found.method in _EXACT and not (found.se > 0).any():
        said = f"The contributions are exact, for {against}."
    else:
        error = (
            "± in words and thin lines in charts are 95% intervals."
            if (found.se > 0).any()
            else "No sampling error was detected."
        )
        said = (
            f"The contributions are estimates (KernelSHAP), for {against}: only some coalitions of features were"
            f" evaluated. {error}"
        )
    if found.scale == explainer.predictor.scale:
        return [said]
    other = (
        f"They are contributions to the {found.scale}, in which this model adds up, not to the"
        f" {explainer.predictor.scale}."
    )
    return [said, other]


def about(found: Attribution, features: list[str]) -> Attribution:
    """The same with the caveats that are about one of these features, or (as correlation is) about several."""
    kept = tuple(c for c in found.caveats if c.feature is None or c.feature in features or c.code == "off-data")
    return changed(found, caveats=kept)


def short(found: Attribution) -> list[str]:
    """The finding in a sentence or two; the caveats stand beside the chart."""
    return changed(found, caveats=()).text(mode="short").splitlines()


# -- cards -------------------------------------------------------------------------------------------


def _bars(found: Attribution, main: Attribution) -> Plain:
    shown = found if len(found.output_names) <= _PANELS else main
    return card(
        "contributions-size",
        "Mean absolute contributions (mean |SHAP|)",
        shown,
        subtitle=f"Mean absolute contribution over {len(found):,} rows",
        sentences=short(found),
        more=found.findings(),
        full=len(shown.output_names) > 1,
        kind="bar",
        max_display=_BARS,
    )


def dots(main: Attribution, *, half: bool = False) -> Plain:
    """The SHAP summary (beeswarm) plot of one output."""
    strips = _FEW_STRIPS if half else _STRIPS
    names = main.top(strips)
    made = card(
        "contributions-rows",
        "SHAP summary (beeswarm) plot",
        about(main, names),
        subtitle=f"One dot for each of {len(main):,} rows and each feature{scale_of(main)}",
        sentences=[_directions(main, names[0])],
        half=half,
        kind="beeswarm",
        max_display=strips,
        width=_HALF if half else None,
        height=_STRIP * min(strips, len(main.feature_names)) if half else None,
    )
    for layer in made["chart"].get("layer", []) if half else []:
        colour = layer.get("encoding", {}).get("color", {})
        if colour.get("type") == "nominal":  # no room beside the chart: the note names the colours
            made["note"] = " · ".join(filter(None, [made["note"], _colours_in_words(colour)]))
            colour["legend"] = None
        elif colour.get("legend"):
            colour["legend"].update(_LEGEND)
    return made


def _colours_in_words(colour: Plain) -> str:
    """What the colours of a feature's categories mean: ``gender: orange female, blue male``."""
    if not colour.get("legend"):
        return ""
    pairs = zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True)
    said = [f"{_HUES.get(shade, shade)} {level}" for level, shade in pairs]
    return f"{colour['legend']['title']}: {', '.join(said)}"


def _along(main: Attribution, feature: str) -> Plain:
    other = partner(main, feature)
    mixed = (
        f" The colour is {other}, the feature that changes the contributions of {feature} most."
        if other is not None
        else ""
    )
    return card(
        "contributions-along",
        f"SHAP dependence plot of {feature}",
        about(main, [feature]),
        subtitle=f"One dot for each of {len(main):,} rows{scale_of(main)}",
        sentences=[f"Above zero {feature} raises the prediction, below zero it lowers it.{mixed}"],
        kind="dependence",
        feature=feature,
    )


def _directions(main: Attribution, feature: str) -> str:
    """How often, and how far, the first feature raises or lowers predictions."""
    values: FloatArray = main.values[:, position(main, feature)]
    up, down = int((values > 0).sum()), int((values < 0).sum())
    return (
        f"{feature} raises the prediction in {up:,} and lowers it in {down:,} of {len(values):,} rows. "
        "Dots to the right raise the prediction."
    )


def _which_output(explainer: Explainer, found: Attribution, main: str) -> list[str]:
    n = len(found.output_names)
    if n < 2:
        return []
    bars = "" if n <= _PANELS else ", in the bars too"
    why = "it is the highest in most of these rows" if rivals(explainer) else "it is the first"
    return [f"Of {n} outputs, {main} is shown row by row{bars}: {why}."]
