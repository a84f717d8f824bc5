"""LIME for texts and images: a sparse linear model of which words, or segments, are there.

Reference. Ribeiro, Singh and Guestrin 2016, "Why should I trust you? Explaining the predictions of any classifier".

Definition. z' says of every part whether it is there (1) or absent (0); the text or image itself has ones only. The
explanation is

    g(z') = w_0 + sum over at most K parts of w_j z'_j    that minimises    sum over variants z of  pi(z) (f(z) -
    g(z'))^2

A part's effect is its weight, since it is there; the effects start from w_0, what g says when all are absent.

Estimator. Variants are drawn with the number of absent parts uniform from none to all and these parts at random
(``sampler="count"``), or every part absent with probability 1/2 (``"coin"``, as in the textbook: of a whole of many
parts no such variant is near it). Where all variants together are no more than ``samples`` each is taken once: nothing
is left to chance. A variant's weight is 1 - share of absent parts (``kernel="share"``; to the power 1 / width, which is
1), or exp(-D^2 / width^2) (``"exponential"``) with D the cosine distance of z' to the ones, the root of the share of
absent parts ("euclidean"), or for images the root mean square change of the pixels, 1 when everything is absent
("pixels"). Parts are chosen and weights fitted as for tables (`local_fit`).

When it misleads.
1. Texts without some words and images with painted segments are unlike anything the model was trained on (caveat
   "absence").
2. Weights depend on what counts as near (`width_search`, caveat "width-decides").
3. Parts that work only together do not add up (`fidelity`, caveats "low-fidelity" and "local-miss").
4. Other variants give other weights (`stability`, caveat "unstable"; ``tolerance`` adds variants).
5. The effects add up to the local prediction, not to the model's.

Cost. ``samples`` texts or images at most, equal ones once; twice, four times, ... as many with ``tolerance``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import fraction, one_of, optional, settle, whole
from pellucid.data.distance import Kernel, exponential, kernels
from pellucid.errors import InputError
from pellucid.explanations.attribution import Entries
from pellucid.explanations.explanation import headed, squeeze_outputs
from pellucid.games import all_coalitions
from pellucid.methods.local.surrogate.fitting import MODELS, Model
from pellucid.methods.local.surrogate.local_fit import LocalFit, Task, fit_row
from pellucid.methods.local.surrogate.neighbourhood import BLOCKS
from pellucid.methods.local.surrogate.options import Options, check_width
from pellucid.methods.local.surrogate.selection import SELECTS, Select
from pellucid.methods.local.surrogate.stability import repeat_counts
from pellucid.methods.local.surrogate.width import default_width, width_search
from pellucid.models.outputs import log_odds
from pellucid.parts.checks import lime_caveats
from pellucid.parts.game import Games, PartGame, Remembered, empty_predictions
from pellucid.parts.local import FittedVariants, LocalPartAttribution
from pellucid.parts.model import WholeModel
from pellucid.parts.shap import MOST_PARTS
from pellucid.runner import Run

Draw = Literal["count", "coin"]
PartDistance = Literal["cosine", "euclidean", "pixels"]
DRAWS = ("count", "coin")
KERNELS = ("share", "exponential")
_FEWEST = 100
_MOST = 16  # times the samples, with a tolerance
_ROWS = 100
_AT_ONCE = 10  # variants of each block between two looks at the keyboard
_ROUNDING = 1e-10  # of the weights: a starting point that is zero
_COSINE_WIDTH = 0.25  # the habit of other packages
L = TypeVar("L", bound=LocalPartAttribution)


class LimeOptions(TypedDict, total=False):
    """Options of `lime`, for texts and images alike."""

    features: int
    samples: Any
    sampler: Draw
    kernel: Any
    distance: PartDistance
    width: Any
    model: Model
    select: Select
    tolerance: float | None


@dataclass(frozen=True, eq=False)
class LimeEffort:
    """How a local model of parts is made; ``samples`` may be variants of the caller's own, ones for what is there."""

    features: int = 6
    samples: Any = 1000
    sampler: Draw = "count"
    kernel: Any = "share"
    distance: PartDistance = "cosine"
    width: Any = "default"
    model: Model = "linear"
    select: Select = "auto"
    tolerance: float | None = None

    def __post_init__(self) -> None:
        known = {"sampler": DRAWS, "model": MODELS, "select": SELECTS}
        known["distance"] = ("cosine", "euclidean", "pixels")
        if not callable(self.kernel):
            known["kernel"] = KERNELS
        if isinstance(self.kernel, str) and self.kernel == "shap":
            raise InputError("kernel='shap' is not known for texts and images; use shap() for Shapley values.")
        for name, names in known.items():
            one_of(name, getattr(self, name), names)
        settle(
            self,
            features=whole("features", self.features),
            width=check_width(self.width),
            tolerance=optional(fraction, "tolerance", self.tolerance),
        )
        if np.ndim(self.samples) == 0:
            settle(self, samples=whole("samples", self.samples, least=_FEWEST))

    def settings(self) -> dict[str, Any]:
        """Everything needed to repeat it."""
        kernel = getattr(self.kernel, "__name__", "function") if callable(self.kernel) else self.kernel
        asked = {
            "features": self.features,
            "sampler": self.sampler,
            "kernel": kernel,
            "distance": self.distance,
            "width": self.width if isinstance(self.width, str) else float(self.width),
            "model": self.model,
            "select": self.select,
        }
        return asked if self.tolerance is None else {**asked, "tolerance": float(self.tolerance)}


def part_lime(kind: type[L], games: Games, model: WholeModel, *, effort: LimeEffort, run: Run) -> L:
    """The parts that a local model of a text or image needs, as a result of this kind."""
    parts = games.parts
    if effort.distance == "pixels" and parts.vocabulary.whole != "image":
        raise InputError("distance='pixels' is for images; use 'cosine' or 'euclidean'.")
    _refuse(len(parts.names), games.larger)
    game = games.game(model, run)
    fields = _local(game, parts.names, effort, games.changes(), run)
    settings = {"method": "lime", **games.settings(), **fields.pop("settings")}
    found = kind(
        game=parts.vocabulary.whole,
        parts=parts,
        entries=Entries(parts.data),
        **headed({**fields, "settings": settings}),
    )
    return _checked(found, game, empty_predictions(games, game, run), effort, run)


# -- variants ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Variants:
    """Variants ``there`` (blocks, n, parts) and the model's answers (blocks, n, outputs).

    Where ``listed`` all there are have been asked (all blocks are the same); else the blocks are independent draws.
    """

    there: BoolArray
    answers: FloatArray
    listed: bool

    @property
    def n(self) -> int:
        """How many there are."""
        return self.there.shape[1] * (1 if self.listed else BLOCKS)

    def shown(self) -> tuple[BoolArray, FloatArray]:
        """Each variant and its answer once, as drawn."""
        once = slice(1 if self.listed else BLOCKS)
        return self.there[once].reshape(self.n, -1), self.answers[once].reshape(self.n, -1)

    def joined(self, other: Variants) -> Variants:
        """With further draws, block by block."""
        there = np.concatenate([self.there, other.there], axis=1)
        return replace(self, there=there, answers=np.concatenate([self.answers, other.answers], axis=1))


def _variants(game: PartGame, known: Remembered, effort: LimeEffort, run: Run) -> Variants:
    """The first variants: the caller's own, all there are, or a sample of them."""
    if np.ndim(effort.samples):
        return _listed(_own(effort.samples, game.players), known)
    kept = np.flatnonzero(game.active[0])
    d = len(kept)
    if 2.0**d <= effort.samples:
        every = all_coalitions(d)
        there = np.ones((len(every), game.players), dtype=np.bool_)
        there[:, kept] = every
        return _listed(there, known)
    return _drawn(game, known, -(-int(effort.samples) // BLOCKS), effort.sampler, run, 0)


def _listed(there: BoolArray, known: Remembered) -> Variants:
    answers = known.worth(there)
    return Variants(
        np.broadcast_to(there, (BLOCKS, *there.shape)), np.broadcast_to(answers, (BLOCKS, *answers.shape)), listed=True
    )


def _drawn(game: PartGame, known: Remembered, each: int, sampler: Draw, run: Run, rounds: int) -> Variants:
    """``each`` variants of every block; fewer if the user interrupts and enough are known."""
    there = np.ones((BLOCKS, each, game.players), dtype=np.bool_)
    there[:, :, game.active[0]] = draw_parts(
        run.generator("parts.variants", rounds), BLOCKS * each, int(game.active[0].sum()), sampler
    ).reshape(BLOCKS, each, -1)
    answers: list[FloatArray] = []
    for start in range(0, each, _AT_ONCE):
        some = there[:, start : start + _AT_ONCE]
        with run.until_interrupted(lambda: sum(part.shape[1] for part in answers) * BLOCKS >= _FEWEST) as work:
            answers.append(known.worth(some.reshape(-1, game.players)).reshape(*some.shape[:2], -1))
        if work.cut:
            break
    done = np.concatenate(answers, axis=1)
    return Variants(there[:, : done.shape[1]], done, listed=False)


def draw_parts(generator: np.random.Generator, n: int, d: int, sampler: Draw) -> BoolArray:
    """Which of ``d`` parts are there in ``n`` variants."""
    if sampler == "coin":
        return np.asarray(generator.random((n, d)) < 0.5)
    absent = generator.integers(0, d + 1, size=n)
    order = generator.random((n, d)).argsort(axis=1).argsort(axis=1)
    return np.asarray(order >= absent[:, None])


def _own(given: Any, players: int) -> BoolArray:
    """Variants that the caller gives."""
    found = np.asarray(given)
    if found.ndim != 2 or found.shape[1] != players or len(found) < 2 or not np.isin(found, (0, 1)).all():
        raise InputError(
            f"samples has the shape {found.shape}; give a number of variants, or at least two variants with one 0 or 1"
            f" for each of the {players} parts."
        )
    if (found == found[0]).all():
        raise InputError("samples= has the same variant again and again; give variants that differ.")
    return found.astype(np.bool_)


# -- the local model ---------------------------------------------------------------------------------


def _local(game: PartGame, names: tuple[str, ...], effort: LimeEffort, change: FloatArray, run: Run) -> dict[str, Any]:
    """The fields of a result that come from the local model."""
    predictor = game.predictor
    if effort.model == "logistic" and predictor.scale != "probability":
        raise InputError(
            f"model='logistic' imitates probabilities, but the model gives a {predictor.scale}; use model='linear'."
        )
    known = Remembered(game)
    variants = _variants(game, known, effort, run)
    repeats = repeat_counts(BLOCKS, run.generator("parts.repeats"))
    rounds = 0
    while True:
        found = _fitted(game, variants, effort, change, repeats, compare=run.checks)
        done = effort.tolerance is None or 1.0 - float(found.fit.stability.min()) <= effort.tolerance
        if done or variants.listed or run.interrupted or variants.n >= _MOST * effort.samples:
            break
        rounds += 1
        more = _drawn(game, known, variants.there.shape[1], effort.sampler, run, rounds)
        variants = variants.joined(more)
    return _fields(game, names, effort, variants, found, run)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A local fit, the weights (n,) of the variants in it, and how often each variant was put in."""

    fit: LocalFit
    counts: FloatArray
    copies: int


def _fitted(
    game: PartGame, variants: Variants, effort: LimeEffort, change: FloatArray, repeats: FloatArray, *, compare: bool
) -> _Fitted:
    active, p = game.active[0], game.players
    few = -(-_ROWS // (BLOCKS * variants.there.shape[1]))  # the fit wants some rows, however few variants there are
    there, answers = np.repeat(variants.there, few, axis=1), np.repeat(variants.answers, few, axis=1)
    rows = BLOCKS * there.shape[1]
    flat = there.reshape(rows, p)
    columns = np.zeros((rows, max(p, 1)))  # a whole without parts has one that never changes
    columns[:, :p] = flat.astype(np.float64) - 1.0
    copies = BLOCKS * few if variants.listed else few
    distance = distances(flat[:, active], change[active], effort)
    kernel: Kernel = effort.kernel if callable(effort.kernel) else _KERNELS[effort.kernel]
    options = Options(
        features=effort.features,
        samples=rows,
        space="raw",
        sampler="data",
        distance="cosine",
        width=_width(effort, distance, p),
        kernel=_shared(kernel, copies),
        model=effort.model,
        select=effort.select,
        tolerance=effort.tolerance,
        boundary=None,
    )
    task = Task(columns, distance, answers.reshape(rows, -1), game.ends()[1][0])
    found = fit_row(task, options, repeats, compare=compare)
    counts = kernels(kernel, distance, np.array([found.width]))[0].reshape(BLOCKS, -1)[:, ::few]
    return _Fitted(found, counts[0] if variants.listed else counts.ravel(), copies)


def distances(there: BoolArray, change: FloatArray, effort: LimeEffort) -> FloatArray:
    """How far variants are from the whole, from 0 to 1; without parts they all are that whole."""
    if not there.shape[1]:
        return np.zeros(len(there))
    share = 1.0 - there.mean(axis=1)
    if effort.kernel == "share":  # of a single part the variant without it would count nothing
        return share / 2 if there.shape[1] == 1 else share
    if effort.distance == "cosine":
        return np.asarray(1.0 - np.sqrt(1.0 - share))
    total = float(change.sum())
    if effort.distance == "pixels" and total > 0:
        return np.sqrt(np.clip(1.0 - there @ change / total, 0.0, 1.0))
    return np.sqrt(share)


def share_kernel(distance: FloatArray, width: float) -> FloatArray:
    """1 - share of absent parts, at width 1; narrower widths fall off faster."""
    return np.asarray(np.maximum(1.0 - distance, 0.0) ** (1.0 / width))


_KERNELS: dict[str, Kernel] = {"share": share_kernel, "exponential": exponential}


def _shared(kernel: Kernel, copies: int) -> Kernel:
    """The kernel, for variants that are there several times."""
    return lambda distance, width: np.asarray(kernel(distance, width) / copies)


def _width(effort: LimeEffort, distance: FloatArray, p: int) -> Any:
    if effort.width != "default":
        return effort.width
    if effort.kernel == "share":
        return 1.0
    return _COSINE_WIDTH if effort.distance == "cosine" else default_width(distance, p, "cosine")


# -- wrapping ----------------------------------------------------------------------------------------


def _fields(
    game: PartGame, names: tuple[str, ...], effort: LimeEffort, variants: Variants, found: _Fitted, run: Run
) -> dict[str, Any]:
    fit, p, predictor = found.fit, game.players, game.predictor
    logistic = effort.model == "logistic"
    everybody = game.ends()[1]
    weights, errors = fit.coefficients[:p], fit.coefficients_se[:p]
    if effort.model == "tree":  # the changes on the way of the whole itself
        weights, errors = (fit.effects[:p], fit.entry_se([[j] for j in range(p)]) if p else fit.effects[:p])
    errors = 0.0 * errors if variants.listed else errors  # nothing was drawn
    base = fit.base + fit.effects.sum(axis=0) - weights.sum(axis=0)
    base = np.where(np.abs(base) > _ROUNDING * np.abs(weights).sum(axis=0), base, 0.0)
    there, answers = variants.shown()
    tried = replace(
        fit.widths,
        effective=fit.widths.effective / found.copies,
        weights=fit.widths.weights[:, :p],
        spread=fit.widths.spread[:, :p],
    )
    outputs = {
        "values": weights,
        "se": errors,
        "weights": weights,
        "bases": base,
        "fidelity": fit.fidelity,
        "selection": fit.selection,
        "stability": fit.stability,
        "agreement": fit.agreement,
        "radius": fit.radius,
        "within": fit.within,
    }
    settings = {
        **effort.settings(),
        "samples": variants.n,
        "listed": variants.listed,
        "all_variants": variants.listed and np.ndim(effort.samples) == 0,
        "random_state": run.seed,
        "classes": [str(label) for label in predictor.classes or ()],
    }
    return {
        "method": "lime",
        "scale": "log-odds" if logistic else predictor.scale,
        "output_names": predictor.output_names,
        **{name: squeeze_outputs(part[None]) for name, part in outputs.items()},
        "base": np.asarray(squeeze_outputs(base)),
        "prediction": squeeze_outputs(log_odds(everybody) if logistic else everybody),
        "feature_names": names,
        "terms": names,
        "width": np.array([fit.width]),
        "effective": np.array([fit.effective / found.copies]),
        "width_search": width_search([tried], [fit.width], np.ones((1, p)), predictor.output_names, "pandas"),
        "fitted": FittedVariants(
            there, found.counts, squeeze_outputs(answers), np.asarray(squeeze_outputs(fit.spread[None])), fit.nearest
        ),
        "settings": settings,
        "cost": run.cost(),
    }


def _checked(found: L, game: PartGame, bases: dict[str, FloatArray], effort: LimeEffort, run: Run) -> L:
    """The result with its caveats and what it cost in all."""
    if not run.checks:
        return run.finish(found)
    caveats = lime_caveats(
        found, run, instability=game.predictor.instability, ends=game.ends(), bases=bases, tolerance=effort.tolerance
    )
    return run.finish(found, caveats)


# -- checks of the options ---------------------------------------------------------------------------


def _refuse(parts: int, larger: str) -> None:
    if parts > MOST_PARTS:
        raise InputError(
            f"there are {parts:,} parts, more than the {MOST_PARTS:,} that can be taken away one by one; use fewer,"
            f" larger parts ({larger})."
        )
