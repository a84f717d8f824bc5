"""What may be asked of a local model, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.arrays import FloatArray
from pellucid.checks import fraction, one_of, optional, positive, whole
from pellucid.data import Data
from pellucid.data.distance import Kernel, exponential
from pellucid.errors import InputError, nearest
from pellucid.methods.local.surrogate.fitting import MODELS, Model
from pellucid.methods.local.surrogate.neighbourhood import BLOCKS, SAMPLERS, Sampler
from pellucid.methods.local.surrogate.representation import Representation, Space, by_feature, own_space
from pellucid.methods.local.surrogate.selection import SELECTS, Select
from pellucid.methods.local.surrogate.width import DISTANCES, Distance, distances
from pellucid.models import Predictor

_KERNELS = ("exponential", "shap")
_FEWEST, _SAMPLES = 100, 5000
TOLERANCE, _GROWTH = 0.05, 4  # where the caller gives neither samples nor a tolerance
RIDGE = 1.0
_WITHOUT_COALITIONS: Mapping[str, Any] = {
    "space": "raw",
    "sampler": "data",
    "distance": "euclidean",
    "width": "auto",
    "tolerance": None,
    "boundary": None,
}


@dataclass(frozen=True, eq=False)
class Options:
    """How the local models are made."""

    features: int
    samples: int
    space: Space
    sampler: Sampler
    distance: Distance
    width: Any
    kernel: Any
    model: Model
    select: Select
    tolerance: float | None
    boundary: tuple[int, int] | None
    growth: int = 16  # times the samples that a tolerance may cost

    @property
    def how(self) -> Select:
        """How columns are chosen; the lasso chooses its own."""
        return "lasso" if self.model == "lasso" else self.select

    @property
    def penalty(self) -> float:
        """On squared coefficients: one for the ridge, as other packages do, with weights that are one at the row."""
        return RIDGE if self.model == "ridge" else 0.0

    @property
    def weigh(self) -> Kernel:
        """The kernel as a function of distances and width."""
        return self.kernel if callable(self.kernel) else exponential

    def distances(self, apart: FloatArray, metric: Representation, row: FloatArray) -> FloatArray:
        """How far samples are from the row."""
        return distances(apart, self.distance, place=metric.place(row), span=metric.span(row))

    def settings(self) -> dict[str, Any]:
        """Everything needed to repeat it."""
        space: Any = self.space
        if callable(space):
            space = getattr(space, "__name__", "function")
        elif isinstance(space, Mapping):
            space = {name: _said(how) for name, how in space.items()}
        kernel = getattr(self.kernel, "__name__", "function") if callable(self.kernel) else self.kernel
        asked = {
            "features": self.features,
            "samples": self.samples,
            "space": space,
            "sampler": self.sampler,
            "distance": self.distance,
            "width": self.width,
            "kernel": kernel,
            "model": self.model,
            "select": self.select,
        }
        return asked if self.tolerance is None else {**asked, "tolerance": self.tolerance}


def _said(how: Any) -> Any:
    """A rule, a function by its name, or edges."""
    if callable(how):
        return getattr(how, "__name__", "function")
    return how if isinstance(how, str) else [_plain(edge) for edge in how]


def _plain(edge: Any) -> Any:
    try:
        return float(edge)
    except (TypeError, ValueError):
        return str(edge)


def check(predictor: Predictor, data: Data, **asked: Any) -> Options:
    """The options, or an error that names the argument."""
    for name, known in (("sampler", SAMPLERS), ("distance", DISTANCES), ("model", MODELS), ("select", SELECTS)):
        one_of(name, asked[name], known)
    if not callable(asked["kernel"]) and not (isinstance(asked["kernel"], str) and asked["kernel"] in _KERNELS):
        raise InputError(
            f"kernel={asked['kernel']!r} is not known{nearest(str(asked['kernel']), _KERNELS)} A function"
            " kernel(distance, width) works too."
        )
    asked["features"], asked["width"] = whole("features", asked["features"]), check_width(asked["width"])
    tolerance = asked["tolerance"] = optional(fraction, "tolerance", asked["tolerance"])
    if asked["model"] == "logistic" and predictor.scale != "probability":
        raise InputError(
            f"model='logistic' imitates probabilities, but {predictor.name} gives a {predictor.scale}; use"
            " model='linear'."
        )
    if asked["kernel"] == "shap":
        _check_coalitions(asked)
    if own_space(asked["space"]) is None:
        by_feature(data, asked["space"])
    if asked["samples"] is None and tolerance is None:
        asked["tolerance"], asked["growth"] = TOLERANCE, _GROWTH
    if asked["samples"] is None:
        asked["samples"] = _SAMPLES
    asked["samples"] = -(-whole("samples", asked["samples"], least=_FEWEST) // BLOCKS) * BLOCKS
    asked["boundary"] = _pair(data, asked["boundary"], asked["space"])
    return Options(**asked)


def _check_coalitions(asked: Mapping[str, Any]) -> None:
    """Refuse what has no meaning where the samples are coalitions."""
    if asked["model"] in ("logistic", "tree"):
        raise InputError(f"kernel='shap' is for linear local models, not model={asked['model']!r}; use model='linear'.")
    for name, value in _WITHOUT_COALITIONS.items():
        given = asked[name]
        if given is not value and (callable(given) or given != value):
            raise InputError(
                f"kernel='shap' has coalitions of features for samples, where {name}={given!r} has no meaning; leave"
                f" {name}= out."
            )


def check_width(width: Any) -> Any:
    """A width of the kernel: a positive number, or how to find one."""
    if isinstance(width, str) and width in ("auto", "default"):
        return width
    return positive("width", width, also="'default' or 'auto'")


def _pair(data: Data, boundary: Any, space: Any) -> tuple[int, int] | None:
    if boundary is None:
        return None
    pair = data.schema.indices(boundary)
    numbers = [not data.schema.features[j].nominal and data.schema.features[j].kind != "date" for j in pair]
    if len(pair) != 2 or not all(numbers) or own_space(space) is not None:
        raise InputError(f"boundary={boundary!r}: give two different numeric features (and no space= of your own).")
    return pair[0], pair[1]
