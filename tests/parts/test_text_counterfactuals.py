"""Counterfactuals of texts: the fewest words that change a prediction, against sorting and against enumeration."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from golden_files import titles
from pellucid import TextExplainer
from pellucid.errors import InputError
from pellucid.explanations.store import encode
from pellucid.parts import answer_chart
from pellucid.parts.options import PartAnswerOptions

TEXT = "click here for a free phone now"


def labelled(weights, bias=0.0):
    """Log-odds that add up over the words of a text."""

    def f(texts):
        score = np.array([bias + sum(weights.get(word, 0.0) for word in text.split()) for text in texts])
        p = 1 / (1 + np.exp(-score))
        return np.stack([1 - p, p], axis=1)

    return f


def either(texts):
    p = np.array([float("free" in text or "click" in text) for text in texts])
    return np.stack([1 - p, p], axis=1)


def spam_of(f, **options):
    return TextExplainer(f, **{"class_names": ("ham", "spam"), "checks": False, **options})


def content(found):
    plain = encode(found)
    del plain["header"]["cost"]
    return json.dumps(plain)


def enumerated(f, text, most=None):
    """All sets of words without which the class changes and of which none is a part of another, by going through all."""
    words = text.split()
    own = f([text])[0].argmax()
    found = []
    for size in range(1, (most or len(words)) + 1):
        for gone in combinations(range(len(words)), size):
            if not any(set(other) <= set(gone) for other in found):
                left = " ".join(word for i, word in enumerate(words) if i not in gone)
                if f([left])[0].argmax() != own:
                    found.append(gone)
    return found


# -- closed forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("salt", range(12))
def test_of_a_sum_over_words_the_largest_have_to_go(salt):
    """The fewest words whose removal takes a sum below 0 are its largest ones."""
    rng = np.random.default_rng(salt)
    words = [f"w{i}" for i in range(int(rng.integers(5, 40)))]
    weights = dict(zip(words, rng.normal(0.3, 1.0, len(words)), strict=True))
    size = sum(weights.values())
    bias = -0.4 * size if size > 0 else 0.5 - size
    found = spam_of(labelled(weights, bias)).counterfactuals(" ".join(words))
    left, needed = size + bias, 0
    for weight in sorted(weights.values(), reverse=True):
        if left < 0:
            break
        left, needed = left - weight, needed + 1
    assert found.valid.all()
    assert int(found.changed[0].sum()) == needed
    assert found.cost.model_rows <= 2000


def test_a_proof_is_claimed_only_where_all_smaller_sets_were_tried():
    words = [f"w{i}" for i in range(30)]
    f = labelled(dict.fromkeys(words, 1.0), -24.5)  # six of thirty words
    found = spam_of(f).counterfactuals(" ".join(words), n=1)
    assert int(found.changed[0].sum()) == 6
    assert found.tried == 2  # 435 pairs fit into the budget, 4,060 triples do not
    assert not found.proven
    more = spam_of(f).counterfactuals(" ".join(words), n=1, budget=300_000, max_changes=3)
    assert (len(more), more.tried) == (0, 3)


def test_words_that_work_only_together_are_found():
    """Neither single words nor pairs move the prediction: nothing leads to the three that do."""

    def f(texts):
        p = np.array([0.1 if not {"a", "d", "g"} & set(text.split()) else 0.9 for text in texts])
        return np.stack([1 - p, p], axis=1)

    found = spam_of(f).counterfactuals("a b c d e f g h i j")
    assert set(found.changes()) == {"a", "d", "g"}
    assert found.proven
    assert found.tried == 2


def test_words_that_turned_out_not_to_be_needed_are_put_back():
    """Twenty words that each do a little, and two that do all, but only together: these two are left in the end."""
    little, many = [f"l{i}" for i in range(20)], [f"n{i}" for i in range(18)]

    def f(texts):
        known = [set(text.split()) for text in texts]
        score = np.array([(6.0 if {"x", "y"} & words else -2.0) + 0.02 * len(words & set(little)) for words in known])
        p = 1 / (1 + np.exp(-score))
        return np.stack([1 - p, p], axis=1)

    found = spam_of(f).counterfactuals(" ".join([*little, *many, "x", "y"]), n=1, budget=450)
    assert set(found.changes()) == {"x", "y"}
    assert found.proven


# -- the slow twin -------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(2, 8), st.integers(0, 10_000))
def test_short_texts_agree_with_enumeration(n, salt):
    """Any function of the words, interactions included: the fewest are found and proven, every answer is minimal."""
    rng = np.random.default_rng(salt)
    words = [f"w{i}" for i in range(n)]
    table = rng.random(2**n) * rng.choice([0.6, 1.0])

    def f(texts):
        p = np.array([table[sum(2**i for i, word in enumerate(words) if word in text.split())] for text in texts])
        return np.stack([1 - p, p], axis=1)

    text = " ".join(words)
    found = spam_of(f).counterfactuals(text, n=100)
    true = enumerated(f, text)
    given_out = [tuple(np.flatnonzero(row).tolist()) for row in found.changed]
    assert bool(true) == bool(given_out)
    if not true:
        assert found.tried == n
        return
    assert len(given_out[0]) == len(true[0])
    assert found.proven
    shortest = {gone for gone in true if len(gone) == len(true[0])}
    assert {gone for gone in given_out if len(gone) == len(true[0])} == shortest
    assert set(given_out) <= set(true)
    own = f([text])[0].argmax()
    assert (f(found.texts).argmax(axis=1) != own).all()
    np.testing.assert_array_equal(found.predictions[:, 0], f(found.texts)[:, 1])


# -- targets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["ham", "not spam", None, "< 0.5", (0, 0.4), {"spam": "< 0.3"}, 0.2])
def test_targets_are_said_in_many_ways(target):
    found = spam_of(either).counterfactuals(TEXT, target)
    assert found.texts == ("here for a phone now",)
    assert found.predictions.tolist() == [[0.0]]


def test_a_relaxed_target_needs_fewer_words():
    weights = {"click": 2.0, "free": 2.0, "phone": 1.0}
    sizes = [
        int(spam_of(labelled(weights, -1.0)).counterfactuals(TEXT, target, n=1).changed[0].sum())
        for target in ("< 0.98", "< 0.9", "< 0.3")
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_a_number_needs_a_target():
    def length(texts):
        return [float(len(text)) for text in texts]

    with pytest.raises(InputError, match="target must say"):
        TextExplainer(length).counterfactuals(TEXT)
    found = TextExplainer(length, checks=False).counterfactuals(TEXT, "<= 25")
    assert found.predictions.tolist()[0][0] <= 25.0
    assert int(found.changed[0].sum()) == 1
    with pytest.raises(InputError, match="no class of the model"):
        spam_of(either).counterfactuals(TEXT, "hum")


def test_log_odds_are_told_and_classes_still_win():
    found = spam_of(labelled({"free": 3.0}, -1.0), link="logit").counterfactuals(TEXT)
    assert found.scale == "log-odds"
    assert found.prediction[0] == pytest.approx(2.0)
    assert found.predictions[0, 0] == pytest.approx(-1.0)
    assert found.said[1].startswith("ham (73%)")
    low = spam_of(labelled({"free": 3.0}, -1.0), link="logit").counterfactuals(TEXT, "< 0")
    assert low.texts == found.texts


def test_of_several_classes_another_one_wins():
    def f(texts):
        score = np.array([[text.count("a"), text.count("b") + 0.5, text.count("c")] for text in texts], dtype=float)
        p = np.exp(score)
        return p / p.sum(axis=1, keepdims=True)

    ex = TextExplainer(f, class_names=("A", "B", "C"), checks=False)
    assert f(ex.counterfactuals("a a c", n=1).texts).argmax() != 0
    to_c = ex.counterfactuals("a a c c", "C", n=1)
    assert f(to_c.texts).argmax() == 2
    assert int(to_c.changed[0].sum()) == 1


@pytest.mark.parametrize("verb", ["counterfactuals", "adversarial"])
def test_a_text_without_words_has_nothing_to_change(golden, verb):
    found = getattr(spam_of(either), verb)("")
    assert len(found.findings()) == 1
    golden("text", "counterfactuals, no words", found.text())
    assert found.plot() is not None


def test_nothing_has_to_change(golden):
    found = spam_of(either).counterfactuals(TEXT, "spam")
    assert found.texts == (TEXT,)
    assert found.proven
    assert not found.changed.any()
    golden("text", "counterfactuals, nothing to change", found.text())


# -- out of reach --------------------------------------------------------------------------------------


def test_what_cannot_be_reached_is_said(golden):
    found = spam_of(labelled({"click": 1.0}, 0.5)).counterfactuals(TEXT)
    assert len(found) == 0
    assert found.tried == found.changeable == 7
    assert found.nearest_miss == pytest.approx(1 / (1 + np.exp(-0.5)) - 0.5)
    golden("text", "counterfactuals, out of reach", found.text())
    found.plot()
    assert len(found.frame()) == 0


def test_the_nearest_miss_on_request(golden):
    found = spam_of(labelled({"click": 1.0, "a": -0.25}, 0.5), checks=True).counterfactuals(TEXT, best_effort=True)
    assert set(found.changes()) == {"click"}
    assert found.valid.tolist() == [False]
    assert not found.proven
    assert {caveat.code for caveat in found.caveats} == {"target-missed"}
    golden("text", "counterfactuals, nearest miss", found.text())


def test_at_most_so_many_changes():
    assert len(spam_of(either).counterfactuals(TEXT, max_changes=1)) == 0
    assert len(spam_of(either).counterfactuals(TEXT, max_changes=2)) == 1


@pytest.mark.parametrize("budget", [8, 12, 20, 60, 200])
def test_the_budget_is_kept(budget):
    words = [f"w{i}" for i in range(25)]
    f = labelled(dict.fromkeys(words, 1.0), -20.5)
    found = spam_of(f).counterfactuals(" ".join(words), budget=budget)
    assert found.cost.model_rows <= budget
    with pytest.raises(InputError, match="budget="):
        spam_of(f).counterfactuals(TEXT, budget=7)


# -- replaced words ------------------------------------------------------------------------------------


def test_words_give_way_to_those_that_are_given(golden):
    f = labelled({"bad,": -2.0, "bad": -2.0, "good,": 2.0, "fine,": 0.5, "dull": -1.0}, 1.5)
    ex = TextExplainer(f, class_names=("no", "yes"), checks=False)
    found = ex.counterfactuals("a bad, dull film", replace={"Bad": ["fine", "good"], "dull": "quick"})
    assert found.texts[0] == "a good, dull film"
    assert found.changes() == {"bad,": "good,"}
    golden("text", "counterfactuals, replaced", found.text())


def test_words_of_a_corpus_take_the_place_of_others():
    texts = ["good film", "a bad film", "good good plot", "bad acting", "nice plot", "dull, bad acting"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, ["yes", "no", "yes", "no", "yes", "no"])
    found = TextExplainer(model, checks=False).counterfactuals("bad acting!", replace=texts)
    assert set(model.predict(found.texts)) == {"yes"}
    assert found.texts[0] == "good acting!"
    assert all(len(text.split()) == 2 for text in found.texts)


def test_an_empty_text_among_replacements_lets_words_be_taken_out_as_well():
    f = labelled({"bad": -2.0, "good": 1.0, "not": -2.0, "yet": -2.0})
    ex = TextExplainer(f, class_names=("no", "yes"), checks=False)
    found = ex.counterfactuals("a bad film, not fun", "yes", replace={"bad": ["good", ""], "not": ["yet", ""]}, n=1)
    assert found.texts == ("a good film, fun",)
    assert found.changes() == {"bad": "good", "not": None}
    assert found.proven
    assert '"good" instead of "bad"' in found.text()
    either_way = ex.counterfactuals("a bad film, not fun", "yes", replace=["good", ""], n=1)
    assert {"a good film, fun", "a film, good fun", "a good film, good fun"} & set(either_way.texts)
    assert not ex.counterfactuals("a bad film, not fun", "yes", replace={"bad": "good", "not": "yet"}).texts


@pytest.mark.parametrize("replace", [3, {"free": 3}, {"free": []}, [], [3], {"unheard": "of"}])
def test_replacements_that_are_none_are_refused(replace):
    with pytest.raises(InputError, match=r"replace|text"):
        spam_of(either).counterfactuals(TEXT, replace=replace)


def test_a_mask_stands_in_their_place(golden):
    found = spam_of(either, mask="[MASK]").counterfactuals(TEXT)
    assert found.texts == ("[MASK] here for a [MASK] phone now",)
    golden("text", "counterfactuals, masked", found.text())


# -- the result ----------------------------------------------------------------------------------------


def test_sentences(golden):
    f = labelled({"free": 1.5, "click": 1.0, "phone": 0.5, "now": 0.4}, -1.6)
    found = spam_of(f, checks=True).counterfactuals(TEXT)
    golden("text", "counterfactuals", found.text())
    golden("text", "adversarial", spam_of(f).adversarial(TEXT).text())
    assert found.proven
    assert found.sentence(1) != found.sentence(0)


def test_a_word_that_stands_there_twice_gives_one_answer():
    def f(texts):
        p = np.array([float(text.count("very") > 1) for text in texts])
        return np.stack([1 - p, p], axis=1)

    found = spam_of(f).counterfactuals("very very good")
    assert found.texts == ("very good",)
    assert found.minimal == 1


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_results_return_from_a_file(tmp_path, ending):
    found = spam_of(either, checks=True).counterfactuals(TEXT)
    loaded = pellucid.load(found.save(tmp_path / f"found.{ending}"))
    assert loaded == found
    assert loaded.text() == found.text()


def test_same_bytes_whatever_the_batches_and_threads():
    f = labelled({f"w{i}": np.sin(i) for i in range(25)}, 0.5)
    text = " ".join(f"w{i}" for i in range(25))
    assert content(spam_of(f).counterfactuals(text)) == content(spam_of(f, batch=9, n_jobs=2).counterfactuals(text))


def test_several_texts_and_an_empty_one():
    found = spam_of(either).counterfactuals([TEXT, "free", ""])
    assert [each.texts for each in found] == [("here for a phone now",), ("",), ()]


def test_an_interrupted_search_gives_what_it_has():
    """Of three words that have to go: interrupted in the round of all pairs, the first answer stays, unproven."""
    words = [f"w{i}" for i in range(15)]
    inner = labelled(dict.fromkeys(words, 1.0), -12.5)
    rounds = []

    def f(texts):
        rounds.append(len(texts))
        if len(texts) > 90:
            raise KeyboardInterrupt
        return inner(texts)

    found = spam_of(f, checks=True).counterfactuals(" ".join(words))
    assert rounds[:4] == [2, 2, 15, 14]  # both ends twice, single words, one after another
    assert codes(found) >= {"partial"}
    assert int(found.changed[0].sum()) == 3
    assert (found.tried, found.proven) == (1, False)

    def at_once(texts):
        if len(texts) > 2:
            raise KeyboardInterrupt
        return inner(texts)

    with pytest.raises(KeyboardInterrupt):
        spam_of(at_once).counterfactuals(" ".join(words))


def test_the_picture_strikes_words_through_and_puts_others_in(golden):
    f = labelled({"bad,": -2.0, "good,": 2.0, "dull": -1.0}, 1.5)
    found = TextExplainer(f, class_names=("no", "yes"), checks=False).counterfactuals(
        "a bad, dull film", replace=["good"]
    )
    text, spans, kinds = answer_chart.edited(found, 0)
    assert text == "a bad, good, dull film"
    assert [text[start:end] for (start, end), kind in zip(spans, kinds, strict=True) if kind == "new"] == ["good,"]
    assert kinds == ["kept", "gone", "new", "kept", "kept"]
    removed = spam_of(either).counterfactuals(TEXT)
    golden("charts", "counterfactuals of words", titles(answer_chart.body(removed, PartAnswerOptions()).to_dict()))


# -- caveats -------------------------------------------------------------------------------------------


def codes(found):
    return {caveat.code for caveat in found.caveats}


def test_many_sets_that_would_do_are_counted():
    words = TEXT.split()
    many = spam_of(labelled(dict.fromkeys(words, 1.0), -5.5), checks=True).counterfactuals(TEXT)
    assert many.minimal == 21
    assert "rashomon" in codes(many)
    assert "rashomon" not in codes(spam_of(either, checks=True).counterfactuals(TEXT))


def test_an_answer_on_the_edge_is_fragile():
    edge = spam_of(labelled({"free": 2.02}, -0.01), checks=True).counterfactuals(TEXT)
    assert "fragile" in codes(edge)
    assert "fragile" not in codes(spam_of(labelled({"free": 2.0}, -1.0), checks=True).counterfactuals(TEXT))


def test_an_answer_of_most_words_is_long():
    weights = dict.fromkeys(TEXT.split(), 1.0)
    assert "long-answer" in codes(spam_of(labelled(weights, -1.5), checks=True).counterfactuals(TEXT))


def test_another_mask_that_undoes_the_answers_is_told():
    def counts(texts):
        p = np.array([float(len(text.split()) > 6) for text in texts])
        return np.stack([1 - p, p], axis=1)

    assert "absence" in codes(spam_of(counts, checks=True).counterfactuals(TEXT))
    assert "absence" not in codes(spam_of(either, checks=True).counterfactuals(TEXT))


def test_a_budget_that_ends_the_search_is_told():
    words = [f"w{i}" for i in range(30)]
    f = labelled(dict.fromkeys(words, 1.0), -24.5)
    assert "budget-spent" in codes(spam_of(f, checks=True).counterfactuals(" ".join(words), budget=100))


# -- real comments -------------------------------------------------------------------------------------


def test_spam_comments(spam):
    """Presence of words in a logistic model: the fewest words by sorting, over real comments."""
    texts, labels = spam
    model = make_pipeline(CountVectorizer(binary=True), LogisticRegression(C=0.3)).fit(texts, labels)
    ex = TextExplainer(model, class_names=("comment", "spam"), checks=False)
    some = [text for text in texts if 4 <= len(ex.parts(text).spans) <= 20][:60]
    chances = model.predict_proba(some)[:, 1]
    asked = [text for text, chance in zip(some, chances, strict=True) if chance > 0.5]
    assert len(asked) > 15
    analyse, vocabulary, weights = model[0].build_analyzer(), model[0].vocabulary_, model[1].coef_[0]
    for text in asked:
        found = ex.counterfactuals(text, "comment", n=3)
        bring = [{vocabulary[word] for word in analyse(token) if word in vocabulary} for token in found.tokens]
        every = set().union(*bring)
        score = model[1].intercept_[0] + sum(weights[j] for j in every)
        times = {j: sum(j in words for words in bring) for j in every}
        if max(times.values(), default=1) == 1 and max(map(len, bring), default=0) <= 1:
            gains = sorted((sum(weights[j] for j in words) for words in bring), reverse=True)
            needed = next((k for k in range(1, len(gains) + 1) if score - sum(gains[:k]) < 0), None)
            assert (len(found) == 0) == (needed is None)
            assert needed is None or int(found.changed[0].sum()) == needed
        assert (model.predict(list(found.texts) or [""]) == 0).all() or not len(found)
