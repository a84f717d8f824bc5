"""A model whose trees are not understood is asked, and every answer that suffers from it says so."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from pellucid import Explainer
from pellucid.trees.convert import Unsupported, convert

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2]


@pytest.fixture(scope="module")
def model():
    return HistGradientBoostingRegressor(max_iter=20).fit(X, Y)


@pytest.fixture
def stumbles(monkeypatch):
    """The reader of scikit-learn's trees meets what it does not know; how often it tried is counted."""
    tried = []

    class Reader:
        @staticmethod
        def convert(model):
            tried.append(model)
            return {}["weight_drop"]

    monkeypatch.setitem(sys.modules, "pellucid.trees.convert.sklearn", Reader)
    return tried


def unread(result):
    return [caveat for caveat in result.caveats if caveat.code == "not-trees"]


class TestReader:
    def test_an_unknown_form_is_named_and_never_a_key_error(self, model, stumbles):
        with pytest.raises(Unsupported, match=r"sklearn \d.* HistGradientBoostingRegressor .* 'weight_drop'"):
            convert(model)

    @pytest.mark.parametrize("error", [IndexError("list"), ValueError("bad\nshape"), AttributeError("nodes")])
    def test_any_stumble(self, model, monkeypatch, error):
        class Reader:
            @staticmethod
            def convert(model):
                raise error

        monkeypatch.setitem(sys.modules, "pellucid.trees.convert.sklearn", Reader)
        with pytest.raises(Unsupported, match=f"{type(error).__name__}: {' '.join(str(error).split())}"):
            convert(model)


class TestAnswers:
    def test_a_table_that_the_reader_does_not_understand(self, model, monkeypatch):
        def stumble(table):
            raise IndexError("column 7")

        read = replace(convert(model), encode=stumble)
        monkeypatch.setitem(sys.modules, "pellucid.trees.convert.sklearn", SimpleNamespace(convert=lambda model: read))
        found = Explainer(model, X, Y, background=X[:50]).shap(0)
        assert found.method == "exact"
        assert "IndexError: column 7" in unread(found)[0].message

    def test_shapley_values_are_those_of_the_model_and_say_so(self, model, monkeypatch, stumbles):
        asked = Explainer(model, X, Y, background=X[:50]).shap(X[:2])
        monkeypatch.undo()
        read = Explainer(model, X, Y, background=X[:50]).shap(X[:2])
        assert (asked.method, read.method) == ("exact", "tree")
        np.testing.assert_allclose(asked.values, read.values, atol=1e-9)
        (caveat,) = unread(asked)
        assert "'weight_drop'" in caveat.message
        assert f"{asked.cost.model_rows:,} rows" in caveat.message
        assert not unread(read)

    @pytest.mark.parametrize(
        "verb",
        [
            lambda ex: ex.pdp(0, grid=200),
            lambda ex: ex.ice(0, at=np.linspace(-1, 1, 200)),
            lambda ex: ex.interactions(network=False),
            lambda ex: ex.decompose(),
            lambda ex: ex.importance(method="sage", budget=2000),
            lambda ex: ex.importance(method="sobol"),
        ],
        ids=["pdp", "ice", "interactions", "decompose", "sage", "sobol"],
    )
    def test_every_verb_that_would_have_read_says_so(self, model, stumbles, verb):
        found = verb(Explainer(model, X, Y))
        assert len(unread(found)) == 1
        assert unread(found)[0].value > unread(found)[0].threshold

    def test_verbs_that_ask_anyway_say_nothing(self, model, stumbles):
        ex = Explainer(model, X, Y)
        for found in (ex.ale(0), ex.pdp(0, at=[0.0, 1.0]), ex.importance(), ex.lime(0)):
            assert not unread(found)

    def test_the_reader_tries_once_for_all_questions(self, model, stumbles):
        ex = Explainer(model, X, Y, background=X[:20])
        for _ in range(2):
            ex.shap(0)
            ex.decompose()
        assert len(stumbles) == 1
