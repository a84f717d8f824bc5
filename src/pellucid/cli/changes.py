"""``pellucid counterfactuals`` and ``pellucid adversarial``: what would change one prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.cli.app import ENCODING, Bar, app, explainer_of, say, told, warn

if TYPE_CHECKING:
    from pellucid.explainer import Explainer
    from pellucid.explanations import Counterfactuals

Model = Annotated[Path, typer.Argument(help="Model file: skops, ONNX, XGBoost, LightGBM or CatBoost.", metavar="MODEL")]
Table = Annotated[
    str, typer.Argument(help="CSV or Parquet: a file, a folder, or a pattern such as 'days-*.csv'.", metavar="DATA")
]
Row = Annotated[str, typer.Option("--row", help="The row, counted from 0, or its name in the column of --id.")]
Target = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        help="What to predict instead: a class, 'not bad', '>= 1000', a number, or 900..1100; several classes: give it"
        " several times. Without it: any other class.",
    ),
]
Fixed = Annotated[str | None, typer.Option("--fixed", help="Columns that may not change: age,sex.")]
Range = Annotated[
    list[str] | None,
    typer.Option("--range", help="Where a column may go: amount:0..5000, or job:a|b; may be given several times."),
]
Budget = Annotated[int | None, typer.Option("--budget", min=1, help="Model rows evaluated at most.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Seconds that the search takes at most.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o", "--out", help="Where to write: a chart (html, png, svg, pdf), the changes (csv) or the result (json)."
    ),
]
Kind = Annotated[
    str, typer.Option("--kind", help="Kind of chart: changes, table, parallel, pareto, surface or frequency.")
]
Whole = Annotated[
    bool, typer.Option("--whole", help="With a csv file: whole rows with their scores, not changes only.")
]
Outcome = Annotated[str | None, typer.Option("--outcome", help="Column with the true outcome; it is no feature.")]
Output = Annotated[list[str] | None, typer.Option("--output", help="Class to explain; may be given several times.")]
Classes = Annotated[
    str | None, typer.Option("--classes", help="Names of the classes, in the order of the model's labels: bad,good.")
]
Identifier = Annotated[str | None, typer.Option("--id", help="Column that names the rows; it is no feature.")]
Labels = Annotated[str | None, typer.Option("--labels", help="Names for people: temp=Temperature,hum=Humidity.")]
Units = Annotated[str | None, typer.Option("--units", help="Units: temp=°C,wind=km/h.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Encoding = Annotated[str, typer.Option("--encoding", help=ENCODING)]
Trust = Annotated[bool, typer.Option("--trust", help="Open pickle and joblib files, which run code when opened.")]


@app.command()
def counterfactuals(
    model: Model,
    data: Table,
    row: Row,
    target: Target = None,
    fixed: Fixed = None,
    monotone: Annotated[
        str | None, typer.Option("--monotone", help="Columns that change one way only: age:up,amount:down.")
    ] = None,
    ranges: Range = None,
    max_changes: Annotated[
        int | None, typer.Option("--max-changes", min=1, help="Columns that may change at most.")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of answers.")] = 5,
    method: Annotated[
        str,
        typer.Option("--method", help="auto, exact, moc, neighbours, diverse, prototype, spheres, wachter, random."),
    ] = "auto",
    budget: Budget = None,
    seconds: Seconds = None,
    out: Out = None,
    kind: Kind = "changes",
    whole: Whole = False,
    outcome: Outcome = None,
    output: Output = None,
    classes: Classes = None,
    identifier: Identifier = None,
    labels: Labels = None,
    units: Units = None,
    seed: Seed = 0,
    trust: Trust = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Say what would have to be different in one row for the model to predict something else."""
    with told("nothing was written"), Bar() as bar:
        from pellucid.cli.wanted import check_out, directions, names_of, ranges_of, target_of

        path, named = check_out(out, kind), (classes, labels, units)
        ways, allowed = directions(monotone), ranges_of(ranges)
        explainer, place = _opened(bar, model, data, row, outcome, output, named, identifier, seed, trust, encoding)
        bar.say("searching")
        found = explainer.counterfactuals(
            place,
            target_of(target, explainer),
            method=_word(method),
            n=n,
            fixed=names_of(fixed),
            monotone=ways,
            ranges=allowed,
            max_changes=max_changes,
            budget=budget,
            seconds=seconds,
            surface=kind == "surface",
        )
        _answered(bar, found, path, kind, whole=whole)


@app.command()
def adversarial(
    model: Model,
    data: Table,
    row: Row,
    target: Target = None,
    norm: Annotated[str, typer.Option("--norm", help="What makes a change small: l0, l1, l2, linf or gower.")] = "linf",
    fixed: Fixed = None,
    ranges: Range = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of answers.")] = 1,
    budget: Budget = None,
    seconds: Seconds = None,
    out: Out = None,
    kind: Annotated[
        str, typer.Option("--kind", help="Kind of chart: changes, table, parallel, pareto or frequency.")
    ] = "changes",
    whole: Whole = False,
    outcome: Outcome = None,
    output: Output = None,
    classes: Classes = None,
    identifier: Identifier = None,
    labels: Labels = None,
    units: Units = None,
    seed: Seed = 0,
    trust: Trust = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Find the smallest change of one row that fools the model."""
    with told("nothing was written"), Bar() as bar:
        from pellucid.cli.wanted import check_out, names_of, ranges_of, target_of

        path, named, allowed = check_out(out, kind, surface=False), (classes, labels, units), ranges_of(ranges)
        explainer, place = _opened(bar, model, data, row, outcome, output, named, identifier, seed, trust, encoding)
        bar.say("searching")
        found = explainer.adversarial(
            place,
            target_of(target, explainer),
            norm=_word(norm),
            n=n,
            fixed=names_of(fixed),
            ranges=allowed,
            budget=budget,
            seconds=seconds,
        )
        _answered(bar, found, path, kind, whole=whole)


def _word(text: str) -> Any:
    """A choice as it was typed; the verb checks it."""
    return text


def _opened(
    bar: Bar,
    model: Path,
    data: str,
    row: str,
    outcome: str | None,
    output: list[str] | None,
    named: tuple[str | None, str | None, str | None],
    identifier: str | None,
    seed: int,
    trust: bool,
    encoding: str,
) -> tuple[Explainer, int]:
    """The model and its data, ready to be asked, and the position of the row."""
    from pellucid.cli.load import by_name, load, row_ids, split_target
    from pellucid.cli.wanted import names_of, row_of

    bar.say("loading the model and the data")
    adapter, table = load(model, data, trust=trust, encoding=encoding)
    X, y, notes = split_target(adapter, table, outcome, identifier, scored=False)
    X, ids = row_ids(adapter, X, table, identifier)
    place = row_of(row, ids, len(X))
    classes, labels, units = named
    explainer = explainer_of(
        adapter,
        X,
        y,
        output=output or None,
        class_names=None if classes is None else names_of(classes),
        labels=by_name("--labels", labels),
        units=by_name("--units", units),
        row_labels=ids,
        progress=bar.rows,
        random_state=seed,
    )
    bar.stop()
    for note in notes:
        warn(note)
    return explainer, place


def _answered(bar: Bar, found: Counterfactuals, path: Path | None, kind: str, *, whole: bool) -> None:
    """Say what was found, and where it was written."""
    from pellucid.cli.wanted import written

    file = None if path is None else written(found, path, kind, whole=whole).resolve()
    bar.stop()
    for line in found.text().splitlines():
        say(line)
    if file is not None:
        say(f"Written: {file}")
