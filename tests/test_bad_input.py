"""Bad input gets one sentence that names what is wrong and what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import pellucid
from pellucid import Explainer
from pellucid.errors import require

X = pd.DataFrame({"temp": np.arange(20.0), "humidity": np.arange(20)[::-1], "season": ["a", "b"] * 10})


def model(table):
    return table["temp"].to_numpy() - 2.0 * table["humidity"].to_numpy()


@pytest.fixture
def ex():
    return Explainer(model, X, model(X), progress=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ex: ex.pdp("temperature"), "no feature 'temperature'; did you mean 'temp'"),
        (lambda ex: ex.pdp("Humidty"), "did you mean 'humidity'"),
        (lambda ex: ex.ale("zzz"), "no feature 'zzz'; known are 'temp', 'humidity', 'season'"),
        (lambda ex: ex.pdp(7), "position 7 is out of range: there are 3 features"),
        (lambda ex: ex.pdp(-1), "position -1 is out of range"),
        (lambda ex: ex.pdp(1.5), "a feature is a name or a position"),
        (lambda ex: ex.pdp(("temp", "temp")), "'temp' is given twice"),
        (lambda ex: ex.pdp(("temp", "humidity", "season")), "one or two features, not 3"),
        (lambda ex: ex.ale(("temp", "humidity", "season", "temp")), "one, two or three features, not 4"),
        (lambda ex: ex.ale(("temp", "humidity", "humidity")), "'humidity' is given twice"),
        (lambda ex: ex.ale(("temp", "humidity", "season"), gradient=True), "needs one numeric feature"),
        (lambda ex: ex.mplot(("temp", "humidity", "season")), "one or two features, not 3"),
        (lambda ex: ex.pdp("season", at=["c"]), "'c' is not a category of feature 'season'"),
        (lambda ex: ex.pdp("temp", at=["warm"]), "feature 'temp' is numeric and cannot take 'warm'; give numbers"),
        (lambda ex: ex.pdp("temp", at=[]), "at= has no values for feature 'temp'"),
        (lambda ex: ex.pdp("temp", at=[1.0, None]), "missing value for feature 'temp'; leave it out"),
        (
            lambda ex: ex.pdp("humidity", at=[1.5]),
            "column 'humidity' holds int64 and cannot take 1.5; give whole numbers",
        ),
        (lambda ex: ex.pdp("temp", kind="mean"), "kind='mean' is not known; known are 'average'"),
        (lambda ex: ex.pdp("temp", grid=0), "grid must be"),
        (lambda ex: ex.pdp("temp", pure=True), "give two features"),
        (lambda ex: ex.ice(("temp", "humidity")), "ice takes one feature"),
        (lambda ex: ex.ice("season", derivative=True), "categories have no slope"),
        (lambda ex: ex.ice("temp", rows=[99]), "row 99 is out of range: X has 20 rows"),
        (lambda ex: ex.ice("temp", rows={"temp": 1.0}), "lack the feature 'humidity'"),
        (lambda ex: ex.ice("temp", rows=[1], sample=2), "give rows= or sample=, not both"),
        (lambda ex: ex.ice("temp", sample=0), "sample must be"),
        (lambda ex: ex.ale("temp", bins=0), "bins must be"),
        (lambda ex: ex.ale("temp", bins=[3.0, 1.0]), "at least two increasing edges"),
        (lambda ex: ex.ale("season", order=["a"]), "leaves out the category 'b'"),
        (lambda ex: ex.ale("season", order=["a", "b", "a"]), "names a category of feature 'season' twice"),
        (lambda ex: ex.ale("temp", gradient=True), "gives no gradients; leave gradient=False"),
        (lambda ex: ex.mplot(("temp", "humidity")), "mplot takes one feature"),
        (lambda ex: ex.importance(loss="rsme"), "did you mean 'rmse'"),
        (lambda ex: ex.importance(loss="log_loss"), "is a classification loss, but the model does regression"),
        (lambda ex: ex.importance(loss=3), "give a name or a function"),
        (lambda ex: ex.importance(method="gini"), "method='gini' is not known"),
        (lambda ex: ex.importance(scheme="all"), "scheme='all' is not known"),
        (lambda ex: ex.importance(compare="quotient"), "compare='quotient' is not known"),
        (lambda ex: ex.importance(compare="ratio"), "divides by the model's loss, which is zero here"),
        (lambda ex: ex.importance(repeats=0), "repeats must be"),
        (lambda ex: ex.pdp("temp").value(50), "lies outside the grid"),
        (lambda ex: ex.pdp("season").value("c"), "'c' is not a level of 'season'"),
        (lambda ex: ex.pdp("temp").value(1, 2), "give 1 values, one for each of temp"),
        (lambda ex: ex.pdp("temp").plot(colours=3), "colour"),
        (lambda ex: ex.pdp("temp").plot().save("chart.bmp"), "png"),
    ],
)
def test_calls(ex, call, message):
    with pytest.raises(pellucid.InputError) as raised:
        call(ex)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [1, 2]}, "y has 2 values but X has 20 rows"),
        ({"y": [1.0] * 19 + [None]}, "y is missing in row 19"),
        ({"sample_weight": [1, 2]}, "sample_weight has shape (2,) but X has 20 rows"),
        ({"sample_weight": [-1] + [1] * 19}, "sample_weight is -1.0 in row 0"),
        ({"sample_weight": [0] * 20}, "sample_weight is zero everywhere"),
        ({"groups": {"g": ["temp", "hum"]}}, "no feature 'hum'; did you mean"),
        ({"groups": {"g": ["temp"], "h": ["temp"]}}, "in the groups 'g' and 'h'"),
        ({"categorical": ["tmp"]}, "no feature 'tmp'; did you mean 'temp'"),
        ({"link": "probit"}, "link='probit' is not known"),
        ({"link": "logit"}, "needs probabilities"),
        ({"random_state": "lucky"}, "random_state must be a whole number"),
        ({"output": "yes"}, "output='yes' is not an output"),
        ({"X": X.iloc[:0]}, "X has no rows"),
        ({"X": X[[]]}, "X has no columns"),
        ({"X": X["temp"]}, "X is a pandas Series; give a DataFrame"),
        ({"X": 3.0}, "X is a float"),
        ({"model": LinearRegression}, "is the class LinearRegression, not a fitted model"),
        ({"model": RandomForestRegressor()}, "is not fitted; call fit before"),
        ({"model": "model.txt"}, "there is no model file 'model.txt'"),
        ({"model": None}, "model is a NoneType"),
        ({"model": lambda table: np.ones(3)}, "returned 3 predictions for"),
        ({"model": lambda table: table["season"].to_numpy()}, "not an array of numbers"),
        ({"model": lambda table: np.full(len(table), np.nan)}, "predicted nan for row 0"),
        ({"model": lambda table: np.ones((len(table), 2, 2))}, "3 dimensions"),
    ],
)
def test_construction(arguments, message):
    with pytest.raises(pellucid.PellucidError) as raised:
        Explainer(**{"model": model, "X": X, "progress": False, **arguments})
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_infinite_values_name_feature_and_row():
    with pytest.raises(pellucid.InputError, match="'temp' is infinite in row 3"):
        Explainer(lambda table: table["humidity"], X.assign(temp=[0.0, 1, 2, np.inf, *range(16)]))


def test_a_label_that_is_no_class_names_the_row():
    labels = np.array(["no", "yes"] * 10)
    fitted = LogisticRegression().fit(X[["temp"]], labels)
    wrong = labels.copy()
    wrong[4] = "yse"
    with pytest.raises(pellucid.InputError, match=r"'yse' in row 4.*'yes'"):
        Explainer(fitted, X[["temp"]], wrong, progress=False).importance()


def test_a_missing_library_gives_the_install_line():
    with pytest.raises(pellucid.MissingExtra, match=r'drawing .*pip install "pellucid\[charts\]"'):
        require("no_such_library", extra="charts", purpose="drawing")


def test_files_that_are_no_explanations(tmp_path):
    with pytest.raises(pellucid.InputError, match="there is no file"):
        pellucid.load(tmp_path / "absent.json")
    for text in ("not json", "[1, 2]", '{"a": 1}'):
        path = tmp_path / "x.json"
        path.write_text(text)
        with pytest.raises(pellucid.InputError, match="not a saved explanation"):
            pellucid.load(path)
    path.write_text('{"format": 99, "explanation": {}}')
    with pytest.raises(pellucid.InputError, match="format 99"):
        pellucid.load(path)
