"""A model that takes texts or images instead of rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import one_of
from pellucid.errors import InputError, ModelError, PellucidError
from pellucid.models.adapter import Adapter, Scale, unfitted
from pellucid.models.outputs import Outputs, as_matrix, check_numbers, log_odds, read_outputs
from pellucid.models.predictor import Link
from pellucid.models.quiet import quietly
from pellucid.models.registry import adapt
from pellucid.words import listed, model_name

_ROUNDING = 1e-6  # relative; what threads and single precision change is no instability

Wholes = Any  # what the model takes: a list of texts, an array of images
Dress = Callable[[Wholes], Any]


class WholeModel:
    """Any model of texts or images, before it is known what it returns.

    ``class_names`` names the classes of a function that does not; ``dress`` turns wholes into what the model takes.
    ``full`` models answer with every output, on the model's own scale, whatever is explained.
    """

    full = False

    def __init__(
        self,
        model: Any,
        *,
        output: Any = None,
        link: Link = "identity",
        class_names: Sequence[Any] | None = None,
        dress: Dress | None = None,
    ) -> None:
        one_of("link", link, ("identity", "logit"))
        if isinstance(model, str):
            raise InputError("the model is a text; give a fitted pipeline or a function.")
        self.adapter = adapt(model)
        self.output, self.link = output, link
        self.labels = self.adapter.classes  # as the model was fitted to them
        self._dress = dress
        if class_names is not None:
            self.adapter = _named(self.adapter, class_names)

    def in_full(self) -> WholeModel:
        """The same model, which answers with every output; its predictor knows which of them are explained."""
        twin = copy(self)
        twin.full = True
        return twin

    def raw(self, wholes: Wholes, n: int) -> FloatArray:
        """All numbers ``(n, columns)`` that the model returns for ``n`` wholes."""
        name = self.adapter.name
        try:
            dressed = wholes if self._dress is None else self._dress(wholes)
            with quietly():
                returned = self.adapter.predict(dressed)
        except PellucidError:
            raise
        except Exception as error:
            if type(error).__name__ == "NotFittedError":
                raise unfitted(name) from error
            what = " ".join(str(error).split())[:300]
            raise ModelError(f"the model {name} failed on a batch of {n}: {type(error).__name__}: {what}") from error
        raw = as_matrix(returned, n, name)
        check_numbers(raw, None, name)
        return raw

    def gradient(self, image: Any) -> FloatArray:
        """Derivatives ``(values, columns)`` of what the model returns by each value of one whole ``(1, ...)``."""
        name, size = self.adapter.name, int(np.size(image))
        assert self.adapter.gradient is not None
        dressed = image if self._dress is None else self._dress(image)
        with quietly():
            found = np.asarray(self.adapter.gradient(dressed), dtype=np.float64)
        if found.size % size or not found.size or not np.isfinite(found).all():
            raise ModelError(
                f"the gradient of {name} has shape {found.shape} or is not finite; expected a finite number for each"
                f" value of an image {np.shape(image)[1:]}, and for each output (outputs last)."
            )
        return found.reshape(size, -1)

    def learn(self, first: FloatArray, again: FloatArray) -> tuple[WholePredictor, FloatArray]:
        """The predictor, and its predictions for a few wholes, by what the model returned for them when asked twice."""
        change = float(np.abs(first - again).max(initial=0.0))
        steady = change <= _ROUNDING * float(np.abs(first).max(initial=0.0))
        spread = float(np.ptp(first, axis=0).max(initial=0.0)) or change
        outputs = self._outputs(first)
        predictor = WholePredictor(self, outputs, first.shape[1], 0.0 if steady else change / spread)
        return predictor, predictor.answers(first)

    def _outputs(self, raw: FloatArray) -> Outputs:
        wanted = self.adapter.classes
        outputs = read_outputs(self.adapter, raw, wanted, None)
        if wanted is not None and outputs.classes is None:
            raise InputError(
                f"there are {len(wanted)} classes, but the model returns {raw.shape[1]} numbers; name one class for"
                " each (class_names=)."
            )
        if self.output is not None:
            outputs = outputs.chosen(self.output)
        if self.link == "logit" and not outputs.could_be_probability:
            raise InputError(
                f"link='logit' needs probabilities, but {self.adapter.name} returns a {outputs.scale}; use"
                " link='identity'."
            )
        return outputs


class WholePredictor:
    """Asks a model of texts or images; every answer is checked and cut down to the explained outputs."""

    def __init__(self, model: WholeModel, outputs: Outputs, width: int, instability: float) -> None:
        self._model, self._outputs, self._width = model, outputs, width
        self.instability = instability

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the explained outputs."""
        return self._outputs.names

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels of a classifier."""
        return self._outputs.classes

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The same, as the model was fitted to them."""
        return self._outputs.labels

    @property
    def link(self) -> Link:
        """The link through which outputs are explained."""
        return self._model.link

    @property
    def scale(self) -> Scale:
        """What the numbers are: probability, log-odds, response or score."""
        return "log-odds" if self._model.link == "logit" else self._outputs.scale

    @property
    def outputs(self) -> Outputs:
        """All outputs of the model, and which of them are explained."""
        return self._outputs

    @property
    def raw_scale(self) -> Scale:
        """What the numbers of a full prediction are."""
        return self._outputs.scale

    @property
    def width(self) -> int:
        """Columns of a full prediction."""
        return len(self._outputs.all_names)

    @property
    def explained(self) -> tuple[int, ...]:
        """Positions of the explained outputs among the columns of a full prediction."""
        return self._outputs.keep

    def __call__(self, wholes: Wholes, n: int) -> FloatArray:
        """Predictions ``(n, outputs)``."""
        raw = self._model.raw(wholes, n)
        check_numbers(raw, self._width, self._model.adapter.name)
        return self.answers(raw)

    def answers(self, raw: FloatArray) -> FloatArray:
        """The explained outputs on the explained scale; of a model that answers in full, every output."""
        every = self._outputs.complete(raw)
        return every if self._model.full else self.restrict(every)

    def restrict(self, full: FloatArray) -> FloatArray:
        """Of full predictions, the explained outputs on the explained scale."""
        chosen = self._outputs.restrict(full)
        return log_odds(chosen) if self._model.link == "logit" else chosen


@dataclass(frozen=True, eq=False)
class Models:
    """A model with all its classes, and with the outputs and the scale that are explained."""

    classes: WholeModel
    explained: WholeModel

    def introduction(self, kind: str) -> str:
        """The model and what of it is explained, as far as that is known before the model is asked."""
        adapter, output = self.classes.adapter, self.explained.output
        classes = [str(label) for label in adapter.classes or ()]
        several = isinstance(output, list | tuple)
        chosen = classes[-1:] if len(classes) == 2 else classes
        chosen = chosen if output is None else [str(label) for label in (output if several else [output])]
        scale = "log-odds" if self.explained.link == "logit" else "probability" if classes else "output"
        into = f", classification into {listed(classes)}" if classes else ""
        explained = f"{scale} of {listed(chosen)}" if chosen else "every number that the model returns"
        return f"{kind} of {model_name(adapter.name, adapter.library)}{into}\n  explains  {explained}"

    @classmethod
    def of(
        cls, f: Any, output: Any, link: Link, class_names: Sequence[Any] | None, dress: Dress | None = None
    ) -> Models:
        """Both, of the options of an explainer; one and the same where nothing is chosen."""
        explained = WholeModel(f, output=output, link=link, class_names=class_names, dress=dress)
        plain = output is None and link == "identity"
        return cls(explained if plain else WholeModel(f, class_names=class_names, dress=dress), explained)


def _named(adapter: Adapter, class_names: Sequence[Any]) -> Adapter:
    """The adapter with the caller's names of the classes, in the order of its columns."""
    names = tuple(class_names) if isinstance(class_names, Iterable) and not isinstance(class_names, str) else ()
    if len(names) < 2 or len({str(name) for name in names}) < len(names):
        raise InputError(f"class_names={class_names!r}: give the names of at least two classes, all different.")
    if adapter.classes is not None and len(adapter.classes) != len(names):
        raise InputError(
            f"class_names= names {len(names)} classes, but {adapter.name} has {len(adapter.classes)}; name each of its"
            " classes."
        )
    return replace(adapter, classes=names, task="classification", scale="probability")
