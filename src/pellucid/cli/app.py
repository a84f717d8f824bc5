"""The commands of ``pellucid``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid import __version__
from pellucid.cli.console import Bar, say, told, warn

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

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
) -> None:
    """Write a report on a built-in model of simulated data; nothing is downloaded."""
    with told(), Bar() as bar:
        from pellucid.cli.demo import TITLE, demo_explainer
        from pellucid.report import check_path

        target = check_path(output)
        bar.say("training a model of simulated bicycle rentals")
        _report(demo_explainer(bar.rows), target, bar, title=TITLE, top=6)


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
    top: Annotated[int, typer.Option("--top", min=1, help="Number of features whose effects are shown.")] = 6,
    rows: Annotated[int | None, typer.Option("--rows", min=2, help="Use a random sample of this many rows.")] = None,
    row: Annotated[
        list[int] | None, typer.Option("--row", help="Row to explain, counted from 0; may be given several times.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the report.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of everything random.")] = 0,
    trust: Annotated[
        bool, typer.Option("--trust", help="Open pickle and joblib files, which run code when opened.")
    ] = False,
) -> None:
    """Write a report on a model file and a table: score, importance, effects, correlated features, single rows and
    their caveats.
    """
    with told(), Bar() as bar:
        from pellucid.cli.load import check_row, load, sampled, split_target
        from pellucid.report import check_path

        path = check_path(out)
        check_row(row, rows)
        bar.say("reading the model and the data")
        adapter, table = load(model, data, trust=trust)
        table = sampled(table, rows, seed)
        X, y, notes = split_target(adapter, table, target)
        explainer = _explainer(adapter, X, y, output=output or None, progress=bar.rows, random_state=seed)
        _report(explainer, path, bar, title=title, top=top, rows=row, notes=notes)


def _explainer(*args: Any, **options: Any) -> Explainer:
    from pellucid.explainer import Explainer

    return Explainer(*args, **options)


def _report(
    explainer: Explainer,
    path: Path,
    bar: Bar,
    *,
    title: str | None,
    top: int,
    rows: Sequence[int] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Build, write, and say what was found and where it is."""
    from pellucid.report import build, write

    document = build(explainer, title=title, top=top, rows=rows, progress=bar.step)
    bar.say("writing the report")
    written = write(document, path).resolve()
    bar.stop()
    for note in notes:
        warn(note)
    for line in document["findings"]:
        say(f"- {line}")
    say(f"Report: {written}")
