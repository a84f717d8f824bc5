"""``pellucid report`` and ``pellucid demo``: what they write, say and refuse."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from typer.testing import CliRunner, Result

import pellucid
from golden_files import masked
from pellucid.cli import app
from pellucid.cli.load import read_table
from pellucid.errors import InputError
from versions import needs

skops = pytest.importorskip("skops.io", reason="skops is not installed")

COLUMNS = ["temp", "wind"]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=COLUMNS)
    return X.assign(cnt=3 * X["temp"] - X["wind"], mild=np.where(X["temp"] > 0, "yes", "no"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, table: pd.DataFrame) -> Path:
    """A folder with a model in several formats and a table in two."""
    folder = tmp_path_factory.mktemp("files")
    model = LinearRegression().fit(table[COLUMNS], table["cnt"])
    skops.dump(model, folder / "model.skops")
    joblib.dump(model, folder / "model.joblib")
    joblib.dump(LinearRegression(), folder / "unfitted.joblib")
    joblib.dump({"no": "model"}, folder / "dict.pkl")
    skops.dump(LogisticRegression().fit(table[COLUMNS], table["mild"]), folder / "classes.skops")
    (folder / "broken.skops").write_bytes(b"this is no archive")
    table.to_csv(folder / "days.csv", index=False)
    return folder


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(result: Result, *words: str) -> None:
    """Exit code 2, one sentence on standard error, no traceback."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr
    assert result.stdout == ""


# -- what works --------------------------------------------------------------------------------------


def test_report(files: Path, tmp_path: Path, golden: Any) -> None:
    path = tmp_path / "r.html"
    result = run(
        "report", files / "model.skops", files / "days.csv", "--target", "cnt", "-o", path, "--title", "<Rain>"
    )
    assert result.exit_code == 0, result.stderr
    *lines, last = result.stdout.splitlines()
    assert last == f"Report: {path.resolve()}"
    golden("cli", "report", [*map(masked, lines), result.stderr])
    page = path.read_text(encoding="utf-8")
    assert "<h1>&lt;Rain&gt;</h1>" in page
    assert 'id="effect-2"' in page


def test_classes_have_the_names_given(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    model = files / "classes.skops"
    result = run(
        "report", model, files / "days.csv", "--target", "mild", "--classes", "cold, mild", "--top", 1, "-o", path
    )
    assert result.exit_code == 0, result.stderr
    assert "probability of mild" in path.read_text(encoding="utf-8")
    refused(
        run("report", model, files / "days.csv", "--classes", "cold", "-o", path), "2 different names", "'no', 'yes'"
    )


def test_rows_and_features_have_the_names_given(files: Path, tmp_path: Path, table: pd.DataFrame) -> None:
    path, named = tmp_path / "r.html", tmp_path / "named.csv"
    table.assign(station=[f"st{i:02d}" for i in range(len(table))]).to_csv(named, index=False)
    common = ["report", files / "model.skops", named, "--target", "cnt", "--top", 1, "-o", path]
    result = run(*common, "--id", "station", "--labels", "temp=Temperature", "--units", "temp=°C,wind=km/h", "--row", 7)
    assert result.exit_code == 0, result.stderr
    assert "Temperature (°C)" in result.stdout
    assert "station" not in result.stderr
    page = path.read_text(encoding="utf-8")
    assert "st07" in page
    assert "wind (km/h)" in page
    refused(run(*common, "--id", "staton"), "no column 'staton' for --id; did you mean 'station'?")
    refused(run(*common, "--labels", "temp"), "--labels has 'temp'", "column=name")
    refused(run(*common, "--units", "tmp=C"), "did you mean 'temp'?")


def test_report_without_target(files: Path, tmp_path: Path, golden: Any) -> None:
    path = tmp_path / "r.html"
    result = run("report", files / "model.skops", files / "days.csv", "-o", path, "--top", 1)
    assert result.exit_code == 0, result.stderr
    golden("cli", "report without a target", result.stderr)
    page = path.read_text(encoding="utf-8")
    assert 'id="effect-1"' in page
    assert 'id="effect-2"' not in page


def test_rows_to_explain(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    given = ("--target", "cnt", "-o", path, "--row", 3, "--row", 17)
    result = run("report", files / "model.skops", files / "days.csv", *given)
    assert result.exit_code == 0, result.stderr
    page = path.read_text(encoding="utf-8")
    for row in (3, 17):
        assert f'id="row-{row}">' in page


def test_one_class_of_a_classifier(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    result = run(
        "report", files / "classes.skops", files / "days.csv", "--target", "mild", "--output", "no", "-o", path
    )
    assert result.exit_code == 0, result.stderr
    assert "probability of no<" in path.read_text(encoding="utf-8")


def test_joblib_with_trust(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    result = run("report", files / "model.joblib", files / "days.csv", "--target", "cnt", "-o", path, "--trust")
    assert result.exit_code == 0, result.stderr
    assert path.is_file()


def test_same_seed_same_file(files: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    for path in paths:
        run(
            "report",
            files / "model.skops",
            files / "days.csv",
            "--target",
            "cnt",
            "-o",
            path,
            "--rows",
            40,
            "--seed",
            3,
        )
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert "<dd>40</dd>" in paths[0].read_text(encoding="utf-8")


@needs("pandas", "3.0")
def test_a_folder_a_pattern_and_parquet_hold_the_same_table(files: Path, tmp_path: Path, table: pd.DataFrame) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = tmp_path / "parts"
    folder.mkdir()
    table.iloc[:20].to_csv(folder / "1.csv", index=False)
    table.iloc[20:].to_parquet(folder / "2.parquet")
    (folder / "README.txt").write_text("not a table")
    pages = []
    for data in (files / "days.csv", folder, folder / "*"):
        path = tmp_path / "r.html"
        result = run("report", files / "model.skops", data, "--target", "cnt", "-o", path)
        assert result.exit_code == 0, result.stderr
        pages.append(path.read_bytes())
    assert pages[0] == pages[1] == pages[2]


def test_demo_goes_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = pd.DataFrame({"x": np.linspace(0, 1, 20)})
    small = pellucid.Explainer(lambda table: table["x"].to_numpy(), X, X["x"], progress=False)
    monkeypatch.setattr(sys.modules["pellucid.cli.app"], "demo_explainer", lambda progress: small)
    result = run("demo", "-o", tmp_path / "d.html")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"Report: {(tmp_path / 'd.html').resolve()}"
    assert [entry.name for entry in tmp_path.iterdir()] == ["d.html"]


def test_version() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"pellucid {pellucid.__version__}\n")


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("model.skops", ["--target", "cmt"], "did you mean 'cnt'?"),
        ("model.joblib", ["--target", "cnt"], "--trust"),
        ("dict.pkl", [], "--trust"),
        ("dict.pkl", ["--trust"], "model is a dict"),
        ("unfitted.joblib", ["--trust", "--target", "cnt"], "is not fitted; call fit"),
        ("broken.skops", [], "is no skops model that can be read"),
        ("nothing.skops", [], "there is no model file"),
        ("days.csv", [], "does not end like a model file"),
        ("model.skops", ["--target", "mild"], "y holds 'yes', but the model predicts numbers"),
        ("model.skops", ["--target", "temp"], "trained with 'temp' as a feature"),
        ("model.skops", ["--row", "60"], "row 60 is out of range; there are 60 rows, 0 to 59."),
        ("model.skops", ["--row", "-1"], "row -1 is out of range"),
        ("model.skops", ["--row", "1", "--rows", "9"], "--row counts the rows of the whole table"),
        ("classes.skops", ["--target", "mild", "--output", "maybe"], "'maybe' is not an output of the model"),
    ],
)
def test_bad_models_and_targets(files: Path, tmp_path: Path, model: str, options: list[str], words: str) -> None:
    path = tmp_path / "r.html"
    refused(run("report", files / model, files / "days.csv", "-o", path, *options), words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", "is empty; give a table"),
        ("a.csv", b"temp,wind,cnt\n", "has no rows"),
        ("a.csv", b"temp,wind,cnt\n1,2,3\n1,2,\n", "is missing in 1 of 2 rows, first in row 2"),
        ("a.csv", b'temp,wind,cnt\n1,2,3\n1,"2\n', "cannot be read as csv"),
        (
            "a.csv",
            b"temp,wind,cnt\n1,\xff\xfe,3\n",
            "is not written in utf-8; name its encoding, such as --encoding cp1252",
        ),
        ("a.csv", b"temp,wind,temp\n1,2,3\n", "has the column 'temp' twice"),
        ("a.csv", b"hot,cnt\n1,2\n", "no column that the model knows"),
        ("a.csv", b"temp,cnt\n1,2\n2,3\n", "trained with the column 'wind', which X lacks"),
        ("a.parquet", b"PAR1 but no more", "cannot be read as parquet"),
        ("a.xlsx", b"PK", "give a file that ends in .csv or .parquet"),
    ],
)
def test_bad_tables(files: Path, tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    refused(run("report", files / "model.skops", tmp_path / name, "--target", "cnt", "-o", tmp_path / "r.html"), words)


def test_a_csv_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("größe,wind\n1,ärger\n".encode("cp1252"))
    assert list(read_table(str(path), "cp1252").columns) == ["größe", "wind"]
    with pytest.raises(InputError, match="--encoding 'utf-eight' is not known"):
        read_table(str(path), "utf-eight")


def test_tables_that_are_not_there(files: Path, tmp_path: Path) -> None:
    refused(run("report", files / "model.skops", tmp_path, "-o", tmp_path / "r.html"), "holds no CSV or Parquet file")
    refused(run("report", files / "model.skops", tmp_path / "no*.csv"), "there is no data file")


def test_files_of_different_tables(files: Path, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"temp,{name}\n1,2\n")
    refused(run("report", files / "model.skops", tmp_path), "have different columns")


def test_a_place_that_cannot_be_written_to(files: Path, tmp_path: Path) -> None:
    refused(run("demo", "-o", tmp_path / "nowhere" / "r.html"), "there is no folder")
    refused(run("report", files / "model.skops", files / "days.csv", "-o", tmp_path), "is a folder")


def test_parquet_without_pyarrow(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("report", files / "model.skops", tmp_path / "a.parquet", "-o", tmp_path / "r.html")
    refused(result, "reading Parquet needs the package 'pyarrow'; install it with: pip install \"pellucid[arrow]\"")


def test_errors_of_the_system_are_one_sentence(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "r.html")

    monkeypatch.setattr("pellucid.report.write", full)
    result = CliRunner().invoke(
        app, ["report", str(files / "model.skops"), str(files / "days.csv"), "-o", str(tmp_path / "r.html")]
    )
    assert result.exit_code == 2
    assert "r.html: No space left on device" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["report"],
        ["report", "m.skops", "d.csv", "--top", "0"],
        ["report", "m.skops", "d.csv", "--row", "x"],
        ["rapport"],
        ["demo", "--fast"],
    ],
)
def test_usage_errors(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pellucid.report.build", interrupted)
    result = run("demo", "-o", tmp_path / "r.html")
    assert (result.exit_code, result.stderr) == (130, "interrupted: no report was written.\n")
    assert list(tmp_path.iterdir()) == []


def test_an_unexpected_error_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a defect of ours")

    monkeypatch.setattr("pellucid.report.build", broken)
    result = run("demo", "-o", tmp_path / "r.html")
    assert isinstance(result.exception, RuntimeError)
