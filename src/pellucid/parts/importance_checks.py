"""What word importance cannot be trusted for.

- *rare-words*: how much of all that words contribute comes from words in too few texts to be ranked;
- *sign-flips*: in what share of its texts an important word has the opposite sign;
- *sampling-error*: how large the sampling error of single contributions is, relative to the importance;
- *long-texts*: what share of the texts was left out because they are long.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.diagnostics.general import interrupted, unsteady
from pellucid.explanations import Caveat
from pellucid.parts.word_importance import WordImportance, quoted
from pellucid.runner import Run
from pellucid.words import counted, listed, percent

_LOOKED = 20  # of the most important words
_RARE = 0.3
_OPPOSITE = 0.2
_NOISY = 0.3
_LONG = 0.05


def word_caveats(result: WordImportance, run: Run, instability: float) -> tuple[Caveat, ...]:
    """Everything known against the importance of these words."""
    return (
        *interrupted(run),
        *unsteady(instability),
        *_rare(result),
        *_opposite(result),
        *_noise(result),
        *_long(result),
    )


def _looked(result: WordImportance) -> list[int]:
    """Positions of the most important words."""
    return [int(j) for j in result.ranking if result.ranked[j]][:_LOOKED]


def _rare(result: WordImportance) -> Iterator[Caveat]:
    totals = result.stacked().sum(axis=-1) * result.texts
    share = float(totals[~result.ranked].sum() / (totals.sum() or 1.0))
    if share > _RARE:
        few = int((~result.ranked).sum())
        yield Caveat(
            code="rare-words",
            message=(
                f"{percent(share)} of all absolute contributions come from the {counted(few, result.unit)} in"
                " fewer than"
                f" {counted(result.min_texts, 'text')}, which are not ranked: the ranking describes only a part of what"
                " the model does."
            ),
            value=share,
            threshold=_RARE,
            advice="Explain more texts (a longer list, or a larger sample=).",
        )


def _opposite(result: WordImportance) -> Iterator[Caveat]:
    """Important words whose sign depends on the context."""
    opposite, sizes = result.stacked("opposite"), result.stacked()
    found = []
    for j in _looked(result):
        k = int(np.argmax(sizes[j]))  # the output that the word moves most
        if opposite[j, k] > _OPPOSITE:
            found.append((float(opposite[j, k]), result.feature_names[j]))
    if found:
        worst, name = max(found)
        ranked = sorted(found, key=lambda each: -each[0])
        said = [f"{quoted(word)} ({percent(share)} of its texts)" for share, word in ranked]
        yield Caveat(
            code="sign-flips",
            message=(
                f"Whether a {result.unit} raises or lowers the prediction depends on the context: the"
                " contribution has the"
                f" opposite sign for {listed(said, 5)}."
            ),
            value=worst,
            threshold=_OPPOSITE,
            advice=(
                f"Do not read the mean contribution of these {result.unit}s as their effect; look at single texts with"
                " shap(text, interactions=True)."
            ),
            feature=name,
        )


def _noise(result: WordImportance) -> Iterator[Caveat]:
    """Absolute values of noise add up."""
    some, sizes, noise = _looked(result), result.stacked(), result.stacked("noise")
    share = float(noise[some].sum() / (sizes[some].sum() or 1.0))
    if share > _NOISY:
        yield Caveat(
            code="sampling-error",
            message=(
                f"The sampling error of a single contribution is {percent(share)} of the importance of the leading"
                f" {result.unit}s, which makes {result.unit}s look more important than they are."
            ),
            value=share,
            threshold=_NOISY,
            advice="Raise budget=, the model rows for each text; 20 for each word are usually enough.",
        )


def _long(result: WordImportance) -> Iterator[Caveat]:
    left_out = int(result.settings["left_out"])
    share = left_out / (left_out + result.explained)
    if share > _LONG:
        most = result.settings["most"]
        yield Caveat(
            code="long-texts",
            message=(
                f"{percent(share)} of the texts ({left_out:,}) have more than {most:,} {result.unit}s and were"
                " left out."
            ),
            value=share,
            threshold=_LONG,
            advice="Raise most=, or split long texts into paragraphs.",
        )
