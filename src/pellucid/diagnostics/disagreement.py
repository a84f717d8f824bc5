"""Two ways to explain the same thing disagree, and what that usually means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.off_data import associations
from pellucid.explanations import Attribution, Caveat, ImportanceComparison
from pellucid.explanations.agreement import IN_PART, Agreement, verdict
from pellucid.runner import Run
from pellucid.stats import Z95
from pellucid.words import number, percent

_LARGE = 0.1  # share of a feature that matters by one measure
_MOST = 3
_TIMES = 3.0  # and that is so many times smaller by another
_ABOUT_LOSS = ("permutation", "conditional", "drop", "sage")
_AVERAGED = ("pdp",)  # blind to interactions that cancel
_BY_DEPENDENCE = ("shapley-effects",)  # credit for what a feature tells of others, whether the model uses it or not
_GIVEN_OTHERS = ("conditional", "drop")  # what a feature adds to the others
_TOGETHER = 0.5
_GOOD_FIT = 0.8  # fidelity from which the local model is not to blame
_GAMES_DIFFER = 0.2
_FEW = 20.0  # rows behind a coalition: its worth is then known to 1 / sqrt(20) = 22% of the spread between them


def measures_disagree(result: ImportanceComparison, data: Data, run: Run) -> Iterator[Caveat]:
    """Features that matter by one measure and hardly by another, the widest gaps first."""
    shares, strengths = result.shares, associations(data, run)
    gaps = []
    for j in range(len(shares)):
        high, low = _extremes(result, j)
        if shares[j, high] >= _LARGE and shares[j, high] > _TIMES * shares[j, low] and _sure(result, j, high, low):
            gaps.append((float(shares[j, high] - shares[j, low]), j, high, low))
    for _, j, high, low in sorted(gaps, reverse=True)[:_MOST]:
        name, a, b = result.feature_names[j], result.methods[high], result.methods[low]
        why, advice = _meaning(a, b, _partner(result, data, j, strengths))
        yield Caveat(
            code="measures-disagree",
            message=(
                f"{name} has {percent(float(shares[j, high]))} of the importance by {a} but"
                f" {percent(float(shares[j, low]))} by {b}. {why}"
            ),
            value=float(shares[j, high] / shares[j, low]) if shares[j, low] > 0 else np.inf,
            threshold=_TIMES,
            advice=advice,
            feature=name,
        )


def _extremes(result: ImportanceComparison, j: int) -> tuple[int, int]:
    known = np.nan_to_num(result.shares[j])
    return int(np.argmax(known)), int(np.argmin(known))


def _sure(result: ImportanceComparison, j: int, high: int, low: int) -> bool:
    """Whether the smaller share stays small at the upper end of its interval (where there is one)."""
    part, column = result.parts[low], result.excess[:, low]
    error = Z95 * float(np.nan_to_num(result.se[j, low]))
    upper = max(float(result.values[j, low]) - part.neutral, 0.0) + error
    root = bool(result.squared[low])
    total = float(np.nansum(np.sqrt(column) if root else column))
    most = (np.sqrt(upper) if root else upper) / total if total > 0 else 0.0
    return bool(most < result.shares[j, high])


def _partner(
    result: ImportanceComparison, data: Data, j: int, strengths: FloatArray | None
) -> tuple[str, float] | None:
    """The feature outside this one that is most correlated with it."""
    players = data.schema.players()
    own = list(players[result.feature_names[j]])
    if strengths is None or len(own) == len(strengths):
        return None
    outside = np.array([k for k in range(len(strengths)) if k not in own], dtype=np.intp)
    most = strengths[own][:, outside].max(axis=0)
    return data.schema.names[int(outside[np.argmax(most)])], float(most.max())


def _meaning(high: str, low: str, partner: tuple[str, float] | None) -> tuple[str, str]:
    """What such a difference usually means, by what the two methods measure and what the data show."""
    tied = partner is not None and partner[1] >= _TOGETHER
    if high in _BY_DEPENDENCE and tied and partner is not None:
        return (
            (
                f"It is correlated with {partner[0]} ({number(partner[1])}): {high} credits it with part of the"
                " information that both carry, even where the model uses only the other."
            ),
            "Read correlated features as one group (groups=, see clusters()).",
        )
    if low in _GIVEN_OTHERS and tied and partner is not None:
        return (
            (
                f"It is correlated with {partner[0]} ({number(partner[1])}): the model relies on it, but it adds little"
                " to the others."
            ),
            "Read correlated features as one group (groups=, see clusters()).",
        )
    if low in _AVERAGED:
        return (
            "Its effect cancels in the average over rows: it works through interactions.",
            "Look at interactions() and at ice() of this feature.",
        )
    if low in _ABOUT_LOSS and high not in _ABOUT_LOSS:
        return (
            (
                "Predictions move with it but do not improve by it on these rows, as with a feature that the model has"
                " overfitted."
            ),
            "Compare with held-out rows, and with a model fitted without it.",
        )
    if tied and partner is not None:
        return (
            (
                f"It is correlated with {partner[0]} ({number(partner[1])}), and the measures divide the information"
                " that both carry differently."
            ),
            "Read correlated features as one group (groups=, see clusters()).",
        )
    return (
        "The measures answer different questions; interactions are the usual reason for a difference.",
        "Look at interactions() of this feature before choosing one of them.",
    )


def two_scales(result: Agreement) -> Iterator[Caveat]:
    """Contributions to log-odds beside a local model of probabilities, or the other way round."""
    one, near = result.contributions.scale, result.local.scale
    if one != near:
        yield Caveat(
            code="two-scales",
            message=(
                f"The contributions are to the {one}, the local model is of the {near}: near 0 and 1 a feature can move"
                " one of them much and the other hardly at all."
            ),
            value=0.5,  # signs and ranks often agree, sizes cannot
            threshold=0.0,
            advice="Compare on one scale: shap(..., scale='probability').",
        )


def methods_disagree(result: Agreement) -> Iterator[Caveat]:
    """Contributions and effects that point in different directions, with the likelier reason."""
    if not result.likeness < IN_PART:
        return
    fidelity = float(result.local.fidelity[0])
    if fidelity < _GOOD_FIT:
        why = f"The local model fits poorly (R² {number(fidelity)})"
        advice = "Rely on the contributions, which add up to the prediction."
    else:
        why = (
            f"The local model fits well (R² {number(fidelity)}), so small changes to the row have other effects than"
            " its difference from an average row"
        )
        advice = (
            "Read the local model for small changes to the row, the contributions for its difference from the average."
        )
    yield Caveat(
        code="methods-disagree",
        message=(
            f"Contributions and local model {verdict(result.likeness)} (cosine similarity {number(result.likeness)})."
            f" {why}."
        ),
        value=1.0 - result.likeness,
        threshold=1.0 - IN_PART,
        advice=advice,
    )


def path_game(result: Attribution, path: FloatArray, marginal: FloatArray) -> Iterator[Caveat]:
    """How far the path game is from the marginal game on the same rows of the data."""
    size = float(np.abs(marginal).sum())
    share = float(np.abs(path - marginal).sum()) / size if size > 0 else 0.0
    if share > _GAMES_DIFFER:
        by_player = np.abs(path - marginal).sum(axis=(0, 2))
        name = result.feature_names[int(np.argmax(by_player))]
        yield Caveat(
            code="path-game",
            message=(
                f"The path game differs from the marginal game by {percent(share)} of all contributions, most of all"
                f" for {name}: features are credited for others that are correlated with them in the trees."
            ),
            value=share,
            threshold=_GAMES_DIFFER,
            advice="Use game='marginal' for what the model itself does with each feature.",
            feature=name,
        )


def conditional_game(result: Attribution, effective: float | None) -> Iterator[Caveat]:
    """The conditional game describes the data as much as the model; ``effective`` rows stand behind its thinnest
    coalition.

    Its number is 1 / sqrt(effective), the error of that coalition's worth in standard deviations of the
    predictions it averages. It is told whenever this game was played, and becomes a warning of its own below 20 rows.
    """
    if result.game != "conditional":
        return
    error = 1.0 if effective is None or effective <= 0 else float(1.0 / np.sqrt(effective))
    few = effective is not None and effective < _FEW
    thin = ""
    if effective is not None:
        thin = f" The thinnest coalition rests on about {number(effective)} rows" + (
            f", so its value is known only to within {percent(error)} of the spread between them." if few else "."
        )
    yield Caveat(
        code="conditional-game",
        message=(
            "The conditional game credits a feature that the model ignores for those it is correlated with, and may"
            f" treat two features differently that the model treats alike.{thin}"
        ),
        value=error,
        threshold=1.0 / np.sqrt(_FEW) if few else 0.0,
        advice=(
            "Give more reference rows, or groups= of correlated features so that fewer are known at a time;"
            " game='marginal' shows what the model itself does."
            if few
            else "Use game='marginal' for what the model itself does with each feature."
        ),
    )
