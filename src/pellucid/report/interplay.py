"""What acts together: which pairs of features the model needs, how strongly they interact, and what the first one looks
like.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from pellucid.errors import InputError, PellucidError
from pellucid.explanations import Effect, Importance, Interactions, Network
from pellucid.report.cards import Plain, card, section, table
from pellucid.report.effects import staying_near
from pellucid.report.why import Why
from pellucid.report.work import Work, focused, spread
from pellucid.words import listed, number, percent, quantity

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "What acts together: interactions"
LOSS = 0.01  # of the variance, that the network may lose
MOST = 10  # features whose pairs are looked at
_DATA = 5_000  # rows of the data that are looked at
_ASKED = 300_000  # model rows, where the model has to be asked
_READ = 200_000  # and where it is read, for the costs of leaving pairs out
_FEWEST = 30  # rows
_PAIRS = 10  # shown
_CELL, _POINT = 20, 5  # rows in a cell of the picture, and at a point of its grid, on average
_CELLS, _POINTS = (4, 15), (6, 15)  # along a feature
_PICTURE = 200  # rows that a picture is averaged over, where the model has to be asked
_MEANING = (
    "Two features interact (act together) when the effect of one depends on the value of the other, so that their "
    "single effects do not tell the whole story."
)
_ADVICE = {
    "weak-joint-effect": "Go by the bars on the right.",
    "rows-sampled": "explainer.interactions() looks at more of them.",
}


def interaction_section(
    explainer: Explainer, movers: Importance, why: Why, output: str, work: Work
) -> tuple[Plain, list[str]]:
    """The chapter, and its finding in a sentence; ``movers`` says which features move predictions most."""
    names = varying_players(explainer, movers)
    if len(names) < 2:
        nothing = "Only one feature varies, so there are no interactions."
        return section("interactions", TITLE, [nothing if names else "No feature varies."]), []
    looked_at = focused(explainer, _DATA, output)
    try:
        found = work.keep(_ask(looked_at, _in_order(explainer, names[:MOST]), why, work))
    except PellucidError as error:
        instead = f"explainer.interactions(features={names[:4]!r}) measures those of some features at any cost."
        return section("interactions", TITLE, [_MEANING, f"Interactions are not shown: {error}", instead]), []
    network = found.network(LOSS)
    if not network.feature_names:
        nothing = "The predictions looked at are all the same: no feature has an effect, alone or with others."
        return section("interactions", TITLE, [_MEANING, nothing]), []
    cards = [_network_card(network)]
    if (found.strength > 0).any():
        cards += [_pairs_card(found), *_picture(looked_at, found, network, work)]
    intro = [_MEANING, *_how(explainer, found, names)]
    return section("interactions", TITLE, intro, cards=cards), [in_short(network)]


def varying_players(explainer: Explainer, importance: Importance) -> list[str]:
    """Features and groups with more than one value, the most important first."""
    schema, players = explainer.data.schema, explainer.data.schema.players()
    ranked = importance.top(len(importance.feature_names))
    return [name for name in ranked if any(schema.features[j].distinct > 1 for j in players[name])]


def _in_order(explainer: Explainer, names: Sequence[str]) -> list[str]:
    """In the order of the columns, by which pairs are named."""
    return [name for name in explainer.data.schema.players() if name in names]


def in_short(network: Network) -> str:
    """The finding in a sentence that can be acted upon."""
    lost = network.additive
    if lost == 0:
        return "There are no interactions: the model is additive."
    if not network.edges:
        return (
            f"There are hardly any interactions: together they explain {percent(lost)} of the variance of the"
            " predictions."
        )
    first, cost = " and ".join(network.edges[0]), percent(float(network.values[0]))
    more = f", all interactions {percent(lost)}" if np.isfinite(lost) else ""
    return f"{first} interact most: this interaction explains {cost} of the variance of the predictions{more}."


# -- asking ------------------------------------------------------------------------------------------


def _ask(explainer: Explainer, names: Sequence[str], why: Why, work: Work) -> Interactions:
    """Pairs among these features, from as many rows as can be afforded."""
    n, sets = len(explainer.data), len(names) + len(names) * (len(names) - 1) // 2
    if why.read(explainer, "tree", "linear"):
        affordable = work.affordable(_READ)  # for the costs, of pairs and of about as many triples
        return explainer.interactions(
            list(names), rows=None if affordable == _READ else max(affordable // (2 * sets), 2)
        )
    rows = _affordable_rows(explainer, work.affordable(_ASKED) // sets)
    if rows < min(_FEWEST, n):
        raise InputError(
            f"the model ({explainer.predictor.name}) has to be called, and {sets} features and pairs take more model"
            " rows than a report spends on this."
        )
    found = explainer.interactions(list(names), rows=max(2, min(rows, n)))
    return found if work.affordable(_READ) < _READ else explainer._with_more_draws(found, work.run)


def _affordable_rows(explainer: Explainer, rows: int) -> int:
    """How many rows can be asked about, each against the background, for so many model rows."""
    if explainer.background is None or isinstance(explainer.background, int | np.integer):
        return isqrt(rows)
    return rows // max(len(explainer.data.rows(explainer.background)), 1)


def _how(explainer: Explainer, found: Interactions, names: Sequence[str]) -> list[str]:
    """What was looked at."""
    said = []
    if len(names) > MOST:
        said.append(
            f"Only pairs among the {MOST} features (of {len(names):,}) that move predictions most were examined."
        )
    rows, n = int(found.settings["rows"]), len(explainer.data)
    if rows < n:
        said.append(f"The values of pairs are based on {rows:,} of {n:,} rows.")
    outputs = explainer.predictor.output_names
    if len(outputs) > 1:
        said.append(
            f"Of {len(outputs)} outputs, {found.output_names[0]} is shown; explainer.interactions() has them all."
        )
    return [" ".join(said)] if said else []


# -- cards -------------------------------------------------------------------------------------------


def _network_card(network: Network) -> Plain:
    return card(
        "network",
        "Interaction network",
        network,
        subtitle=(
            f"The features and interactions needed to reproduce the predictions within {100 * LOSS:g}% of their"
            " variance"
        ),
        sentences=[_what_to_do(network), *network.findings()[:1]],
        advice=_ADVICE,
        more=network.findings()[1:],
    )


def _what_to_do(network: Network) -> str:
    if not network.edges:
        return (
            "The model is additive, or nearly so: the charts of single features (How it responds) can be read one by"
            " one, and an additive model (GAM) could replace it."
        )
    partners = {name: sum(name in pair for pair in network.edges) for name in network.feature_names}
    free = [name for name, count in partners.items() if count == 0]
    alone = f" {listed(free)} can be read alone." if free else ""
    pairs = listed([" with ".join(pair) for pair in network.edges[:3]])
    return f"Lines join features that interact, above all {pairs}.{alone}"


def _pairs_card(found: Interactions) -> Plain:
    return card(
        "pairs",
        "Interaction strength of pairs",
        found,
        subtitle=(
            "Left: Friedman's H, the share of interaction in the joint effect of two features. Right: how far it moves"
            " predictions"
        ),
        stacks=False,
        sentences=[*found.findings()[:1], "Read both sides: H can be large for a pair that hardly moves predictions."],
        values=_pair_table(found),
        advice=_ADVICE,
        more=found.findings()[1:],
        max_display=_PAIRS,
    )


def _pair_table(found: Interactions) -> Plain:
    """The strongest pairs in the units of the prediction."""
    order = np.argsort(-np.nan_to_num(found.strength), kind="stable")[:_PAIRS]
    rows = []
    for s in (s for s in order if found.strength[s] > 0):
        low, high = number(float(found.low[s])), number(float(found.high[s]))
        cost = found.cost_of(*found.sets[s])
        rows.append(
            [
                " × ".join(found.sets[s]),
                _units(found, float(found.strength[s])),
                number(float(found.values[s])),
                f"{low} to {high}",
                percent(cost) if np.isfinite(cost) else "not measured",
            ]
        )
    head = ("Pair", "In units of the prediction", "H", "95% interval", "Share of variance")
    return table(head, rows, shown=5, what="pairs")


def _units(found: Interactions, strength: float) -> str:
    """How far an interaction moves predictions."""
    return quantity(strength, found.scale, change=True, sign=False)


# -- the picture of the strongest pair ---------------------------------------------------------------


def _picture(explainer: Explainer, found: Interactions, network: Network, work: Work) -> list[Plain]:
    """The pair that costs most to leave out, of single features; without one that is needed, the strongest."""
    by_strength = np.argsort(-np.nan_to_num(found.strength), kind="stable")
    acting = [found.sets[s] for s in by_strength if found.strength[s] > 0]
    names = explainer.data.schema.names  # a group has no axis
    pairs = [pair for pair in (*network.edges, *acting) if all(name in names for name in pair)]
    if not pairs:
        return []
    pair = pairs[0]
    try:
        effect, reason = _effect(explainer, pair, work)
    except PellucidError:
        return []
    size = _units(found, float(found.strength[found.position(*pair)]))
    sentences = [
        "Orange: the prediction is higher than the sum of the single effects; blue: lower.",
        f"The interaction moves predictions by about {size}, up or down.",
    ]
    if pair not in network.edges:
        sentences.append("The model hardly needs this pair; it is shown because no other is stronger.")
    made = card(
        "pair",
        " and ".join(pair),
        work.keep(effect),
        subtitle=f"{effect.heading}, without the main effects",
        sentences=sentences,
        why=reason,
        advice={"empty-cells": "Look only at cells with rows."},
    )
    return [made]


def _effect(explainer: Explainer, pair: Sequence[str], work: Work) -> tuple[Effect, str]:
    """What the pair does beyond its single effects, and why it is shown in this way."""
    n = len(explainer.data)
    columns = [explainer.data.schema.index(name) for name in pair]
    for j in columns:
        found = explainer._off_data(j, work.run)
        if found is not None:
            reason = staying_near(explainer.data.schema.names[j], *found)
            return explainer.ale(tuple(pair), bins=int(np.clip(isqrt(n // _CELL), *_CELLS))), reason
    rows = spread(explainer, _PICTURE).tolist()
    grid = int(np.clip(isqrt(n // _POINT), *_POINTS))
    return explainer.pdp(tuple(pair), grid=grid, pure=True, rows=rows), ""
