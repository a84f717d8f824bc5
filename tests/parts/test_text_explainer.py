"""Shapley values of words: closed forms, a slow twin, and what every result can do."""

import json
import re
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from golden_files import masked
from parts.test_tokens import TEXTS
from pellucid.errors import InputError, ModelError
from pellucid.explanations.store import encode
from pellucid.parts.text_explainer import TextExplainer

LONG = " ".join(f"word{k}." if k % 7 == 0 else f"word{k}" for k in range(10_000))


def mixed(texts):
    """Counts, lengths and their product: words that act alone, and words that act together."""
    return [text.count("a") + 0.1 * len(text) + text.count("a") * text.count("!") for text in texts]


def worth_of(text):
    return mixed([text])[0]


def content(found):
    """A result as text, without what its making cost."""
    plain = encode(found)
    del plain["header"]["cost"]
    return json.dumps(plain)


# -- values ------------------------------------------------------------------------------------------


def slow_shapley(tokens):
    """The mean gain over all orders in which the words can come in."""
    phi = np.zeros(len(tokens))
    orders = list(permutations(range(len(tokens))))
    for order in orders:
        there = set()
        for i in order:
            before = worth_of(" ".join(tokens[k] for k in sorted(there)))
            there.add(i)
            phi[i] += worth_of(" ".join(tokens[k] for k in sorted(there))) - before
    return phi / len(orders)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a!", "banana", "b", "!!", "a"]), min_size=1, max_size=5))
def test_values_are_the_mean_gains_over_all_orders(tokens):
    found = TextExplainer(mixed, checks=False).shap(" ".join(tokens))
    np.testing.assert_allclose(found.values[0], slow_shapley(tokens), atol=1e-12)
    assert float(found.base) == worth_of("")
    assert found.prediction[0] == worth_of(" ".join(tokens))


@settings(max_examples=40, deadline=None)
@given(
    text=TEXTS,
    by=st.sampled_from(["auto", "word", "sentence", "character"]),
    mask=st.sampled_from(["remove", "[MASK]"]),
)
def test_contributions_lead_from_the_base_to_the_prediction(text, by, mask):
    found = TextExplainer(mixed, mask=mask, checks=False).shap(text[:40], by=by)
    assert found.prediction[0] == worth_of(text[:40])
    assert abs(float(found.residual[0])) < 1e-9 * (1 + abs(found.prediction[0]))


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation"])
def test_all_estimators_agree_on_a_model_that_adds_up(method):
    weights = {f"w{k}": float(k * k) for k in range(12)}
    ex = TextExplainer(lambda texts: [sum(weights[word] for word in text.split()) for text in texts])
    found = ex.shap(" ".join(weights), method=method)
    np.testing.assert_allclose(found.values[0], list(weights.values()), atol=1e-5)


def test_a_linear_model_of_word_counts_gives_its_coefficients():
    texts = ["good film", "bad film", "good good plot", "bad acting", "nice plot", "dull acting"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0, 1, 0])
    vocabulary, coefficients = model[0].vocabulary_, model[1].coef_[0]
    found = TextExplainer(model, link="logit").shap("Good plot, bad good acting!")
    expected = [coefficients[vocabulary[word]] for word in ("good", "plot", "bad", "good", "acting")]
    np.testing.assert_allclose(found.values[0], expected, atol=1e-12)
    assert float(found.base) == pytest.approx(model[1].intercept_[0])
    assert found.scale == "log-odds"
    assert found.output_names == ("1",)


def test_interactions_are_those_of_the_words():
    def both(texts):
        return [float("not" in text.split() and "good" in text.split()) for text in texts]

    found = TextExplainer(both).shap("not so good", interactions=True)
    np.testing.assert_allclose(found.values[0], [0.5, 0, 0.5])
    np.testing.assert_allclose(found.interaction_values[0], [[0, 0, 0.5], [0, 0, 0], [0.5, 0, 0]])


# -- what goes in ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "exact", "kernel", "permutation"])
@pytest.mark.parametrize(("text", "players"), [("", 0), (" \n ", 0), ("one", 1)])
def test_texts_of_no_or_one_word(text, players, method):
    found = TextExplainer(lambda texts: [len(t.strip()) for t in texts]).shap(text, method=method)
    assert found.values.shape == (1, players)
    assert found.values.sum() == len(text.strip())
    assert found.text()
    assert len(found.frame()) == players


def test_a_list_of_texts_gives_a_list_of_results():
    ex = TextExplainer(mixed)
    assert [content(one) for one in ex.shap(["a b!", "b"])] == [content(ex.shap("a b!")), content(ex.shap("b"))]


def test_long_texts_are_joined_to_phrases_and_say_so(golden):
    asked = []

    def count(texts):
        asked.extend(texts)
        return [text.count("1") for text in texts]

    found = TextExplainer(count, checks=False).shap(LONG)
    assert len(found.players) <= 60
    assert found.unit == "phrase"
    assert found.settings["words"] == 10_000
    joined = next(line for line in found.text().splitlines() if "10,000" in line)
    golden("text", "contributions, words joined to phrases", masked(joined))
    assert LONG in asked  # nothing is cut off
    assert found.spans[0, 0] == 0
    assert found.spans[-1, 1] == len(LONG)
    expected = [token.count("1") for token in found.tokens]
    np.testing.assert_allclose(found.values[0], expected, rtol=1e-3)


def test_the_number_of_phrases_and_the_unit_are_the_callers_choice():
    ex = TextExplainer(mixed, checks=False)
    assert len(ex.shap(LONG[:400], most=4).players) == 4
    assert ex.shap("one two. Three four.", by="sentence").tokens == ("one two.", "Three four.")
    assert ex.shap("ab c", by="character").tokens == ("a", "b", "c")
    assert ex.shap(LONG[:700], by="word").unit == "word"
    assert TextExplainer(mixed, tokenizer=r"\w+").shap("a, b").unit == "token"


def test_many_words_are_asked_about_more_often():
    text = " ".join(f"w{k}" for k in range(120))
    found = TextExplainer(lambda texts: [text.count("1") for text in texts], checks=False).shap(text, by="word")
    assert found.cost.model_rows == pytest.approx(20 * 120, abs=4)
    np.testing.assert_allclose(found.values[0], [token.count("1") for token in found.tokens], atol=1e-3)


def test_functions_of_several_outputs_and_names_of_classes():
    def two(texts):
        p = np.array([0.5 + 0.1 * min(text.count("a"), 4) for text in texts])
        return np.column_stack([1 - p, p])

    binary = TextExplainer(two, class_names=["ham", "spam"]).shap("a b")
    assert binary.output_names == ("spam",)
    np.testing.assert_allclose(binary.values, [[0.1, 0.0]], atol=1e-12)
    np.testing.assert_allclose(binary.for_output("ham").values, [[-0.1, 0.0]], atol=1e-12)
    both = TextExplainer(two, class_names=["ham", "spam"], output=["ham", "spam"]).shap("a b")
    assert both.values.shape == (1, 2, 2)
    one = TextExplainer(lambda texts: two(texts)[:, 1], class_names=["ham", "spam"], link="logit").shap("a b")
    assert one.scale == "log-odds"
    assert one.output_names == ("spam",)
    np.testing.assert_allclose(one.values.sum(), np.log(0.6 / 0.4), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TextExplainer(mixed).shap(3), "give a text or a list of texts"),
        (lambda: TextExplainer(mixed).shap(["a", None]), "text 1 must be a text"),
        (lambda: TextExplainer(mixed).shap("a", by="wrod"), "did you mean 'word'"),
        (lambda: TextExplainer(mixed).shap("a", most=0), "most must be"),
        (lambda: TextExplainer(mixed).shap("a b", budget=-1), "budget must be"),
        (lambda: TextExplainer(mixed).shap("a", method="exat"), "did you mean 'exact'"),
        (lambda: TextExplainer(mixed).shap("a " * 30, method="exact"), "by='sentence'"),
        (lambda: TextExplainer(mixed).shap("a " * 30, budget=20), "budget=20 is too small: 30 parts take at least 60"),
        (lambda: TextExplainer(mixed).shap(LONG, by="word"), "10,000 parts, more than the 2,000"),
        (lambda: TextExplainer(mixed, mask=None), "mask must be"),
        (lambda: TextExplainer(mixed, tokenizer=3), "tokenizer=3"),
        (lambda: TextExplainer(mixed, batch=0), "batch must be"),
        (lambda: TextExplainer(mixed, random_state=0.5), "random_state must be"),
        (lambda: TextExplainer(mixed, link="log"), "link='log'"),
        (lambda: TextExplainer(mixed, link="logit").shap("aaa aaa"), "needs probabilities"),
        (lambda: TextExplainer(mixed, class_names=["x"]), "at least two classes"),
        (lambda: TextExplainer(mixed, class_names=3), "class_names=3"),
        (lambda: TextExplainer(mixed, class_names=["x", "y", "z"]).shap("a"), "3 classes, but the model returns 1"),
        (lambda: TextExplainer(mixed, output="spam").shap("a"), "output='spam'"),
        (lambda: TextExplainer("gpt"), "the model is a text"),
        (lambda: TextExplainer(mixed).shap(3), "text is an int; give a text"),
        (lambda: TextExplainer(make_pipeline(CountVectorizer(), LogisticRegression())).shap("a"), "not fitted"),
    ],
)  # fmt: skip
def test_errors_name_the_argument_and_the_remedy(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()


def test_a_model_that_fails_or_returns_nonsense_is_named():
    def fails(texts):
        raise KeyError("lost")

    with pytest.raises(ModelError, match="batch of 2: KeyError"):
        TextExplainer(fails).shap("a")
    with pytest.raises(ModelError, match="returned 1 predictions for 2 rows"):
        TextExplainer(lambda _: [1.0]).shap("a")
    with pytest.raises(ModelError, match="predicted nan"):
        TextExplainer(lambda texts: [np.nan] * len(texts)).shap("a")


# -- repeatable --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["kernel", "permutation"])
def test_same_seed_same_bytes_whatever_the_batches_and_threads(method):
    text = " ".join(f"a{k}!" for k in range(17))

    def curved(texts):
        return [np.sin(len(t)) * t.count("1") for t in texts]

    results = [
        content(TextExplainer(curved, batch=batch, n_jobs=n_jobs).shap(text, method=method, budget=700))
        for batch, n_jobs in ((1024, None), (7, None), (50, 2))
    ]
    assert results[0] == results[1] == results[2]
    other = TextExplainer(curved, random_state=1).shap(text, method=method, budget=700)
    assert content(other) != results[0]


def test_the_budget_is_kept_and_the_cost_is_counted():
    asked = []

    def count(texts):
        asked.extend(texts)
        return mixed(texts)

    found = TextExplainer(count).shap(" ".join(f"w{k}a" for k in range(20)), budget=300)
    assert found.cost.model_rows + found.cost.check_rows == len(asked)
    assert found.cost.model_rows <= 300 + 2
    assert found.cost.check_rows == 2 + 14


# -- what comes out ----------------------------------------------------------------------------------


def test_words_name_the_starting_point_and_never_an_average(golden):
    found = TextExplainer(mixed).shap("a banana!")
    golden("text", "contributions", found.text())
    golden("text", "contributions, short", found.text("short"))
    assert "average" not in found.text() + found.text("short")
    golden("text", "contributions, absent words masked", TextExplainer(mixed, mask="UNK").shap("a banana!").text())
    some = TextExplainer(mixed, tokenizer=r"\w+").shap("a banana!")
    golden("text", "contributions, of some words", some.text())


def test_repeated_words_have_names_of_their_own():
    found = TextExplainer(mixed).shap("very very good, very")
    assert found.feature_names == ("very", "very (2)", "good,", "very (3)")
    assert found.tokens == ("very", "very", "good,", "very")


def test_tables_say_where_the_words_stand():
    table = TextExplainer(mixed).shap("a banana!").frame()
    assert table.columns.tolist() == ["word", "start", "end", "contribution", "se"]
    assert table[["start", "end"]].to_numpy().tolist() == [[0, 1], [2, 9]]


def test_views_keep_the_places_of_the_words():
    found = TextExplainer(mixed).shap("a banana! is no pear!")
    grouped = found.group({"fruit": ["banana!", "pear!"]})
    assert grouped.entry_of.tolist() == [0, 1, 2, 3, 1]
    np.testing.assert_allclose(grouped.values.sum(), found.values.sum())
    few = found.sparse(2)
    assert len(few.feature_names) == 3
    assert sorted(few.entry_of.tolist()) == [0, 1, 2, 2, 2]
    assert "3 others" in few.text()


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_results_return_from_a_file(tmp_path, ending):
    found = TextExplainer(mixed).shap("a banana! 好 👍🏽", interactions=True)
    back = pellucid.load(found.save(tmp_path / f"found.{ending}"))
    assert back == found
    assert back.spans.dtype == found.spans.dtype
    assert back.source == "a banana! 好 👍🏽"


def test_many_outputs_are_told_for_the_highest(golden):
    def classes(texts):
        scores = np.array([[len(text) * k % 7 for k in range(9)] for text in texts], dtype=float)
        return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)

    found = TextExplainer(classes).shap("one two three")
    best = found.output_names[int(np.argmax(found.prediction[0]))]
    assert f"probability of {best}" in found.text()
    golden("text", "contributions, many outputs", masked(found.text()))


# -- caveats -----------------------------------------------------------------------------------------


def codes(found):
    return [caveat.code for caveat in found.caveats]


def test_words_that_only_act_together_are_reported(golden):
    def all_three(texts):
        return [float({"a", "b", "c"} <= set(text.split())) for text in texts]

    # A third each, so the first quarter "a b" has two thirds; as one piece it has half.
    found = TextExplainer(all_three).shap("a b c d e f g h")
    np.testing.assert_allclose(found.values[0, :4], [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-12)
    (caveat,) = found.caveats
    assert caveat.code == "cut-dependence"
    assert caveat.value == pytest.approx(1 / 3)
    for piece in ('"a" to "b"', "+0.667", "+0.5"):
        assert piece in caveat.message
    assert codes(TextExplainer(lambda texts: [text.count("a") for text in texts]).shap("a b a d e f g h")) == []


def test_an_unsteady_model_is_reported():
    state = {"n": 0.0}

    def drifts(texts):
        state["n"] += 1
        return [len(text) + state["n"] for text in texts]

    assert "unsteady-model" in codes(TextExplainer(drifts).shap("a b"))
    assert "unsteady-model" not in codes(TextExplainer(mixed).shap("a b"))


def test_checks_can_be_switched_off():
    found = TextExplainer(mixed, checks=False).shap("a b c d e f!")
    assert found.caveats == ()
    assert found.cost.check_rows == 0
