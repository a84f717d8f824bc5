"""What every result has: values, errors, a table, a chart, words, caveats, cost and a file."""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, freeze
from pellucid.data.row_labels import RowLabels
from pellucid.drawing import drawn
from pellucid.explanations.caveat import PARTIAL, Caveat, in_short, said_first, worst_first
from pellucid.explanations.notebook import in_notebook
from pellucid.explanations.option import PlotOptions, documented
from pellucid.explanations.store import encode, save, stored
from pellucid.runner import Cost
from pellucid.words import EVIDENCE, GAME, TABLE, Vocabulary, counted, listed

if TYPE_CHECKING:
    from pellucid.charts import Chart
    from pellucid.data import Data
    from pellucid.models import Predictor
    from pellucid.runner import Run

stored(Cost)
stored(RowLabels)
Result = TypeVar("Result", bound="Explanation")


@stored
@dataclass(frozen=True, kw_only=True)
class Header:
    """What every result is about and where it comes from, whatever it says: names, scale, caveats, cost, settings.

    ``classes`` are all those of a classifier, explained or not, so that a class has one colour in every chart. That the
    work was interrupted is a fact of the result, among its caveats also where nothing was checked.
    """

    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    scale: str
    caveats: tuple[Caveat, ...] = ()
    cost: Cost
    settings: Mapping[str, Any]
    library: str = "pandas"
    row_labels: RowLabels = field(default_factory=RowLabels)
    readable: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        partial = self.cost.interrupted and not any(caveat.code == PARTIAL.code for caveat in self.caveats)
        object.__setattr__(self, "caveats", worst_first((PARTIAL, *self.caveats) if partial else self.caveats))

    @classmethod
    def of(
        cls,
        predictor: Predictor,
        data: Data,
        run: Run,
        settings: Mapping[str, Any],
        *,
        feature_names: tuple[str, ...] | None = None,
        scale: str | None = None,
        caveats: tuple[Caveat, ...] = (),
        row_labels: RowLabels | None = None,
    ) -> Header:
        """The header of a result about a model and its data, all features or groups of them unless named, so far."""
        return cls(
            feature_names=tuple(data.schema.players()) if feature_names is None else feature_names,
            output_names=predictor.output_names,
            scale=predictor.scale if scale is None else scale,
            caveats=caveats,
            cost=run.cost(),
            settings=settings,
            library=data.caller,
            readable=data.schema.readable,
            classes=tuple(str(name) for name in predictor.classes or ()),
            row_labels=row_labels or RowLabels(),
        )


_HEADER = frozenset(field.name for field in dataclasses.fields(Header))


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation(ABC):
    """What every result is: a header, values with their errors, and fields of its own; immutable, arrays included.

    A kind of result adds what it measured and says it in its own words; names, caveats, cost and settings are read
    through to the header.
    """

    _options: ClassVar[type[PlotOptions]] = PlotOptions
    header: Header
    values: FloatArray
    se: FloatArray

    def __init_subclass__(cls, options: type[PlotOptions] | None = None, **more: Any) -> None:
        """``options`` are those of the kind's chart; they are documented where people look: at ``plot``."""
        super().__init_subclass__(**more)
        for name in ("__repr__", "_repr_pretty_"):  # dataclasses would write out all fields
            type.__setattr__(cls, name, getattr(Explanation, name))
        if options is not None:
            cls._options = options
            type.__setattr__(cls, "plot", _plot(options))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features (or groups) the result is about."""
        return self.header.feature_names

    @property
    def output_names(self) -> tuple[str, ...]:
        """The outputs of the model it is about."""
        return self.header.output_names

    @property
    def scale(self) -> str:
        """What the values are measured in, such as "probability"."""
        return self.header.scale

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """What the result cannot be trusted for on these data, each with its measured reason, the worst first."""
        return self.header.caveats

    @property
    def cost(self) -> Cost:
        """Model rows, model seconds, seconds in all."""
        return self.header.cost

    @property
    def settings(self) -> Mapping[str, Any]:
        """Everything needed to repeat it, the seed (``random_state``) included."""
        return self.header.settings

    @property
    def library(self) -> str:
        """The caller's dataframe library, in which tables come back."""
        return self.header.library

    @property
    def row_labels(self) -> RowLabels:
        """What the explained rows are called, where it is about some: labels, and positions in X."""
        return self.header.row_labels

    def __post_init__(self) -> None:
        freeze(self)

    def stacked(self, name: str = "values") -> FloatArray:
        """A field with the axis of outputs, also where there is only one."""
        part = np.asarray(getattr(self, name))
        return part if len(self.output_names) > 1 else part[..., None]

    @property
    def vocabulary(self) -> Vocabulary:
        """What its sentences call what is explained: a row and its features, or a game and its players."""
        return {"shapley": GAME, "evidence": EVIDENCE}.get(str(self.settings.get("method")), TABLE)

    @abstractmethod
    def columns(self) -> dict[str, AnyArray]:
        """The result as a tidy table: one array per column."""

    @abstractmethod
    def findings(self) -> list[str]:
        """The result in plain sentences, without its caveats."""

    def headline(self) -> str:
        """The finding in a sentence or two: the title of the chart, and what is said first where a result is typed."""
        return self.so_far(self._headline())

    def so_far(self, finding: str) -> str:
        """A finding as it is, or, of a result that the user interrupted, with a word that says so."""
        return f"Interrupted, so far: {finding}" if self.cost.interrupted else finding

    def _headline(self) -> str:
        """A kind whose first sentence says what it is rather than what was found says that here."""
        return self.findings()[0]

    def frame(self) -> Any:
        """A tidy table in the caller's own dataframe library.

        Contributions (``shap``, ``lime``, ``breakdown``) have one line per row, feature and output: ``row`` (its label,
        or its position), ``feature``, ``value`` (text unless all are numbers), ``contribution``, ``se`` and, of several
        outputs, ``output``; a local model also its ``weight`` and the ``bin``. Rules have one line per ``step``:
        ``feature``, ``condition``, ``precision`` and ``coverage`` with it, of several rules ``rule`` and ``row``. Other
        kinds say at ``columns`` what a line is; `columns` gives the same as arrays.
        """
        return native_table(self.columns(), self.library)

    def text(self) -> str:
        """The finding in plain sentences, followed by the worst of what it cannot be trusted for."""
        lines = self.findings()
        if self.caveats:
            lines.append("Read with care:")
            lines.extend(f"- {said}" for said in said_first(self.caveats))
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        """The finding and the worst caveats in short; ``print`` says all of it."""
        return "\n".join([self.headline(), *in_short(self.caveats), self._name])

    @property
    def _name(self) -> str:
        """What it is, in one line."""
        shape, labels = "x".join(str(size) for size in self.values.shape), self.row_labels.labels
        rows = "" if labels is None else f" for {self.row_labels.listed(len(labels))}"
        kind, caveats = type(self).__name__, counted(len(self.caveats), "caveat")
        return f"<{kind} of {listed(self.feature_names, 3)}{rows}: values {shape}, {caveats}>"

    def plot(self, **options: Any) -> Chart:
        """A chart that notebooks show, that composes (``|``, ``&``) and that saves to PNG, SVG, PDF or HTML."""
        chart: Chart = drawn(self, **options)
        return chart

    def save(self, path: str | Path) -> Path:
        """Write to ``.json`` or ``.parquet``, to be read with `pellucid.load`, or its table (`frame`) to ``.csv``."""
        return save(self, path)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and json.dumps(encode(self)) == json.dumps(encode(other))

    def __hash__(self) -> int:
        return hash(json.dumps(encode(self)))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython, where a list of results has one line for each."""
        inside = len(getattr(printer, "stack", ())) > 1
        printer.text(self._name if inside or cycle else repr(self))

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, Any]:
        return in_notebook(self)


def _plot(options: type[PlotOptions]) -> Callable[..., Chart]:
    """``Explanation.plot`` with the options of one kind in its docstring."""

    def plot(self: Explanation, **given: Any) -> Chart:
        return Explanation.plot(self, **given)

    plot.__doc__ = documented(options)
    return plot


def headed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a result, those of its header put into one."""
    header = Header(**{name: value for name, value in fields.items() if name in _HEADER})
    return {"header": header, **{name: value for name, value in fields.items() if name not in _HEADER}}


def changed(result: Result, **changes: Any) -> Result:
    """The result with other fields, those of its header included: ``changed(result, caveats=found, values=values)``."""
    header = {name: changes.pop(name) for name in list(changes) if name in _HEADER}
    if header:
        changes["header"] = dataclasses.replace(result.header, **header)
    return dataclasses.replace(result, **changes)


def native_table(columns: Mapping[str, AnyArray], library: str, rows: RowLabels | None = None) -> Any:
    """Arrays as a table of the given library (numpy and lists of dicts get pandas).

    With ``rows``, a table of these very rows: pandas gets their labels as its index, other libraries their column of
    ids.
    """
    import narwhals.stable.v2 as nw

    indexed = rows is not None and rows.labels is not None and library == "pandas"
    if rows is not None and rows.column and not indexed:
        columns = {rows.column: rows.column_of(len(next(iter(columns.values())))), **columns}

    backends: dict[str, Literal["polars", "pyarrow"]] = {"polars": "polars", "arrow": "pyarrow"}
    if library == "records":
        lists = {name: column.tolist() for name, column in columns.items()}
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    plain = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
    table = nw.from_dict(plain, backend=backends.get(library, "pandas")).to_native()
    if rows is not None and indexed:
        table.index = rows.labels
        table.index.name = rows.column or None
    return table


def squeeze_outputs(array: FloatArray) -> FloatArray:
    """Drop the last axis when there is one output."""
    return array[..., 0] if array.shape[-1] == 1 else array
