"""The commands of ``pellucid``, what they say to the user, and the built-in example (nothing is downloaded)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid import __version__
from pellucid.errors import PellucidError

if TYPE_CHECKING:
    from pellucid.explainer import Explainer


ENCODING = "How CSV files are written, if not in UTF-8: cp1252, latin-1, utf-16."
DETAIL = "short (two to three printed pages) or full (everything)."

app = typer.Typer(
    name="pellucid",
    help="See through any machine-learning model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """The entry point of the command ``pellucid``."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        say(f"pellucid {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """See through any machine-learning model."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--out", help="Where to write the report.")] = Path(
        "pellucid-demo.html"
    ),
    detail: Annotated[str, typer.Option("--detail", help=DETAIL)] = "short",
) -> None:
    """Write a report on a built-in model of simulated data; nothing is downloaded."""
    with told(), Bar() as bar:
        from pellucid.report import check_path

        target = check_path(output)
        bar.say("training a model of simulated bicycle rentals")
        _report(demo_explainer(bar.rows), target, bar, title=DEMO_TITLE, top=6, detail=detail)


@app.command()
def warm() -> None:
    """Compile the tree engine for this machine now instead of in the first call (some seconds, once)."""
    from pellucid.trees.plain.choice import can_compile

    if not can_compile():
        warn("There is no compiler (numba) here: trees are read by numpy, and there is nothing to prepare.")
        return
    from pellucid.trees.warm import warm as compiling

    with told():
        for step in compiling():
            say(f"Compiling: {step}")
    say("Done. The tree engine is ready.")


@app.command()
def report(
    model: Annotated[
        Path, typer.Argument(help="Model file: skops, ONNX, XGBoost, LightGBM or CatBoost.", metavar="MODEL")
    ],
    data: Annotated[
        str, typer.Argument(help="CSV or Parquet: a file, a folder, or a pattern such as 'days-*.csv'.", metavar="DATA")
    ],
    target: Annotated[str | None, typer.Option("--target", help="Column with the true outcome.")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where to write the report.")] = Path("report.html"),
    output: Annotated[
        list[str] | None, typer.Option("--output", help="Class to explain; may be given several times.")
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option("--classes", help="Names of the classes, in the order of the model's labels: bad,good."),
    ] = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Column that names the rows; it is no feature.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option("--labels", help="Names for people: temp=Temperature,hum=Humidity.")
    ] = None,
    units: Annotated[str | None, typer.Option("--units", help="Units: temp=°C,wind=km/h.")] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of features whose effects are shown.")] = 6,
    rows: Annotated[int | None, typer.Option("--rows", min=2, help="Use a random sample of this many rows.")] = None,
    row: Annotated[
        list[int] | None, typer.Option("--row", help="Row to explain, counted from 0; may be given several times.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the report.")] = None,
    detail: Annotated[str, typer.Option("--detail", help=DETAIL)] = "short",
    seed: Annotated[int, typer.Option("--seed", help="Seed of everything random.")] = 0,
    trust: Annotated[
        bool, typer.Option("--trust", help="Open pickle and joblib files, which run code when opened.")
    ] = False,
    encoding: Annotated[str, typer.Option("--encoding", help=ENCODING)] = "utf-8",
) -> None:
    """Write a report on a model file and a table: performance, importance, effects, any row and what-if, with caveats;
    --detail full adds interactions, the model in parts, correlated features, LIME and anchors.
    """
    with told(), Bar() as bar:
        from pellucid.cli.load import by_name, check_row, load, row_ids, sampled, split_target
        from pellucid.report import check_path

        path = check_path(out)
        check_row(row, rows)
        bar.say("loading the model and the data")
        adapter, table = load(model, data, trust=trust, encoding=encoding)
        table = sampled(table, rows, seed)
        X, y, notes = split_target(adapter, table, target, identifier)
        X, ids = row_ids(adapter, X, table, identifier)
        explainer = explainer_of(
            adapter,
            X,
            y,
            output=output or None,
            class_names=None if classes is None else [name.strip() for name in classes.split(",")],
            labels=by_name("--labels", labels),
            units=by_name("--units", units),
            row_labels=ids,
            progress=bar.rows,
            random_state=seed,
        )
        _report(explainer, path, bar, title=title, top=top, rows=row, detail=detail, notes=notes)


def explainer_of(*args: Any, **options: Any) -> Explainer:
    """An Explainer whose warnings are notes beside the answer."""
    from pellucid.errors import InputWarning
    from pellucid.explainer import Explainer

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        explainer = Explainer(*args, **options)
    for item in caught:
        warn(str(item.message))
    return explainer


def _report(
    explainer: Explainer,
    path: Path,
    bar: Bar,
    *,
    title: str | None,
    top: int,
    rows: Sequence[int] | None = None,
    detail: str = "short",
    notes: Sequence[str] = (),
) -> None:
    """Build, write, and say what was found and where it is."""
    from pellucid.report import build, write

    document = build(explainer, title=title, top=top, rows=rows, detail=detail, progress=bar.step)
    bar.say("writing the report")
    written = write(document, path).resolve()
    bar.stop()
    for note in notes:
        warn(note)
    if document["alarm"]:
        warn(f"{document['alarm']['headline']} {document['alarm']['advice']}")
    for line in document["findings"]:
        say(f"- {line}")
    say(f"Report: {written}")


BAD_INPUT, INTERRUPTED = 2, 130


def say(text: str) -> None:
    """A line of the answer, on standard output."""
    typer.echo(text)


def warn(text: str) -> None:
    """A note beside the answer, on standard error."""
    typer.echo(f"note: {text}", err=True)


@contextmanager
def told(lost: str = "no report was written") -> Iterator[None]:
    """What the user can put right becomes one sentence and exit code 2; anything else keeps its traceback."""
    try:
        yield
    except (PellucidError, OSError) as error:
        typer.echo(f"error: {_sentence(error)}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        typer.echo(f"interrupted: {lost}.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, PellucidError) or not isinstance(error, OSError) or error.strerror is None:
        return " ".join(str(error).split())
    where = "" if error.filename is None else f"{error.filename}: "
    return f"{where}{error.strerror}; check the path and its permissions."


class Bar:
    """A progress bar on standard error, drawn only on an interactive terminal.

    ``step`` follows the steps of a report, ``rows`` the model rows within a step.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._done, self._total = 0, 1
        self.share = 0.0

    @property
    def rows(self) -> Callable[[int, int], None] | bool:
        """What an Explainer takes as ``progress``: nothing at all where no bar is drawn."""
        return self._rows if self._bar is not None else False

    def __enter__(self) -> Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
            from rich.table import Column

            words = Column(width=46, no_wrap=True, overflow="ellipsis")
            step = TextColumn("{task.description}", markup=False, table_column=words)
            columns = (step, BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def say(self, what: str) -> None:
        """What is being done, where nobody knows how long it takes."""
        if self._bar is not None:
            self._bar.update(self._task, description=what)

    def step(self, what: str, done: int, total: int) -> None:
        """The next of a known number of steps."""
        self._done, self._total = done, total
        self.say(what)
        self._advance(float(done))

    def _rows(self, done: int, total: int) -> None:
        """Model rows done of those of this step."""
        self._advance(min(self._done + done / max(total, 1), self._total))

    def _advance(self, steps: float) -> None:
        self.share = steps / self._total
        if self._bar is not None:
            self._bar.update(self._task, completed=steps, total=self._total)


DEMO_TITLE = "Demo: daily bicycle rentals (simulated)"
_ROWS, _TRAINED = 2000, 1400


def demo_explainer(progress: Any) -> Explainer:
    """A model fitted to some of the simulated days, to be explained on the others."""
    from pellucid.datasets import simulate_bike
    from pellucid.explainer import Explainer

    days = simulate_bike(_ROWS, seed=0)
    model = demo_model().fit(days.X.iloc[:_TRAINED], days.y.iloc[:_TRAINED])
    held_out, truth = (part.iloc[_TRAINED:].reset_index(drop=True) for part in (days.X, days.y))
    return Explainer(model, held_out, truth, progress=progress)


def demo_model() -> Any:
    """Boosted trees behind the usual preparation of categories and missing values."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median"),
    )
    trees = GradientBoostingRegressor(n_estimators=150, max_depth=4, subsample=0.8, random_state=0)
    return make_pipeline(prepare, trees)
