"""The model in parts: single features and pairs that add up to the prediction, and how much of it they reproduce.

Which way of taking apart: partial dependence where features are not correlated. Where they are, generalised functional
ANOVA, which asks the model about the rows of the data and nothing else; and where the data cannot tell features apart
even so, accumulated local effects, whose parts do not mix.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from pellucid.errors import PellucidError
from pellucid.explanations import Decomposition, Importance
from pellucid.report.cards import Plain, card, section
from pellucid.report.effects import top_features
from pellucid.report.why import Why
from pellucid.report.work import Work, focused
from pellucid.words import listed, percent

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "The model in parts: main effects and interactions"
MOST = 10  # features that are taken apart
_DATA = 5_000  # rows of the data that are looked at
_ASKED = 300_000  # model rows for partial dependence, where the model has to be asked
_MOVED = 300_000  # model rows for accumulated local effects
_GRIDS = (  # points asked for, and how many these are in parts of one and of two features
    (None, 32, 10),
    (8, 8, 8),
    (6, 6, 6),
)
_BACKGROUND = (50, 1000)  # rows to average over
_FEWEST = 300  # rows for accumulated local effects
_BARS, _PANELS = 12, 9
_NEARLY_ALL = 0.995
_ENOUGH, _MUCH = 0.95, 0.8  # of the variance: as good as the model, most of it
_MEANING = (
    "The prediction as a sum (functional decomposition): a constant, a part for each feature (its main effect) and a"
    " part for each pair (their interaction)."
)
_HOLDS = {
    "zero means": "every part averages to zero, so that the constant is the mean",
    "orthogonality": "the parts do not overlap",
    "variance sum": "their variances add up",
    "hierarchical orthogonality": "no part of a pair holds what one of its features does alone",
    "parts are kept": "every part is its own accumulated local effect",
    "no foreign effects": "no part of a pair holds what one of its features does alone",
}


def part_section(
    explainer: Explainer, movers: Importance, why: Why, output: str, work: Work
) -> tuple[Plain, list[str]]:
    """The chapter, and its finding in a sentence; ``movers`` says which features move predictions most."""
    varying = [feature.name for feature in explainer.data.schema.features if feature.distinct > 1]
    names = varying if len(varying) <= MOST else _most_important(explainer, movers)
    if len(names) < 2:
        why_not = (
            f"Only {names[0]} matters: its effect is (nearly) the whole model."
            if names
            else "No feature varies, so there are no parts."
        )
        return section("parts", TITLE, [why_not]), []
    try:
        found, reason = _decomposed(focused(explainer, _DATA, output), names, why, work)
    except PellucidError as error:
        instead = f"explainer.decompose(features={names[:4]!r}) decomposes some features at any cost."
        return section("parts", TITLE, [_MEANING, f"Parts are not shown: {error}", instead]), []
    if not float(found.variance) > 0:
        nothing = "The predictions looked at are all the same: there is nothing to decompose."
        return section("parts", TITLE, [_MEANING, nothing]), []
    said = reproduced(float(found.r2), left_out=len(varying) - len(names))
    intro = [_MEANING, *_what(explainer, found, names)]
    cards = [_shares_card(found, said, reason), _components_card(found)]
    return section("parts", TITLE, intro, cards=cards), [said]


def _most_important(explainer: Explainer, importance: Importance) -> list[str]:
    return [explainer.data.schema.names[j] for j in top_features(explainer, importance, MOST)]


def reproduced(r2: float, left_out: int) -> str:
    """How much of the model the parts are, and what follows; so many features were ``left_out``."""
    share = "all" if r2 >= 1 - 1e-9 else "more than 99.9%" if r2 > 0.9995 else f"{100 * max(r2, 0.0):.1f}%"
    said = f"Main effects and two-way interactions explain {share} of the variance of the predictions"
    if r2 >= _ENOUGH:
        return f"{said}, so the charts below describe the model almost fully."
    if r2 >= _MUCH:
        return f"{said}, so the charts below describe most of the model, but not all."
    rest = (
        f"the {left_out:,} features left out, or interactions of three and more features,"
        if left_out
        else "interactions of three and more features"
    )
    return f"{said}: {rest} explain much of the rest, so do not take these parts for the model."


# -- which way ---------------------------------------------------------------------------------------


def _decomposed(explainer: Explainer, names: list[str], why: Why, work: Work) -> tuple[Decomposition, str]:
    """The parts, and why they were found in this way."""
    together = _going_together(explainer, names, work)
    if not together:
        return _by_partial_dependence(explainer, names, why, work)
    found = work.keep(explainer.decompose(method="generalized", features=names))
    who = f"{listed(together)} {'is' if len(together) == 1 else 'are'} correlated with other features"
    mixed = [item for item in found.caveats if item.code == "mixed-effects"]
    rows = work.affordable(_MOVED) // _moves(len(names))
    if mixed and min(rows, len(explainer.data)) >= _FEWEST:
        fewer = focused(explainer, rows)
        local = work.keep(fewer.decompose(method="ale", features=names))
        reason = (
            f"{who}, so closely that the data cannot tell which of them an effect belongs to. Accumulated local effects"
            " stay near the data and do not mix them."
        )
        return local, reason
    reason = (
        f"{who}. Generalised functional ANOVA takes the data as they are: the model is evaluated at the rows of"
        " the data only."
    )
    return found, reason


def _by_partial_dependence(explainer: Explainer, names: list[str], why: Why, work: Work) -> tuple[Decomposition, str]:
    apart = "No feature is correlated closely enough with others to matter"
    if why.read(explainer, "tree"):
        found = work.keep(explainer.decompose(features=names))
        return found, f"{apart}: the parts are those of partial dependence, read from the trees."
    options = _price(explainer, len(names), work.affordable(_ASKED))
    if options is None:
        found = work.keep(explainer.decompose(method="generalized", features=names))
        reason = (
            "The model has to be evaluated, and generalised functional ANOVA needs its predictions for the rows of the"
            " data only."
        )
        return found, reason
    grid, background = options
    thrifty = copy(explainer)
    thrifty.background = explainer.background if background is None else background
    found = work.keep(thrifty.decompose(features=names, grid=grid))
    return (found, f"{apart}: the parts are those of partial dependence.")


def _price(explainer: Explainer, p: int, rows: int) -> tuple[int | None, int | None] | None:
    """Points along a feature and rows to average over that cost at most so many model rows; None if there are none."""
    given = explainer.background
    fixed = None if given is None or isinstance(given, int | np.integer) else len(explainer.data.rows(given))
    for grid, single, double in _GRIDS:
        entries = p * single + p * (p - 1) // 2 * double**2
        if fixed is not None and entries * fixed <= rows:
            return grid, None
        if fixed is None and rows // entries >= min(_BACKGROUND[0], len(explainer.data)):
            most = min(_BACKGROUND[1], rows // entries)
            return grid, most if given is None else min(most, int(given))
    return None


def _going_together(explainer: Explainer, names: list[str], work: Work) -> list[str]:
    """Features whose values do not occur with those of the other rows."""
    columns = [explainer.data.schema.index(name) for name in names]
    return [explainer.data.schema.names[j] for j in columns if explainer._off_data(j, work.run) is not None]


def _moves(p: int) -> int:
    """Model rows for each row of the data that accumulated local effects of p features and their pairs take, at
    most.
    """
    return 1 + 3 * p + 9 * p * (p - 1) // 2


# -- words and cards ---------------------------------------------------------------------------------


def _what(explainer: Explainer, found: Decomposition, names: list[str]) -> list[str]:
    said = []
    varying = sum(feature.distinct > 1 for feature in explainer.data.schema.features)
    if len(names) < varying:
        said.append(
            f"Only the {len(names)} features that move predictions most are decomposed; the other"
            f" {varying - len(names):,} are left out."
        )
    outputs = explainer.predictor.output_names
    if len(outputs) > 1:
        said.append(f"Of {len(outputs)} outputs, {found.output_names[0]} is shown; explainer.decompose() has them all.")
    if explainer.data.schema.groups:
        said.append("Groups are not used here: their features are shown one by one.")
    return [" ".join(said)] if said else []


def _shares_card(found: Decomposition, said: str, reason: str) -> Plain:
    shares = found.values
    single = np.array([len(names) == 1 for names in found.sets])
    large = np.argsort(-shares, kind="stable")[:3]
    named = [f"{found.feature_names[j]} ({percent(float(shares[j]))})" for j in large if shares[j] > 0]
    largest = [f"Largest parts, by share of the variance: {listed(named)}."] if named else []
    alone = float(shares[single].sum() / max(shares.sum(), 1e-300))
    rest = "interactions hardly any" if alone > _NEARLY_ALL else "interactions the rest"
    balance = [] if single.all() else [f"Main effects make up {percent(alone)} of the variance of the parts, {rest}."]
    return card(
        "part-shares",
        "Shares of the parts",
        found,
        subtitle="Variance of each part, as a share of the variance of the predictions",
        sentences=[said, *largest, *balance],
        why=reason,
        more=[*checks_in_words(found), *found.findings()],
        kind="shares",
        max_display=_BARS,
    )


def _components_card(found: Decomposition) -> Plain:
    return card(
        "part-components",
        "The largest parts",
        found,
        subtitle="What each part adds to the prediction, or subtracts from it",
        sentences=["The constant plus the value of every part for a row gives (nearly) its prediction."],
        full=True,
        kind="components",
        max_display=_PANELS,
    )


def checks_in_words(found: Decomposition) -> list[str]:
    """Which of the properties that make parts readable they have."""
    held = [_HOLDS[check.name] for check in found.checks if check.holds and check.name in _HOLDS]
    lines = [f"Checked: {listed(held, 9)}."] if held else []
    return lines + [check.words for check in found.checks if not check.holds]
