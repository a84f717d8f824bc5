"""Shapley values of the words of a text and of the segments of an image.

Lundberg and Lee 2017; interpretable parts of texts and images: Ribeiro, Singh and Guestrin 2016.

Definition. The players are the parts. v(S) is what the model says to the text or image with only the parts of S: the absent
words are taken out (or masked), the absent segments painted over. The contributions are the Shapley values of v; they
start from v(nobody), the prediction with everything absent, not from an average prediction, and lead to the prediction.

Estimator. Those of any game: all coalitions where there are at most 14 parts, else pairs of coalitions with standard
errors.

When it misleads:
1. texts without some words and images with painted segments are unlike anything the model was trained on;
2. the parts are a choice: other words, phrases or segments share the prediction out differently (caveat
   "cut-dependence");
3. what stands for absence is a choice: a grey segment may itself look like something (caveat "absence");
4. all parts share the prediction, none is left out.

Cost. One model row per coalition: 2^parts - 2, or twice (512 + parts), from 100 parts on 20 for each; four to see
whether the model is steady, and at most 17 for the caveats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations.explanation import changed, headed, squeeze_outputs
from pellucid.games import all_coalitions
from pellucid.methods.attribution.estimators import MOST_PLAYERS, Effort, solve
from pellucid.methods.attribution.shapley_exact import shapley_values
from pellucid.parts.attribution import ImageAttribution, PartAttribution, TextAttribution, unique_names
from pellucid.parts.checks import shap_caveats
from pellucid.parts.game import ActiveGame, ImageGame, PartGame, TextGame
from pellucid.parts.model import WholeModel
from pellucid.parts.segments import Absent, Segmenter, absent_image, absent_name, plain_colours, segment
from pellucid.parts.tokens import Span
from pellucid.runner import Run

_BLOCKS = 4  # of parts, that are also taken as one player each
_LISTED = 20
_FEWEST = 16
_MANY = 100  # parts; for more of them the usual number of coalitions is too small
_EACH = 20  # coalitions for each part, where there are many
MOST_PARTS = 2000

M = TypeVar("M", bound=PartAttribution)


def text_shap(
    model: WholeModel,
    text: str,
    spans: list[Span],
    *,
    unit: str,
    mask: str,
    words: int,
    effort: Effort,
    batch: int,
    run: Run,
) -> TextAttribution:
    """Contributions of the parts of a text, given by their spans."""
    game = TextGame(model, text, spans, mask, run, batch)
    tokens = tuple(text[start:end] for start, end in spans)
    names = unique_names(tokens)
    fields = _solved(game, effort, "by='auto' or by='sentence'", run)
    settings = {"method": "shap", "unit": unit, "words": words, "mask": mask, **fields.pop("settings")}
    found = TextAttribution(
        game="text",
        source=text,
        spans=np.array(spans, dtype=np.intp).reshape(-1, 2),
        unit=unit,
        mask=mask,
        players=names,
        data=tuple(np.array([token], dtype=object) for token in tokens),
        **headed({**fields, "feature_names": names, "settings": settings}),
    )
    return _checked(found, game, _quarters(len(spans)), {}, run)


def image_shap(
    model: WholeModel,
    image: AnyArray,
    *,
    segmenter: Segmenter,
    segments: int | tuple[int, int],
    absent: Absent,
    effort: Effort,
    batch: int | None,
    run: Run,
) -> ImageAttribution:
    """Contributions of the segments of an image."""
    labels = segment(image, segmenter, segments)
    game = ImageGame(model, image, labels, absent_image(image, labels, absent), run, batch)
    names = tuple(f"segment {k + 1}" for k in range(game.players))
    fields = _solved(game, effort, "segments=", run)
    chosen = absent_name(absent, image)
    settings = {
        "method": "shap",
        "segmenter": segmenter if isinstance(segmenter, str) else "given",
        "segments": game.players,
        "absent": absent if isinstance(absent, str) else chosen,
        **fields.pop("settings"),
    }
    shares = np.bincount(labels.ravel()) / labels.size
    found = ImageAttribution(
        game="image",
        image=image,
        segments=labels,
        absent=chosen,
        players=names,
        data=tuple(np.array([share]) for share in shares),
        **headed({**fields, "feature_names": names, "settings": settings}),
    )
    bases = {}
    with run.checking():
        for name, colour in plain_colours(image, absent).items() if run.checks else ():
            with run.counting(1):
                bases[name] = game.predictor(absent_image(image, labels, colour)[None], 1)[0]
    return _checked(found, game, _quadrants(found.centres), bases, run)


# -- solving -----------------------------------------------------------------------------------------


def _solved(game: PartGame, effort: Effort, larger: str, run: Run) -> dict[str, Any]:
    """The fields of a result that come from the game."""
    active = ActiveGame(game)
    _refuse(active.players, effort, larger)
    one = active.players < 2 and effort.method in ("kernel", "permutation")  # nothing to sample
    budget = _budget(active.players, effort)
    found = solve(active, replace(effort, method="exact" if one else effort.method, budget=budget), run)
    shape, kept = (1, game.players, game.outputs), active.kept
    values, se = np.zeros(shape), np.zeros(shape)
    values[:, kept], se[:, kept] = found.values, found.se
    pairs = None
    if found.interactions is not None:
        pairs = np.zeros((1, game.players, *shape[1:]))
        pairs[:, kept[:, None], kept] = found.interactions
    nobody, everybody = game.ends()
    settings = {
        "algorithm": found.method,
        "interactions": effort.interactions,
        "random_state": run.seed,
        "classes": [str(label) for label in game.predictor.classes or ()],
        **found.settings,
    }
    return {
        "method": found.method,
        "scale": game.predictor.scale,
        "output_names": game.predictor.output_names,
        "values": squeeze_outputs(values),
        "se": squeeze_outputs(se),
        "base": np.asarray(squeeze_outputs(nobody[0])),
        "prediction": squeeze_outputs(everybody),
        "interaction_values": None if pairs is None else squeeze_outputs(pairs),
        "interaction_index": effort.index or "",
        "settings": settings,
        "cost": run.cost(),
    }


def _budget(players: int, effort: Effort) -> int | None:
    """The number of coalitions; one of our own for many parts, so that standard errors can be trusted."""
    if effort.budget is not None:
        return int(effort.budget)
    usual = effort.tolerance is None and effort.method in ("auto", "kernel")
    return _EACH * players if usual and players > _MANY else None


def _refuse(players: int, effort: Effort, larger: str) -> None:
    """Too many parts, or too small a budget, with what can be done about it here."""
    if players > MOST_PARTS:
        raise InputError(
            f"there are {players:,} parts, more than the {MOST_PARTS:,} that can be played with one by one; use fewer,"
            f" larger parts ({larger})."
        )
    if effort.method == "exact":
        most = MOST_PLAYERS if effort.budget is None else min(_LISTED, int(np.log2(effort.budget + 2)))
        if players > most:
            raise InputError(
                f"method='exact' goes through all coalitions, which takes at most {most} parts, but there are"
                f" {players}; use method='kernel', or fewer, larger parts ({larger})."
            )
    elif players > 1 and effort.budget is not None and effort.method in ("auto", "kernel", "permutation"):
        every = 2.0**players - 2
        each = 2 * players - 1 if effort.method == "permutation" else 2
        fewest = _FEWEST if effort.method == "permutation" else max(players, _FEWEST)
        needed = fewest * each if effort.method == "permutation" else min(fewest * each, every)
        if effort.budget < needed:
            raise InputError(
                f"budget={effort.budget} is too small: {players} parts take at least {needed:,.0f} model rows; give a"
                f" larger budget, or fewer, larger parts ({larger})."
            )


# -- checking ----------------------------------------------------------------------------------------


def _checked(found: M, game: PartGame, blocks: IntArray, bases: Mapping[str, FloatArray], run: Run) -> M:
    """The result with its caveats and what it cost in all."""
    if not run.checks:
        return changed(found, cost=run.cost())
    caveats = shap_caveats(
        found, run, instability=game.predictor.instability, blocks=blocks, joint=_joint(game, blocks, run), bases=bases
    )
    return changed(found, caveats=caveats, cost=run.cost())


def _joint(game: PartGame, blocks: IntArray, run: Run) -> FloatArray | None:
    """Contributions ``(blocks, outputs)`` where each block of parts is one player; None if that is the same game."""
    n = int(blocks.max(initial=-1)) + 1
    if n < 2 or n == game.players:
        return None
    with run.checking():
        inner = game.worth(all_coalitions(n)[1:-1][:, blocks])
    nobody, everybody = game.ends()
    v = np.concatenate([nobody[:, None], inner, everybody[:, None]], axis=1)
    return shapley_values(v)[0]


def _quarters(n: int) -> IntArray:
    """Neighbouring parts in at most four blocks."""
    return np.arange(n, dtype=np.intp) * min(_BLOCKS, n) // max(n, 1)


def _quadrants(centres: FloatArray) -> IntArray:
    """The quarters of the image in which the segments have their middle, numbered without gaps."""
    quarter = 2 * (centres[:, 0] > 0.5) + (centres[:, 1] > 0.5)
    return np.unique(quarter, return_inverse=True)[1].reshape(-1).astype(np.intp)
