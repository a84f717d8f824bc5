"""``pellucid counterfactuals`` and ``pellucid adversarial``: what they say, write and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner, Result

import pellucid
from pellucid.cli import app

skops = pytest.importorskip("skops.io", reason="skops is not installed")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a classifier, a regression, and their table."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 80),
            "amount": rng.integers(5, 100, 80) * 100,
            "savings": rng.choice(["little", "some"], 80),
        }
    )
    good = (X["age"] - X["amount"] / 100 + 30 * (X["savings"] == "some") + rng.normal(0, 5, 80)) > 10
    folder = tmp_path_factory.mktemp("files")
    encoded = make_column_transformer((OneHotEncoder(), ["savings"]), remainder="passthrough")
    classes = make_pipeline(encoded, LogisticRegression(max_iter=2000)).fit(X, np.where(good, "good", "bad"))
    skops.dump(classes, folder / "classes.skops")
    skops.dump(LinearRegression().fit(X[["age", "amount"]], X["age"] + X["amount"]), folder / "sum.skops")
    X.assign(risk=np.where(good, "good", "bad"), name=[f"p{i}" for i in range(80)]).to_csv(
        folder / "people.csv", index=False
    )
    return folder


@pytest.fixture(scope="module")
def row(files: Path) -> int:
    """A row that is predicted to be bad."""
    table = pd.read_csv(files / "people.csv")
    model = skops.load(files / "classes.skops", trusted=skops.get_untrusted_types(file=files / "classes.skops"))
    return int(np.flatnonzero(model.predict(table[["age", "amount", "savings"]]) == "bad")[0])


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def asked(files: Path, *options: Any, verb: str = "counterfactuals", model: str = "classes.skops") -> Result:
    return run(verb, files / model, files / "people.csv", *options)


def refused(result: Result, *words: str) -> None:
    """Exit code 2, one sentence on standard error, no traceback."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    for word in words:
        assert word in last
    assert "Written" not in result.stdout


# -- what works --------------------------------------------------------------------------------------


def test_the_answer_is_that_of_the_verb_and_keeps_what_is_asked(files: Path, row: int, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    result = asked(
        files, "--row", row, "--target", "good", "--fixed", "savings", "--monotone", "age:up", "--n", 2, "-o", path
    )
    assert result.exit_code == 0, result.stderr
    found = pellucid.load(path)
    *lines, last = result.stdout.splitlines()
    assert lines == found.text().splitlines()
    assert last == f"Written: {path.resolve()}"
    assert "left out, because the model does not know them: risk and name." in result.stderr
    assert 1 <= len(found) <= 2
    assert found.valid.all()
    for i in range(len(found)):
        changes = found.changes(i)
        assert "savings" not in changes
        assert changes.get("age", (0, 1))[1] > changes.get("age", (0, 1))[0]


def test_without_a_file_the_answer_is_said(files: Path, row: int) -> None:
    result = asked(files, "--row", row, "--n", 1)
    assert result.exit_code == 0, result.stderr
    assert "would predict" in result.stdout
    assert "Written" not in result.stdout


@pytest.mark.parametrize("ending", ["html", "png", "svg"])
def test_charts(files: Path, row: int, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"chart.{ending}"
    result = asked(
        files, "--row", row, "--target", "good", "-o", path, "--kind", "surface" if ending == "svg" else "changes"
    )
    assert result.exit_code == 0, result.stderr
    start = {"html": b"<!", "png": b"\x89PNG", "svg": b"<svg"}[ending]
    assert path.read_bytes().lstrip()[: len(start)].lower() == start.lower()


def test_tables_hold_changes_or_whole_rows(files: Path, row: int, tmp_path: Path) -> None:
    changes, whole = tmp_path / "changes.csv", tmp_path / "whole.csv"
    common = ("--row", row, "--target", "good", "--outcome", "risk")
    assert asked(files, *common, "-o", changes).exit_code == 0
    assert asked(files, *common, "-o", whole, "--whole").exit_code == 0
    assert list(pd.read_csv(changes)) == ["answer", "feature", "now", "instead"]
    rows = pd.read_csv(whole)
    assert {"age", "amount", "savings", "gower", "changes", "robustness"} <= set(rows)
    assert rows["valid"].all()


def test_targets_of_numbers_and_ranges(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    table = pd.read_csv(files / "people.csv")
    place = int(table["amount"].idxmin())
    for target, low, high in (("9000", 9000, np.inf), (">= 9000", 9000, np.inf), ("8000..9000", 8000, 9000)):
        options = ("--row", place, "--target", target, "--range", "age:18..50", "-o", path)
        result = asked(files, *options, model="sum.skops")
        assert result.exit_code == 0, result.stderr
        found = pellucid.load(path)
        assert len(found)
        assert ((found.predictions >= low - 1e-6) & (found.predictions <= high + 1e-6)).all()
        own = table["age"][place]
        assert all(age == own or 18 <= age <= 50 for age in found.rows()["age"])


def test_a_row_by_its_name(files: Path, row: int, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    result = asked(files, "--row", f"p{row}", "--id", "name", "--target", "good", "--n", 1, "-o", path)
    assert result.exit_code == 0, result.stderr
    assert pellucid.load(path).row_labels.name(0) == f"p{row}"
    refused(asked(files, "--row", "q1", "--id", "name"), "no row 'q1'")


def test_an_adversarial_example_is_the_smallest_change(files: Path, row: int, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    result = asked(files, "--row", row, "--norm", "l2", "-o", path, verb="adversarial")
    assert result.exit_code == 0, result.stderr
    found = pellucid.load(path)
    assert len(found) == 1
    assert found.valid.all()
    assert found.settings["distance"] == "l2"


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--row", "80"], "--row 80 is out of range; there are 80 rows, 0 to 79."),
        (["--row", "-1"], "out of range"),
        (["--row", "Anna"], "'Anna' is no position"),
        (["--target", "fine"], "'fine' is no class of the model"),
        (["--fixed", "agee"], "did you mean 'age'?"),
        (["--monotone", "age"], "write column:up or column:down"),
        (["--monotone", "age:sideways"], "write column:up or column:down"),
        (["--range", "age"], "write column:low..high"),
        (["--range", "age:a..b"], "--range has 'a'"),
        (["--method", "magic"], "method"),
        (["--out", "x.docx"], "let it end in one of .html"),
        (["--out", "nowhere/x.png"], "there is no folder"),
        (["--kind", "pie", "--out", "x.png"], "--kind"),
        (["--outcome", "rsk"], "for --outcome; did you mean 'risk'?"),
    ],
)
def test_refusals_name_what_to_mend(files: Path, options: list[str], words: str) -> None:
    given = options if "--row" in options else ["--row", "0", *options]
    refused(asked(files, *given), words)


def test_a_number_needs_a_target(files: Path) -> None:
    refused(asked(files, "--row", 0, model="sum.skops"), "target must say what to predict instead")
    refused(asked(files, "--row", 0, "--norm", "l7", verb="adversarial"), "norm")
    refused(asked(files, "--row", 0, "--kind", "surface", verb="adversarial"), "--kind")
