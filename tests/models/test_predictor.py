"""Every call is checked, and the outputs and their scale are what the user asked for."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from models.asking import predictions, second
from pellucid.data import Data
from pellucid.errors import InputError, ModelError
from pellucid.models import Predictor
from pellucid.models.predictor import LOGIT_FLOOR
from pellucid.runner import Run, constant_sweep


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day", "open"]].fillna(0.0)


@pytest.fixture(scope="module")
def three(X, level):
    return LogisticRegression(max_iter=500).fit(X, level)


@pytest.fixture(scope="module")
def two(X, verdict):
    return LogisticRegression(max_iter=500).fit(X, verdict)


# -- what a model may not return ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            lambda X: np.zeros(len(X) - 1),
            r"returned 15 predictions for 16 rows; it must return one per row",
        ),
        (lambda X: np.zeros((1, len(X))), r"returned 1 predictions for 16 rows"),
        (
            lambda X: np.zeros((len(X), 2, 2)),
            r"array with 3 dimensions for 16 rows; it must return \(rows,\)",
        ),
        (lambda X: 1.0, r"array with 0 dimensions for 16 rows"),
        (lambda X: None, r"returned None, which is no array of numbers"),
        (lambda X: np.array(["yes"] * len(X)), r"returned \['yes'\], .* explain its probabilities"),
        (
            lambda X: np.array(["1"] * len(X), dtype=object),
            r"returned \['1'\], which is no array of numbers",
        ),
        (lambda X: [[1.0]] * (len(X) - 1) + [[1.0, 2.0]], r"which is no array of numbers"),
        (lambda X: np.full(len(X), 1j), r"which is no array of numbers"),
        (
            lambda X: np.where(np.arange(len(X)) == 3, np.nan, 1.0),
            r"predicted nan for row 3 .*impute missing",
        ),
        (
            lambda X: np.where(np.arange(len(X)) == 5, np.inf, 1.0),
            r"predicted inf for row 5 .*bound the output",
        ),
    ],
    ids=["short", "row", "cube", "scalar", "none", "text", "digits", "ragged", "complex", "nan", "inf"],
)
def test_what_is_no_prediction(X, returned, message):
    with pytest.raises(ModelError, match=message):
        Predictor(returned, X)


def test_checks_hold_for_every_later_call(X):
    """A model that behaves on the first rows and not on the rest."""
    where = {"nan": False, "width": False}

    def f(table):
        p = np.ones((len(table), 1 + where["width"]))
        p[-1] = np.nan if where["nan"] else 1.0
        return p

    predictor = Predictor(f, X)
    where["nan"] = True
    with pytest.raises(ModelError, match=r"the model f predicted nan for row 149 of a batch of 150"):
        predictions(predictor, X)
    where["nan"], where["width"] = False, True
    with pytest.raises(ModelError, match=r"returned 2 outputs after 1 before; the number must not change"):
        predictions(predictor, X)


def test_a_failing_model_is_quoted(X):
    def f(table):
        raise KeyError("humidity\nis not there")

    with pytest.raises(
        ModelError, match=r"the model f failed on a batch of 16 rows: KeyError: .*humidity"
    ) as caught:
        Predictor(f, X)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_model_that_says_it_is_not_fitted(X):
    class Raw:
        def predict(self, table):
            raise NotFittedError

    with pytest.raises(InputError, match="Raw is not fitted; call fit"):
        Predictor(Raw(), X)


# -- behaviour ------------------------------------------------------------------------------------


def test_deterministic_models_are_stable(X, two):
    assert Predictor(two, X).instability == 0.0
    assert Predictor(lambda t: np.full(len(t), 7.0), X).instability == 0.0


def test_a_random_model_is_unstable(X):
    rng = np.random.default_rng(0)
    noisy = Predictor(lambda t: t["day"] + rng.normal(size=len(t)), X)
    assert 0.05 < noisy.instability < 2.0
    far = Predictor(lambda t: 1e5 + t["day"] + rng.normal(size=len(t)), X)  # small beside its level
    assert 0.05 < far.instability < 2.0


def test_a_model_that_looks_at_the_whole_batch_is_unstable(X):
    assert Predictor(lambda t: t["day"].to_numpy() * np.arange(len(t)), X).instability > 0.05


def greedy(table):
    """Doubles its input in place."""
    table *= 2
    return table.sum(axis=1)


@pytest.mark.parametrize("kind", ["numpy", "pandas"])
def test_a_model_that_writes_into_its_input_gets_copies(X, kind):
    table = X[["temp", "day"]].astype(float)
    original = table.copy()
    native = table.to_numpy() if kind == "numpy" else table
    predictor = Predictor(greedy, native)
    assert predictor.mutates
    data = Data.of(native)
    expected = 2 * original.to_numpy().sum(axis=1)
    np.testing.assert_array_equal(predictor(native, len(table))[:, 0], expected)
    for _ in range(2):
        np.testing.assert_array_equal(Run().predict(predictor, data)[:, 0], expected)
    sweep = constant_sweep(data, (1,), (np.arange(5.0),))
    got = Run().collect(predictor, data, sweep)[:, :, 0]
    by_hand = 2 * (original["temp"].to_numpy() + np.arange(5.0)[:, None])
    np.testing.assert_array_equal(got, by_hand)
    np.testing.assert_array_equal(np.asarray(native), original.to_numpy())


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.pop("temp"),
        lambda t: t.loc.__setitem__(len(t), t.iloc[0]),
        lambda t: t.isetitem(0, t["temp"] + 1),
    ],
    ids=["drops a column", "adds a row", "replaces a column"],
)
def test_structural_changes_are_seen(X, change):
    def f(table):
        answer = table["day"].to_numpy(dtype=float)
        change(table)
        return answer

    predictor = Predictor(f, X)
    assert predictor.mutates
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], X["day"])


def test_reading_is_not_writing(mixed):
    """Missing values of every kind compare equal to themselves."""
    dates = mixed.assign(when=np.datetime64("2024-01-01", "us"))
    dates.loc[:3, "when"] = None
    assert not Predictor(lambda t: t["day"], dates).mutates


def test_the_models_own_buffer_is_not_kept(X):
    buffer = np.zeros(len(X))

    def f(table):
        buffer[: len(table)] = table["day"]
        return buffer[: len(table)]

    predictor = Predictor(f, X)
    first = predictor(X, len(X))
    predictor(X.assign(day=0), len(X))
    np.testing.assert_array_equal(first[:, 0], X["day"])


# -- output= and link= ----------------------------------------------------------------------------


def test_output_picks_classes_in_the_order_asked(X, three):
    own = three.predict_proba(X)
    one = Predictor(three, X, output="mid")
    assert one.output_names == ("mid",)
    np.testing.assert_array_equal(predictions(one, X), own[:, [1]])
    several = Predictor(three, X, output=["top", "low"])
    assert several.output_names == ("top", "low")
    np.testing.assert_array_equal(predictions(several, X), own[:, [2, 0]])
    assert Predictor(three, X, output={"top", "low", "mid"}).output_names == ("low", "mid", "top")


def test_output_of_a_binary_classifier(X, two):
    own = two.predict_proba(X)
    np.testing.assert_array_equal(predictions(Predictor(two, X, output="no"), X), own[:, [0]])
    both = Predictor(two, X, output=("no", "yes"))
    np.testing.assert_array_equal(predictions(both, X), own)


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True], [1, 2]])
def test_output_is_found_by_value_or_by_name(X, verdict, labels):
    y = np.array(labels)[(verdict == "yes").astype(int)]
    model = LogisticRegression(max_iter=500).fit(X, y)
    for output in (labels[0], str(labels[0]), y.dtype.type(labels[0])):
        predictor = Predictor(model, X, output=output)
        np.testing.assert_array_equal(predictions(predictor, X)[:, 0], model.predict_proba(X)[:, 0])


def test_unknown_outputs_are_answered_with_known_ones(X, three):
    with pytest.raises(
        InputError, match=r"output='Midd' is not an output of the model; did you mean 'mid'\?"
    ):
        Predictor(three, X, output="Midd")
    with pytest.raises(InputError, match=r"output=3 is not an output .* known are 'low', 'mid', 'top'"):
        Predictor(three, X, output=3)
    with pytest.raises(InputError, match="output= is empty"):
        Predictor(three, X, output=[])
    with pytest.raises(InputError, match="names an output twice"):
        Predictor(three, X, output=["mid", "mid"])


def test_a_full_prediction_has_every_class(X, two):
    predictor = Predictor(two, X, output="no", link="logit")
    full, _ = predictor.timed_full(X, len(X))
    np.testing.assert_array_equal(full, two.predict_proba(X))
    np.testing.assert_array_equal(predictor.restrict(full), predictor(X, len(X)))
    assert (predictor.width, predictor.raw_scale, predictor.scale) == (2, "probability", "log-odds")


def test_logit_link_gives_log_odds(X, two, three):
    predictor = Predictor(two, X, link="logit")
    np.testing.assert_allclose(predictions(predictor, X)[:, 0], two.decision_function(X), rtol=0, atol=1e-6)
    p = three.predict_proba(X)
    got = predictions(Predictor(three, X, link="logit"), X)
    np.testing.assert_allclose(got, np.log(p / (1 - p)), rtol=1e-9)


def test_logit_of_certainty_is_finite(X, verdict):
    model = DecisionTreeClassifier(random_state=0).fit(X, verdict)
    limit = np.log((1 - LOGIT_FLOOR) / LOGIT_FLOOR)
    certain = second(model.predict_proba(X)) * 2 - 1
    got = predictions(Predictor(model, X, link="logit"), X)[:, 0]
    assert set(np.unique(certain)) >= {-1.0, 1.0}
    np.testing.assert_allclose(
        got[np.abs(certain) == 1], (limit * certain)[np.abs(certain) == 1], rtol=1e-9
    )


def test_logit_needs_probabilities(X, amount, verdict, two):
    for model in (
        LinearRegression().fit(
            X, (amount - amount.min()) / np.ptp(amount)
        ),  # numbers in [0, 1], but measured
        make_pipeline(StandardScaler(), LinearSVC()).fit(X, verdict),
        lambda t: t["temp"] * 100,
    ):
        with pytest.raises(InputError, match=r"link='logit' needs probabilities, .* use link='identity'"):
            Predictor(model, X, link="logit")
    f = Predictor(lambda t: second(two.predict_proba(t)), X, link="logit")
    assert f.scale == "log-odds"
    with pytest.raises(InputError, match=r"link='probit' is not known; use 'identity' or 'logit'"):
        Predictor(two, X, link="probit")


def test_logit_of_a_function_that_leaves_the_unit_interval(X):
    predictor = Predictor(lambda t: t["day"] / 6, X, link="logit")
    with pytest.raises(
        InputError, match=r"needs probabilities between 0 and 1, but the model returned .* to 2"
    ):
        predictor(X.assign(day=12), len(X))


def test_gradients_are_refused_where_there_are_none(X, two):
    with pytest.raises(InputError, match="LogisticRegression gives no gradients"):
        Predictor(two, X).gradient(X, len(X))


# -- other processes ------------------------------------------------------------------------------


def _xgboost(X, verdict):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is optional")
    return xgboost.train({"nthread": 1}, xgboost.DMatrix(X, verdict == "yes"), 3)


def _lightgbm(X, verdict):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is optional")
    return lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(X, verdict)


def _catboost(X, verdict):
    catboost = pytest.importorskip("catboost", reason="catboost is optional")
    settings = {"iterations": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    return catboost.CatBoostClassifier(**settings).fit(X, verdict)


def _torch(X, verdict):
    torch = pytest.importorskip("torch", reason="torch is optional")
    return torch.nn.Linear(3, 2)


def _onnx(X, verdict):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx makes the graph")
    matrix = X.to_numpy(dtype=np.float32)
    return skl2onnx.to_onnx(DecisionTreeClassifier(max_depth=3).fit(matrix, verdict), matrix[:1])


def _sum(table):
    return table.sum(axis=1)


MAKERS = {
    "sklearn": lambda X, y: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
    "bound method": lambda X, y: LinearRegression().fit(X, y == "yes").predict,
    "labels": lambda X, y: LogisticRegression().fit(X, y).predict,
    "function": lambda X, y: _sum,
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "torch": _torch,
    "onnx": _onnx,
}


@pytest.mark.parametrize("which", MAKERS)
def test_predictors_travel_to_other_processes(X, verdict, which):
    predictor = Predictor(MAKERS[which](X, verdict), X)
    table = Data.of(X, container=predictor.container).frame.native
    (there,) = Parallel(n_jobs=2, backend="loky")([delayed(predictor)(table, len(X))])
    np.testing.assert_array_equal(there, predictor(table, len(X)))
