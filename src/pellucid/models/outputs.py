"""What a model's numbers are: checked, named, and cut down to the outputs that are explained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data.table import plain_array
from pellucid.errors import InputError, ModelError, nearest
from pellucid.models.adapter import Adapter, Scale, Task
from pellucid.stats import logit

LOGIT_FLOOR = 1e-6


# -- numbers -----------------------------------------------------------------------------------------


def as_matrix(returned: Any, n: int, name: str) -> FloatArray:
    """``(n,)``, ``(n, 1)``, ``(n, k)``, lists, Series, tensors and lists of class matrices as ``(n, k)``."""
    array = _as_array(returned)
    if array is None or array.dtype.kind not in "biuf":
        shown = repr(returned if array is None else array.ravel()[:1].tolist())
        raise ModelError(
            f"the model {name} returned {shown[:60]}, which is not an array of numbers; explain its probabilities"
            " (predict_proba) or a numeric score."
        )
    if array.ndim not in (1, 2):
        raise ModelError(
            f"the model {name} returned an array with {array.ndim} dimensions for {n} rows; it must return (rows,) or"
            " (rows, outputs)."
        )
    if array.shape[0] != n:
        raise ModelError(
            f"the model {name} returned {array.shape[0]} predictions for {n} rows; it must return one per row."
        )
    matrix = np.array(array, dtype=np.float64)  # a copy: the model may fill the same array again
    return matrix[:, None] if matrix.ndim == 1 else matrix


def _as_array(returned: Any) -> AnyArray | None:
    """Any library's array as numpy's; None for what is none."""
    if returned is None or isinstance(returned, str | bytes | dict):
        return None
    if isinstance(returned, list) and returned and all(np.ndim(part) == 2 for part in returned):
        returned = np.hstack([_shown_columns(np.asarray(part)) for part in returned])
    if hasattr(returned, "detach"):
        returned = returned.detach().cpu().double().numpy()
    if hasattr(returned, "toarray"):
        returned = returned.toarray()
    try:
        array = np.asarray(returned)
        return _from_objects(array) if array.dtype.kind == "O" else array
    except (TypeError, ValueError):
        return None


def _shown_columns(part: AnyArray) -> AnyArray:
    """Of one target's probabilities: the second of two classes, else all."""
    return part[:, 1:] if part.shape[1] == 2 else part


def _from_objects(array: AnyArray) -> AnyArray:
    """Numbers that hide in an object array; text that looks like a number stays text."""
    if any(isinstance(value, str | bytes) for value in array.ravel()):
        return array
    return array.astype(np.float64)


def check_numbers(raw: FloatArray, width: int | None, name: str) -> None:
    """Refuse a changed number of outputs, and NaN or infinite predictions."""
    n = len(raw)
    if width is not None and raw.shape[1] != width:
        raise ModelError(
            f"the model {name} returned {raw.shape[1]} outputs after {width} before; the number must not change."
        )
    if not np.isfinite(raw).all():
        row = int(np.flatnonzero(~np.isfinite(raw).all(axis=1))[0])
        bad = raw[row][~np.isfinite(raw[row])][0]
        raise ModelError(
            f"the model {name} predicted {bad} for row {row} of a batch of {n}; make it return finite numbers "
            "(impute missing inputs, or bound the output)."
        )


def log_odds(p: FloatArray) -> FloatArray:
    """Log-odds of probabilities, which are kept LOGIT_FLOOR away from 0 and 1."""
    if (p < -1e-9).any() or (p > 1 + 1e-9).any():
        raise InputError(
            f"link='logit' needs probabilities between 0 and 1, but the model returned {float(p.min()):g} to"
            f" {float(p.max()):g}; use link='identity'."
        )
    return logit(p, LOGIT_FLOOR)


# -- names -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outputs:
    """The columns of a full prediction, and those that are explained.

    ``classes`` are called as people call them, ``labels`` as the model was fitted to them. ``mirrored``: the model
    gives one column for two classes; the other class is its mirror image.
    """

    task: Task
    scale: Scale
    classes: tuple[Any, ...] | None
    all_names: tuple[str, ...]
    keep: tuple[int, ...]
    mirrored: bool
    could_be_probability: bool
    labels: tuple[Any, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the explained outputs."""
        return tuple(self.all_names[k] for k in self.keep)

    def complete(self, raw: FloatArray) -> FloatArray:
        """One column per class where the model gives one for both."""
        if not self.mirrored:
            return raw
        return np.concatenate([1 - raw if self.scale == "probability" else -raw, raw], axis=-1)

    def restrict(self, full: FloatArray) -> FloatArray:
        """The explained columns."""
        return full if self.keep == tuple(range(len(self.all_names))) else full[..., list(self.keep)]

    def chosen(self, output: Any) -> Outputs:
        """The same outputs with those explained that the user names."""
        several = isinstance(output, Iterable) and not isinstance(output, str | bytes)
        keep = tuple(self._position(label) for label in (output if several else [output]))
        if not keep:
            raise InputError("output= is empty; name at least one output to explain.")
        if isinstance(output, Set):  # a set has no order of its own
            keep = tuple(sorted(keep))
        if len(set(keep)) < len(keep):
            raise InputError(f"output={output!r} names an output twice; name each one once.")
        return replace(self, keep=keep)

    def _position(self, label: Any) -> int:
        for k, (name, known) in enumerate(zip(self.all_names, self.labels or self.all_names, strict=True)):
            if str(label) in (name, str(known)) or (type(label) is not bool and bool(label == known)):
                return k
        raise InputError(f"output={label!r} is not an output of the model{nearest(str(label), self.all_names)}")


ClassNames = Sequence[str] | Mapping[Any, str]


def named_classes(outputs: Outputs, names: ClassNames, model: str) -> Outputs:
    """The outputs with the caller's names of the classes: in the order of the model's labels, or by label."""
    labels = outputs.labels
    if labels is None:
        raise InputError(
            f"class_names= names the classes of a classifier, but {model} predicts numbers ({outputs.task}); leave it"
            " out."
        )
    if isinstance(names, Mapping):
        unknown = [key for key in names if key not in labels]
        if unknown:
            raise InputError(
                f"class_names: {unknown[0]!r} is not a class of {model}{nearest(str(unknown[0]), map(str, labels))}"
            )
        names = [names.get(label, str(label)) for label in labels]
    given = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else ()
    if len(given) != len(labels) or len({str(name) for name in given}) < len(given):
        raise InputError(
            f"class_names must be {len(labels)} different names, one for each class of {model} in the order"
            f" {', '.join(repr(label) for label in labels[:8])}, got {names!r}."
        )
    # A name that is the label of another class would make y ambiguous.
    swapped = [name for k, name in enumerate(given) if name in labels and labels.index(name) != k]
    if swapped:
        raise InputError(
            f"class_names calls {labels[given.index(swapped[0])]!r} {swapped[0]!r}, which is another class of {model};"
            f" give the names in the order {', '.join(repr(label) for label in labels[:8])}."
        )
    words = tuple(str(name) for name in given)
    return replace(outputs, classes=words, all_names=words)


def read_outputs(
    adapter: Adapter, raw: FloatArray, classes: tuple[Any, ...] | None, labels: Any, called: ClassNames | None = None
) -> Outputs:
    """What the columns of a model's first predictions are; ``called`` are the caller's names of the classes."""
    width = raw.shape[1]
    unit = bool((raw >= -1e-6).all() and (raw <= 1 + 1e-6).all())
    exclusive = width > 1 and unit and bool(np.abs(raw.sum(axis=1) - 1).max() < 1e-4)
    scale: Scale = "score" if adapter.scale == "probability" and not unit else adapter.scale
    if classes is None and adapter.opaque and adapter.output_names is None and unit:
        classes = _told_classes(width, labels, called) or _guess_classes(width, exclusive, scale, labels)
        scale = scale if classes is None else "probability"
    if classes is not None and width != len(classes) and (width, len(classes)) != (1, 2):
        classes = None
    mirrored = classes is not None and width == 1 and len(classes) == 2
    binary = mirrored or (exclusive and width == 2 and classes is not None)
    names = _names(adapter, classes, width)
    outputs = Outputs(
        task="classification" if classes is not None else adapter.task,
        scale=scale,
        classes=classes,
        all_names=names,
        keep=(1,) if binary else tuple(range(len(names))),
        mirrored=mirrored,
        could_be_probability=scale == "probability" or (adapter.opaque and unit),
        labels=classes,
    )
    return outputs if called is None else named_classes(outputs, called, adapter.name)


def _told_classes(width: int, labels: Any, names: ClassNames | None) -> tuple[Any, ...] | None:
    """Labels of a model that has none but whose classes the caller names: the names, unless y has others."""
    if names is None or isinstance(names, str) or (width, len(names)) not in ((1, 2), (len(names), len(names))):
        return None
    own = tuple(names)
    seen = _distinct(labels)
    if isinstance(names, Mapping) or all(label in own for label in seen):
        return own
    return seen if len(seen) == len(own) else tuple(range(len(own)))


def _guess_classes(width: int, exclusive: bool, scale: Scale, labels: Any) -> tuple[Any, ...] | None:
    """Classes of a model that names none: numbers that add up to one, or one probability of two outcomes."""
    seen = _distinct(labels)
    if exclusive:
        return seen if len(seen) == width else tuple(range(width))
    if width == 1 and len(seen) == 2 and (scale == "probability" or not _measured(seen)):
        return seen
    return (0, 1) if width == 1 and scale == "probability" else None


def _distinct(labels: Any) -> tuple[Any, ...]:
    if labels is None:
        return ()
    flat = plain_array(labels)
    seen = set(flat.tolist()) if flat.ndim == 1 else set()
    try:
        return tuple(sorted(seen))
    except TypeError:
        return tuple(sorted(seen, key=str))


def _measured(seen: Iterable[Any]) -> bool:
    """Whether two outcomes look like measurements rather than labels."""
    return any(isinstance(value, float) and value not in (0.0, 1.0) for value in seen)


def _names(adapter: Adapter, classes: tuple[Any, ...] | None, width: int) -> tuple[str, ...]:
    if classes is not None:
        return tuple(str(label) for label in classes)
    if adapter.output_names is not None and len(adapter.output_names) == width:
        return adapter.output_names
    return ("prediction",) if width == 1 else tuple(f"output {k}" for k in range(width))
