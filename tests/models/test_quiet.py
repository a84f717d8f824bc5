"""What other libraries announce about themselves does not reach the user; what concerns the user does."""

import threading
import warnings

import numpy as np
import pytest

from pellucid import Explainer
from pellucid.models.quiet import quietly

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2]


def said_by(module, call):
    """The warnings that reach the user of a call whose own warnings come from ``module``."""
    space = {"__name__": module, "warnings": __import__("warnings")}
    exec("def warn(text, category):\n    warnings.warn(text, category, stacklevel=1)", space)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(space["warn"])
    return {str(warning.message) for warning in caught}


def told(warn):
    warn("predict changes in 9.0", FutureWarning)
    warn("predict is old", DeprecationWarning)
    warn("booster=dart is Deprecated.\nUse another", UserWarning)
    warn("overflow", RuntimeWarning)
    warn("unknown categories", UserWarning)


def explained(warn):
    def model(table):
        told(warn)
        return table[:, 0]

    Explainer(model, X, Y).pdp(0, at=[0, 1])


def test_a_library_that_announces_its_future():
    assert said_by("somelib.core", explained) == {"overflow", "unknown categories"}


def test_a_method_of_a_model_that_announces_its_own_end_to_the_caller():
    """We call it because the user's model has it, so it is not for us; nor can the user do anything about it."""
    space = {"__name__": "somelib.core", "warnings": warnings}
    exec(
        "class Model:\n"
        "    def fit(self, X, y):\n        return self\n"
        "    def predict(self, X):\n"
        "        warnings.warn('predict goes in 9.0', FutureWarning, stacklevel=2)\n"
        "        warnings.warn('Model is deprecated', UserWarning, stacklevel=2)\n"
        "        return X[:, 0]",
        space,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Explainer(space["Model"](), X, Y).importance()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.parametrize("module", ["__main__", "pellucid.models.somewhere"])
def test_the_users_own_code_and_ours(module):
    assert len(said_by(module, explained)) == 5


def test_a_warning_about_the_model_is_told_once_and_not_for_every_batch():
    space = {"__name__": "somelib.core", "warnings": warnings}
    exec("def model(X):\n    warnings.warn('overflow', RuntimeWarning)\n    return X[:, 0]", space)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        Explainer(space["model"], X, Y).importance()
    assert len(caught) == 1


def test_the_filters_are_as_before_however_many_threads_come_and_go():
    before = list(warnings.filters)
    inside, leave = threading.Barrier(5), threading.Barrier(5)

    def work():
        with quietly():
            inside.wait()
            leave.wait()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    inside.wait()
    assert len(warnings.filters) == len(before) + 4  # once, not once for each thread
    leave.wait()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


def test_an_error_inside_leaves_the_filters_as_they_were():
    before = list(warnings.filters)
    with pytest.raises(ZeroDivisionError), quietly():
        raise ZeroDivisionError
    assert warnings.filters == before


def test_filters_that_someone_else_replaced_meanwhile():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = list(warnings.filters)
        with quietly():
            warnings.resetwarnings()
        warnings.filters[:] = mine
        assert warnings.filters == mine


class TestXGBoost:
    """It announces the end of dart, of linear boosters and of its forests (3.4)."""

    MODELS = ("dart", "gblinear", "XGBRFRegressor", "XGBRFClassifier")

    def model(self, kind):
        xgb = pytest.importorskip("xgboost")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind in ("dart", "gblinear"):
                return xgb.XGBRegressor(booster=kind, n_estimators=4).fit(X, Y)
            return getattr(xgb, kind)(n_estimators=4).fit(X, Y > 0 if kind.endswith("fier") else Y)

    @pytest.mark.parametrize("form", ["estimator", "booster", "file"])
    @pytest.mark.parametrize("kind", MODELS)
    def test_nothing_of_it_reaches_the_user(self, kind, form, tmp_path):
        model = self.model(kind)
        if form != "estimator":
            path = tmp_path / "model.json"
            model.get_booster().save_model(path)
            model = str(path) if form == "file" else type(model.get_booster())(model_file=path)
        y = (Y > 0).astype(int) if kind.endswith("fier") else Y
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ex = Explainer(model, X, y)
            ex.shap(0)
            ex.pdp(0)
            if form == "estimator":
                ex.importance(method="drop")


class TestPipelines:
    """A step announces its future while it is asked, and while the model behind it is read as trees or as a sum."""

    @pytest.mark.parametrize("kind", ["tree", "linear"])
    def test_nothing_of_it_reaches_the_user(self, kind, monkeypatch):
        from sklearn.linear_model import LinearRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.tree import DecisionTreeRegressor

        last = DecisionTreeRegressor(max_depth=3) if kind == "tree" else LinearRegression()
        model = make_pipeline(StandardScaler(), last).fit(X, Y)
        space = {"__name__": "somelib.steps", "warnings": warnings, "own": StandardScaler.transform}
        exec(
            "def transform(self, X):\n    warnings.warn('transform changes', FutureWarning)\n    return own(self, X)",
            space,
        )
        monkeypatch.setattr(StandardScaler, "transform", space["transform"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ex = Explainer(model, X, Y)
            assert ex.shap(0).method == kind
            ex.pdp(0, grid=50)
            ex.importance()
