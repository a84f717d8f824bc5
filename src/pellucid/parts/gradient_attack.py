"""Adversarial examples of images along the gradient: a little change of every pixel.

Reference. Goodfellow, Shlens and Szegedy 2015 (the fast gradient sign method: one step); Kurakin, Goodfellow and Bengio
2017 and Madry et al. 2018 (several steps, each projected onto the ball).

Definition. Of all images z within the range of values, in the type of the image, the nearest whose prediction is in the
target T:

    min ||z - x||   such that   f(z) in T

by the largest change of a pixel (Linf) or the root of the mean square (L2), as shares of the range from black to white.

Estimator. The derivative of how near the prediction is to the target, g(z): the model's own derivatives, or
differences. One step x + e sign g(x) with the least e that does it; then, for smaller balls by bisection, ``steps``
steps of z + 2.5 e / steps sign g(z), each projected onto the ball of radius e and onto the range of values (of L2,
along g itself); at last shortened towards x. Every image is rounded to its type before it is asked.

When it misleads:
1. it is an upper bound: another start or more steps may find less;
2. a saturated model, or one that goes in steps, has derivatives of 0: nothing is found, and the result says so;
3. an image near the border is turned by random noise of the same size, too: that share is measured.

Cost. One image and one derivative per step, at most ``budget`` in all; a derivative by differences costs two images per
value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.checks import one_of, optional, whole
from pellucid.diagnostics.general import interrupted, unsteady
from pellucid.errors import InputError
from pellucid.explanations import Caveat, Header
from pellucid.parts.aim import Aim
from pellucid.parts.attack import ImageAttack
from pellucid.parts.model import WholeModel, WholePredictor
from pellucid.parts.segments import colours, value_range
from pellucid.runner import Run

ATTACK_NORMS = ("linf", "l2")
_MOST_VALUES = 4096  # of an image whose derivatives are differences
_BUDGET = 20_000
_STEP = 1e-3  # of the range, for differences
_SLOPE = 1e-6  # in the outputs, of their size: the target is a known function of them
_HALVINGS = 8
_DRAWS = 20  # random changes of the same size


@dataclass(frozen=True, eq=False)
class AttackEffort:
    """What is asked for, by which norm, and how long it is looked for."""

    target: Any = None
    norm: str = "linf"
    steps: int = 10
    budget: int | None = None

    def __post_init__(self) -> None:
        one_of("norm", self.norm, ATTACK_NORMS)
        object.__setattr__(self, "steps", whole("steps", self.steps))
        object.__setattr__(self, "budget", optional(whole, "budget", self.budget))


def gradient_attack(image: AnyArray, model: WholeModel, effort: AttackEffort, run: Run) -> ImageAttack:
    """The smallest change along the gradient that makes the model say something else."""
    quest = _Quest(image, model.in_full(), effort, run)
    best = quest.search()
    return run.finish(quest.result(best), quest.caveats() if run.checks else ())


class _Spent(Exception):
    """The budget is used up."""


class _Quest:
    """One image, what is asked for, and the ball that is searched."""

    def __init__(self, image: AnyArray, model: WholeModel, effort: AttackEffort, run: Run) -> None:
        self.image, self.model, self.effort, self.run = image, model, effort, run
        self.low, self.high = value_range(image)
        self.size = (self.high - self.low) or 1.0
        self.x = (image.astype(np.float64) - self.low) / self.size
        self.own_gradient = model.adapter.gradient is not None
        if not self.own_gradient and image.size > _MOST_VALUES:
            raise InputError(
                f"kind='gradient' needs the derivatives of the model, and {model.adapter.name} gives none; give a torch"
                " module, or a function with an attribute `gradient` that maps images to derivatives"
                " (n, height, width, ..., outputs), or take kind='pixel'."
            )
        self.left = _BUDGET if effort.budget is None else effort.budget
        self.spent = self.flat = False
        twice = np.stack([image, image])
        with run.counting(2):
            raw = model.raw(twice, 2)
        self.predictor: WholePredictor
        self.predictor, full = model.learn(raw[:1], raw[1:])
        self.own = full
        self.aim = Aim.at(effort.target, self.predictor, full[0])

    # -- asking --------------------------------------------------------------------------------------

    def emitted(self, z: FloatArray) -> AnyArray:
        """Images in the type of the original, from shares of the range."""
        values = self.low + np.clip(z, 0.0, 1.0) * self.size
        if self.image.dtype.kind in "iu":
            values = np.rint(values)
        return values.astype(self.image.dtype)

    def full(self, images: AnyArray) -> FloatArray:
        """Full predictions of images as they are given out."""
        self._pay(len(images))
        with self.run.counting(len(images)):
            return self.predictor(images, len(images))

    def _pay(self, images: int) -> None:
        self.run.raise_if_interrupted()
        if images > self.left:
            self.spent = True
            raise _Spent
        self.left -= images

    def reaches(self, z: FloatArray) -> bool:
        """Whether an image reaches the target as it is given out."""
        return bool(self.aim.reached(self.full(self.emitted(z)[None]))[0])

    def direction(self, z: FloatArray) -> FloatArray:
        """The derivative of how near the prediction is to the target, pixel by pixel; transparency is left alone."""
        slopes = self._by_model(z) if self.own_gradient else self._by_differences(z)
        if self.image.ndim == 3:
            slopes[..., colours(self.image) :] = 0.0
        return slopes

    def _by_model(self, z: FloatArray) -> FloatArray:
        self._pay(2)
        image = (self.low + z * self.size)[None]
        with self.run.counting(2):
            raw = self.model.raw(image, 1)
            of_model = self.model.gradient(image)
        step = _SLOPE * np.maximum(np.abs(raw[0]), _SLOPE)
        around = np.vstack([raw + np.diag(step), raw - np.diag(step)])
        ahead, behind = self.aim.nearness(self.predictor.answers(around)).reshape(2, -1)
        slopes: FloatArray = of_model @ ((ahead - behind) / (2 * step))
        return slopes.reshape(self.x.shape)

    def _by_differences(self, z: FloatArray) -> FloatArray:
        step = max(_STEP, 1.0 / self.size) if self.image.dtype.kind in "iu" else _STEP
        moves = step * np.eye(self.x.size).reshape(-1, *self.x.shape)
        around = self.low + np.concatenate([z + moves, z - moves]) * self.size
        self._pay(len(around))
        with self.run.counting(len(around)):
            full = self.predictor(around, len(around))
        ahead, behind = self.aim.nearness(full).reshape(2, -1)
        return np.asarray(ahead - behind).reshape(self.x.shape)

    # -- searching -----------------------------------------------------------------------------------

    def search(self) -> AnyArray | None:
        """The nearest image that was found, as it is given out; None where there is none."""
        if self.aim.reached(self.own)[0]:
            return self.image
        self.best: FloatArray | None = None
        try:
            with self.run.until_interrupted(lambda: self.best is not None):
                self._approach()
        except _Spent:
            pass
        return None if self.best is None else self.emitted(self.best)

    def _approach(self) -> None:
        first = self.direction(self.x)
        self.flat = not first.any()
        if self.flat:
            return
        one = self._along(first)
        if one is not None:
            self.best = one
        elif (found := self._within(1.0)) is not None:
            self.best = found
        if self.best is None:
            return
        low, high = 0.0, self.distance(self.best)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            found = self._within(middle) if self.effort.steps > 1 else None
            if found is None:
                low = middle
            else:
                self.best, high = found, min(middle, self.distance(found))
        self._shorten(self.best)

    def _along(self, slopes: FloatArray) -> FloatArray | None:
        """One step in the direction of the derivatives, the least that does it; None where none does."""
        unit = self._unit(slopes)
        sizes = np.minimum(np.geomspace(1 / 255, 1.0, 12), 1.0)
        reached = next((k for k, size in enumerate(sizes) if self.reaches(self.x + size * unit)), None)
        if reached is None:
            return None
        low, high = (float(sizes[reached - 1]) if reached else 0.0), float(sizes[reached])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.reaches(self.x + middle * unit) else (middle, high)
        return np.clip(self.x + high * unit, 0.0, 1.0)

    def _within(self, radius: float) -> FloatArray | None:
        """The first image on the way of several steps inside a ball that reaches the target; None where none does."""
        z = self.x
        for _ in range(self.effort.steps):
            slopes = self.direction(z)
            if not slopes.any():
                return None
            z = np.clip(self._projected(z + 2.5 * radius / self.effort.steps * self._unit(slopes), radius), 0.0, 1.0)
            if self.reaches(z):
                return z
        return None

    def _shorten(self, z: FloatArray) -> None:
        """Back towards the image as far as the target allows."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            shorter = self.x + middle * (z - self.x)
            if self.reaches(shorter):
                high, self.best = middle, shorter
            else:
                low = middle

    def _unit(self, slopes: FloatArray) -> FloatArray:
        """The steepest direction of size 1 by the norm."""
        if self.effort.norm == "linf":
            return np.sign(slopes)
        return np.asarray(slopes / np.sqrt((slopes**2).mean()))

    def _projected(self, z: FloatArray, radius: float) -> FloatArray:
        move = z - self.x
        if self.effort.norm == "linf":
            return np.asarray(self.x + np.clip(move, -radius, radius))
        size = np.sqrt((move**2).mean())
        return np.asarray(self.x + move * min(1.0, radius / size)) if size > 0 else z

    def distance(self, z: FloatArray) -> float:
        """The size of a change, as the image is given out."""
        move = (self.emitted(z).astype(np.float64) - self.image.astype(np.float64)) / self.size
        return float(np.abs(move).max() if self.effort.norm == "linf" else np.sqrt((move**2).mean()))

    # -- what is said of it --------------------------------------------------------------------------

    def result(self, best: AnyArray | None) -> ImageAttack:
        """Asked of the model once more as it is given out, with random changes of the same size beside it."""
        changed = self.image if best is None else best
        with self.run.counting(1):
            full = self.predictor(changed[None], 1)
        valid = best is not None and bool(self.aim.reached(full)[0])
        values = changed.astype(np.float64) - self.image.astype(np.float64)
        distance = self.distance((changed.astype(np.float64) - self.low) / self.size) if valid else np.inf
        noise, draws = self._noise(distance) if valid and distance > 0 else (0.0, 0)
        said = self.aim.said(np.concatenate([self.own, full]))
        return ImageAttack(
            header=self._header(),
            image=self.image,
            changed=changed,
            distance=distance,
            norm=self.effort.norm,
            valid=valid,
            target=self.aim.target.words,
            prediction=self.predictor.restrict(self.own)[0],
            changed_prediction=self.predictor.restrict(full)[0],
            said=(said[0], said[1]),
            noise=noise,
            draws=draws,
            gradients="model" if self.own_gradient else "differences",
            flat=self.flat,
            values=values,
            se=np.zeros(values.shape),
        )

    def _noise(self, distance: float) -> tuple[float, int]:
        """The share of random changes of the same size that reach the target, of how many."""

        def measure() -> tuple[float, int]:
            draws = self.run.generator("adversarial.noise").normal(size=(_DRAWS, *self.x.shape))
            units = np.stack([self._unit(draw) for draw in draws])
            images = self.emitted(self.x + distance * units)
            with self.run.counting(_DRAWS):
                full = self.predictor(images, _DRAWS)
            return float(self.aim.reached(full).mean()), _DRAWS

        return self.run.unless_interrupted(measure, (0.0, 0))

    def _header(self) -> Header:
        return Header(
            feature_names=("image",),
            output_names=self.predictor.output_names,
            scale=self.predictor.scale,
            cost=self.run.cost(),
            settings={
                "method": "adversarial",
                "kind": "gradient",
                "target": self.aim.target.words,
                "norm": self.effort.norm,
                "steps": self.effort.steps,
                "budget": _BUDGET if self.effort.budget is None else self.effort.budget,
                "random_state": self.run.seed,
            },
        )

    def caveats(self) -> tuple[Caveat, ...]:
        """An unsteady model, an interruption, a search that ended early."""
        found = [*interrupted(self.run), *unsteady(self.predictor.instability)]
        if self.spent:
            found.append(
                Caveat(
                    code="budget-spent",
                    message="The budget ended the search along the gradients: a smaller change may have been missed.",
                    value=1.0,
                    threshold=0.0,
                    advice="Raise budget=.",
                )
            )
        return tuple(found)
