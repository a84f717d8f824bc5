"""Which method answers, and that no option is lost without a word."""

import inspect

import numpy as np
import pytest

import pellucid
from pellucid import Explainer
from pellucid.methods.importance.dispatch import _METHODS
from pellucid.methods.importance.request import DEFAULTS

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0]


def ask(**options):
    return Explainer(lambda X: X[:, 0], X, Y, progress=False).importance(**options)


OTHER = {
    "loss": "mae", "compare": "ratio", "repeats": 3, "scheme": "pairs", "p_values": True, "grid": 9,
    "at": {"x0": [0, 1]}, "ranges": {"x0": (0, 1)},
    "holdout": (X, Y), "folds": 3, "refit": lambda X, y: None, "budget": 1000, "tolerance": 0.1,
}  # fmt: skip


def test_the_defaults_are_those_of_the_explainer():
    signature = inspect.signature(Explainer.importance).parameters
    assert {name: signature[name].default for name in DEFAULTS} == DEFAULTS
    assert set(OTHER) == set(DEFAULTS)


@pytest.mark.parametrize(
    ("method", "option"),
    [(name, option) for name, (_, takes) in _METHODS.items() for option in DEFAULTS if option not in takes],
)
def test_an_option_the_method_does_not_take_is_refused_by_name(method, option):
    with pytest.raises(pellucid.InputError, match=f"^{option}= is not used by method='{method}'") as error:
        ask(method=method, **{option: OTHER[option]})
    users = [name for name, (_, takes) in _METHODS.items() if option in takes]
    assert all(name in str(error.value) for name in users)


@pytest.mark.parametrize("method", ["permutations", "SHAP", None, 3, "shap "])
def test_an_unknown_method_is_refused(method):
    with pytest.raises(pellucid.InputError, match="is not known"):
        ask(method=method)


def test_the_nearest_method_is_named():
    with pytest.raises(pellucid.InputError, match="permutation"):
        ask(method="permutations")


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ([], "at least two"),
        (["shap"], "at least two"),
        (["shap", "pdp", "shap"], "'shap' is in the list twice"),
        (["shap", "gini"], "'gini' is not known"),
    ],
)
def test_a_list_that_compares_nothing_is_refused(methods, said):
    with pytest.raises(pellucid.InputError, match=said):
        ask(method=methods)


def test_in_a_comparison_each_method_takes_its_own_options():
    both = ask(method=("permutation", "pdp"), repeats=3, grid=7, loss="mae")
    assert both.of("permutation").settings["repeats"] == 3
    assert both.of("permutation").measure == "mae"
    assert both.of("pdp").settings["grid"] == 7
    with pytest.raises(pellucid.InputError, match=r"budget= .*permutation and pdp"):
        ask(method=["permutation", "pdp"], budget=100)


def test_fitting_again_needs_a_reason():
    with pytest.raises(pellucid.InputError, match="p_values=True or folds="):
        ask(refit=lambda X, y: None)
    with pytest.raises(pellucid.InputError, match="leave out holdout="):
        ask(folds=3, holdout=(X, Y))


def test_that_a_result_is_incomplete_is_no_matter_of_checks():
    calls = []

    def model(X):
        calls.append(len(X))
        if len(calls) > 3 and len(X) > 50:
            raise KeyboardInterrupt
        return X[:, 0] + X[:, 1]

    X = np.random.default_rng(0).normal(size=(200_000, 3))
    explainer = Explainer(model, X, X[:, 0], checks=False)
    calls.clear()
    found = explainer.importance()
    assert np.isnan(found.values).any()
    assert [caveat.code for caveat in found.caveats] == ["partial"]
    assert found.cost.interrupted
    assert found.headline() == found.so_far(found._headline()) != found._headline()
    assert found.plot().spec["title"]["text"][0].startswith(found.headline()[:20])
