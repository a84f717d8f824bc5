"""What acts together: which pairs of features the model needs, how strongly they interact, and what the first one looks like."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from pellucid.diagnostics.off_data import off_data_caveat
from pellucid.errors import InputError, PellucidError
from pellucid.explanations import Effect, Importance, Interactions, Network
from pellucid.explanations.words import listed, number, percent
from pellucid.report.asking import spread, with_fewer_rows
from pellucid.report.cards import Plain, card, section, table
from pellucid.report.why import Why
from pellucid.report.work import Work

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "What acts together"
LOSS = 0.01  # of the variance, that the network may lose
MOST = 10  # features whose pairs are looked at
_DATA = 5_000  # rows of the data that are looked at
_ASKED = 300_000  # model rows, where the model has to be asked
_READ = 200_000  # and where it is read, for the costs of leaving pairs out
_FEWEST = 30  # rows
_PAIRS = 10  # shown
_CELL = 20  # rows in a cell of the picture, on average
_CELLS = (4, 15)  # along a feature
_PICTURE = 200  # rows that a picture is averaged over, where the model has to be asked
_MEANING = (
    "Two features act together (interact) when what one does depends on the value of the other, so that their single "
    "effects do not tell the whole story."
)


def interaction_section(
    explainer: Explainer, importance: Importance, why: Why, output: str, work: Work
) -> tuple[Plain, list[str]]:
    """The chapter, and its finding in a sentence."""
    names = varying_players(explainer, importance)
    if len(names) < 2:
        nothing = "There is only one feature that varies, so there is nothing for it to act together with."
        return section("interactions", TITLE, [nothing]), []
    try:
        fewer = with_fewer_rows(explainer, _DATA)
        asked = work.keep(_ask(fewer, names[:MOST], why, work))
    except PellucidError as error:
        instead = f"explainer.interactions(features={names[:4]!r}) asks about some features at any price."
        return section("interactions", TITLE, [_MEANING, f"Interactions are not shown: {error}", instead]), []
    found = of_output(asked, output)
    network = found.network(LOSS)
    cards = [_network_card(network)] if network.feature_names else []
    if np.nanmax(found.values, initial=0.0) > 0:
        cards.append(_pairs_card(found))
        cards += _picture(fewer, found, network, why, work)
    intro = [_MEANING, *_how(explainer, asked, names, output)]
    return section("interactions", TITLE, intro, cards=cards), [in_short(network)]


def varying_players(explainer: Explainer, importance: Importance) -> list[str]:
    """Features and groups with more than one value, the most important first."""
    schema, players = explainer.data.schema, explainer.data.schema.players()
    ranked = importance.top(len(importance.feature_names))
    return [name for name in ranked if any(schema.features[j].distinct > 1 for j in players[name])]


def of_output(found: Interactions, output: str) -> Interactions:
    """The interactions in one output alone."""
    if found.values.ndim == 1:
        return found
    k = found.output_names.index(output)
    several = ("values", "se", "low", "high", "strength", "joint", "costs", "cost_se")
    parts = {name: getattr(found, name)[:, k] for name in several}
    additive = found.additive[k : k + 1] if found.additive.size else found.additive
    return dataclasses.replace(found, **parts, additive=additive, output_names=(output,))


def in_short(network: Network) -> str:
    """The finding in a sentence that can be acted upon."""
    lost = network.additive
    if lost == 0:
        return "No features act together: the model adds up what each feature does on its own."
    if not network.edges:
        return (
            f"Hardly any features act together: adding up what each does on its own loses {percent(lost)} of the variance of "
            "the predictions."
        )
    first = " and ".join(network.edges[0])
    cost = f" ({percent(float(network.values[0]))} of the variance of the predictions)"
    more = f"; without any interaction the model loses {percent(lost)}" if np.isfinite(lost) else ""
    return f"{first} act together most{cost}{more}."


# -- asking ------------------------------------------------------------------------------------------


def _ask(explainer: Explainer, names: Sequence[str], why: Why, work: Work) -> Interactions:
    """Pairs among these features, from as many rows as can be afforded."""
    n, sets = len(explainer.data), len(names) + len(names) * (len(names) - 1) // 2
    if why.asking is not None and why.asking.read:
        rows = work.affordable(_READ) // (2 * sets)  # pairs, and as many triples
        return explainer.interactions(list(names), rows=None if work.affordable(_READ) == _READ else rows)
    rows = isqrt(work.affordable(_ASKED) // sets)
    if rows < min(_FEWEST, n):
        raise InputError(
            f"the model ({explainer.predictor.name}) is slow: {_FEWEST} rows would take {_FEWEST**2 * sets:,} model rows."
        )
    thrifty = why.asking.explainer.background if why.asking is not None else None
    del thrifty
    return explainer.interactions(list(names), rows=min(rows, n) if n > 1 else None)


def _how(explainer: Explainer, found: Interactions, names: Sequence[str], output: str) -> list[str]:
    """What was looked at."""
    said = []
    if len(names) > MOST:
        said.append(f"Looked at are the pairs of the {MOST} most important of {len(names):,} features.")
    rows, n = int(found.settings["rows"]), len(explainer.data)
    if rows < n:
        said.append(f"The values of pairs rest on {rows:,} of {n:,} rows.")
    if len(found.output_names) > 1:
        said.append(
            f"Of {len(found.output_names)} outputs, {output} is shown; explainer.interactions() has them all."
        )
    return [" ".join(said)] if said else []


# -- cards -------------------------------------------------------------------------------------------


def _network_card(network: Network) -> Plain:
    return card(
        "network",
        "What the model needs",
        network,
        subtitle=f"Features and pairs without which the model would lose more than {percent(LOSS)} of the variance of its predictions",
        sentences=[_what_to_do(network), *network.findings()],
    )


def _what_to_do(network: Network) -> str:
    if not network.edges:
        return (
            "The model is additive, or nearly so: the charts of single features (How it responds) can be read one by one, and a "
            "model that adds up such curves could stand in for it."
        )
    partners = {name: sum(name in pair for pair in network.edges) for name in network.feature_names}
    free = [name for name, count in partners.items() if count == 0]
    alone = f" {listed(free)} can be read alone." if free else ""
    pairs = listed([" with ".join(pair) for pair in network.edges[:3]])
    return f"Lines join features that have to be read together, above all {pairs}.{alone}"


def _pairs_card(found: Interactions) -> Plain:
    return card(
        "pairs",
        "Strength of the pairs",
        found,
        subtitle="Left: Friedman's H, which part of what two features do together is interaction. Right: how far that moves predictions",
        sentences=[
            *found.findings()[:1],
            "Read both sides: H can be large for a pair that moves predictions by next to nothing.",
        ],
        values=_pair_table(found),
        more=found.findings()[1:],
        max_display=_PAIRS,
    )


def _pair_table(found: Interactions) -> Plain:
    """The strongest pairs in the units of the prediction."""
    order = np.argsort(-np.nan_to_num(found.strength), kind="stable")[:_PAIRS]
    rows = []
    for s in order:
        low, high = number(float(found.low[s])), number(float(found.high[s]))
        cost = found.cost_of(*found.sets[s])
        rows.append(
            [
                " × ".join(found.sets[s]),
                number(float(found.values[s])),
                f"{low} to {high}",
                percent(cost) if np.isfinite(cost) else "not measured",
                number(float(found.strength[s])),
            ]
        )
    head = ("Pair", "H", "95% interval", "Cost of leaving it out", "In units of the prediction")
    return table(head, rows, shown=5, what="pairs")


# -- the picture of the strongest pair ---------------------------------------------------------------


def _picture(
    explainer: Explainer, found: Interactions, network: Network, why: Why, work: Work
) -> list[Plain]:
    """The pair that costs most to leave out, of single features; without one that is needed, the strongest."""
    by_strength = [found.sets[s] for s in np.argsort(-np.nan_to_num(found.strength), kind="stable")]
    names = explainer.data.schema.names
    pairs = [pair for pair in (*network.edges, *by_strength) if all(name in names for name in pair)]
    if not pairs:
        return []
    pair, needed = pairs[0], pairs[0] in network.edges
    try:
        effect, reason = _effect(explainer, pair, why, work)
    except PellucidError:
        return []
    head, *sentences = effect.findings()
    signs = "Orange: together they predict more than the sum of what each does alone; blue: less."
    small = [] if needed else ["The model hardly needs this pair; it is shown as the strongest there is."]
    made = card(
        "pair",
        " and ".join(pair),
        work.keep(effect),
        subtitle=f"{head.removesuffix('.')}, without what each does alone",
        sentences=[signs, *sentences, *small],
        why=reason,
    )
    return [made]


def _effect(explainer: Explainer, pair: Sequence[str], why: Why, work: Work) -> tuple[Effect, str]:
    """What the pair does beyond its single effects, and why it is shown in this way."""
    cells = int(np.clip(isqrt(len(explainer.data) // _CELL), *_CELLS))
    columns = [explainer.data.schema.index(name) for name in pair]
    for j in columns:
        for caveat in off_data_caveat(explainer.data, j, work.run, method="partial dependence"):
            reason = f"{caveat.message} Accumulated local effects stay near the data."
            return explainer.ale(tuple(pair), bins=cells), reason
    rows = spread(explainer, _PICTURE).tolist()
    return explainer.pdp(tuple(pair), grid=_CELLS[1], pure=True, rows=rows), ""
