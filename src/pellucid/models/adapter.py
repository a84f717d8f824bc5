"""What pellucid needs to know of a model; one small file per library fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pellucid.errors import InputError

Task = Literal["regression", "classification", "scores"]
Scale = Literal["response", "probability", "log-odds", "score", "distance"]


def same_container(kind: str) -> str:
    """The model takes the caller's own kind of table."""
    return kind


@dataclass(frozen=True)
class Adapter:
    """A model, reduced to a function from a table to numbers and the names of what it returns.

    ``predict`` gives one row per row: ``(n,)``, ``(n, 1)`` or ``(n, outputs)``. ``classes`` are the labels of
    a classifier, in the order of its columns. ``container`` maps the kind of the user's table to the
    kind the model wants. ``gradient``, where a model has one, gives ``(n, features, outputs)``.
    """

    library: str
    name: str
    predict: Callable[[Any], Any]
    task: Task = "regression"
    scale: Scale = "response"
    classes: tuple[Any, ...] | None = None
    output_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    n_features: int | None = None
    container: Callable[[str], str] = same_container
    gradient: Callable[[Any], Any] | None = None


def container_from(table: Mapping[str, str]) -> Callable[[str], str]:
    """A container choice written as a table: kinds that are not listed stay as they are."""
    return lambda kind: table.get(kind, kind)


def refuse_kind(library: str, kind: str) -> InputError:
    """The error for a kind of table that a library cannot take."""
    return InputError(f"a {library} model cannot read a {kind} table; give pandas or numpy.")
