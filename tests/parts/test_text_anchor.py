"""Anchors of texts: the words that fix a prediction, against enumeration."""

import json
from itertools import combinations

import numpy as np
import pytest

import pellucid
from golden_files import masked, titles
from pellucid.errors import InputError
from pellucid.explanations.store import encode
from pellucid.parts import rule_chart
from pellucid.parts.options import PartRuleOptions
from pellucid.parts.text_chart import FONT
from pellucid.parts.text_explainer import TextExplainer
from pellucid.parts.text_layout import set_lines

TEXT = "click here for a free phone now"


def both(texts):
    """Two words that are needed together."""
    return np.array([float("free" in text and "click" in text) for text in texts])


def either(texts):
    return np.array([float("free" in text or "click" in text) for text in texts])


def labelled(texts):
    p = both(texts)
    return np.stack([1 - p, p], axis=1)


def content(found):
    plain = encode(found)
    del plain["header"]["cost"]
    return json.dumps(plain)


def true_precision(f, text, kept):
    """Over all texts in which each other word is there or not."""
    words = text.split()
    free = [i for i in range(len(words)) if i not in kept]
    hits = 0
    for bits in range(2 ** len(free)):
        there = set(kept) | {i for k, i in enumerate(free) if bits >> k & 1}
        hits += f([" ".join(word for i, word in enumerate(words) if i in there)])[0] == f([text])[0]
    return hits / 2 ** len(free)


def test_the_words_that_are_needed_together_are_found(golden):
    rule = TextExplainer(labelled, class_names=("ham", "spam")).anchor(TEXT)
    assert rule.words == ("click", "free")
    assert rule.precision == 1.0
    assert rule.coverage == 0.25
    assert rule.base == pytest.approx(0.25, abs=0.1)
    assert rule.prediction == "spam"
    assert rule.reached
    assert rule.sentence.startswith('IF "')
    golden("text", "rule, exact", masked(rule.text()))


def test_one_of_two_words_is_enough():
    rule = TextExplainer(either).anchor(TEXT)
    assert rule.words in (("free",), ("click",))
    assert rule.coverage == 0.5


@pytest.mark.parametrize("salt", range(6))
def test_reported_numbers_are_those_of_enumeration(salt):
    """True precisions are at least tau - epsilon, and no shorter rule is sure to do."""
    rng = np.random.default_rng(salt)
    weights = dict(zip(TEXT.split(), rng.normal(size=7), strict=True))

    def f(texts):
        p = np.array([float(sum(weights.get(word, 0.0) for word in text.split()) > 0.3) for text in texts])
        return np.stack([1 - p, p], axis=1)

    def label(texts):
        return f(texts).argmax(axis=1)

    rule = TextExplainer(f, class_names=("no", "yes"), random_state=salt).anchor(TEXT)
    assert rule.reached
    true = true_precision(label, TEXT, set(rule.kept))
    assert true >= 0.9
    assert rule.interval[0] <= true <= rule.interval[1]
    for size in range(len(rule.kept)):
        best = max(true_precision(label, TEXT, set(some)) for some in combinations(range(7), size))
        assert best < 1.0
    for part, precision in enumerate(rule.running_precision):
        near = true_precision(label, TEXT, set(rule.kept[:part]))
        assert precision == pytest.approx(near, abs=0.15)


@pytest.mark.parametrize("salt", range(8))
def test_of_few_words_all_texts_are_gone_through(salt):
    """Five words make 32 texts, no more than the draws of a first look: all that is said is exact."""
    rng = np.random.default_rng(salt)
    text = "one two three four five"
    weights = dict(zip(text.split(), rng.normal(size=5), strict=True))

    def f(texts):
        p = np.array([float(sum(weights[word] for word in text.split()) > 0) for text in texts])
        return np.stack([1 - p, p], axis=1)

    def label(texts):
        return f(texts).argmax(axis=1)

    rule = TextExplainer(f, class_names=("no", "yes"), checks=False).anchor(text, precision=0.8)
    every = {some: true_precision(label, text, set(some)) for k in range(6) for some in combinations(range(5), k)}
    assert rule.precision == rule.interval[0] == rule.interval[1] == every[tuple(sorted(rule.kept))] >= 0.8
    assert len(rule.kept) == min(len(some) for some, precision in every.items() if precision >= 0.8)
    running = [every[tuple(sorted(rule.kept[:k]))] for k in range(len(rule.kept) + 1)]
    np.testing.assert_array_equal(rule.running_precision, running)
    assert rule.base == every[()]
    assert (rule.samples, rule.se.max()) == (0, 0.0)
    assert rule.cost.model_rows <= 32
    assert "(exact)" in json.dumps(rule_chart.body(rule, PartRuleOptions()).to_dict())


def test_of_many_words_texts_are_drawn(golden):
    rule = TextExplainer(both).anchor(f"{TEXT} and then some more words")
    assert rule.samples > 0
    assert rule.interval[0] < rule.interval[1]
    assert f" {rule.samples} " in rule.text()
    golden("text", "rule, sampled", masked(rule.text()))


def test_the_guarantee_holds_over_many_runs():
    """A rule of precision 0.89 must not pass for one of 0.95 more often than delta."""
    words = ["a", "b", "c", "d", "e", "f"]

    def f(texts):
        held = [set(text.split()) for text in texts]
        p = np.array([float("a" in h and not ({"b", "c", "d"} <= h and "e" not in h)) for h in held])
        return np.stack([1 - p, p], axis=1)

    text = " ".join(words)

    def label(texts):
        return f(texts).argmax(axis=1)

    runs = [TextExplainer(f, class_names=(0, 1), random_state=s, checks=False).anchor(text) for s in range(30)]
    low = [true_precision(label, text, set(rule.kept)) < 0.9 for rule in runs]
    assert np.mean(low) <= 0.05
    assert all(rule.reached for rule in runs)


def test_coverage_is_the_share_of_the_corpus_that_has_the_words(golden):
    corpus = ["click it, free", "free free click", "click me", "nothing", "free"]
    rule = TextExplainer(both).anchor(TEXT, corpus=corpus)
    assert rule.words == ("click", "free")
    assert rule.coverage == pytest.approx(2 / 5)
    assert rule.covers == "corpus"
    golden("text", "rule, with a corpus", masked(rule.text()))
    np.testing.assert_array_equal(rule.applies(corpus), [True, True, False, False, False])
    assert rule.applies("free, but click").tolist() == [False]
    assert rule.applies("free but click").tolist() == [True]
    named = TextExplainer(labelled, class_names=("ham", "spam")).anchor(TEXT)
    checked = named.check(corpus, ["spam", "ham", "ham", "ham", "ham"])
    assert (checked.applies, checked.precision, checked.coverage) == (2, 0.5, 0.4)


def test_a_word_that_stands_twice_counts_twice():
    twice = lambda texts: np.array([float(text.split().count("very") >= 2) for text in texts])  # noqa: E731
    rule = TextExplainer(twice).anchor("very very good plot", corpus=["very good", "very very bad", "good"])
    assert rule.words == ("very", "very")
    assert rule.coverage == pytest.approx(1 / 3)
    np.testing.assert_array_equal(rule.applies(["very", "very much very"]), [False, True])


def test_other_words_of_the_corpus_stand_in():
    seen = []

    def f(texts):
        seen.extend(texts)
        return both(texts)

    rule = TextExplainer(f).anchor(TEXT, corpus=["blue green", "red"], perturb="corpus")
    assert rule.words == ("click", "free")
    perturbed = [text.split() for text in seen if text]
    assert all(len(words) == 7 for words in perturbed)
    allowed = [{word, "blue", "green", "red"} for word in TEXT.split()]
    assert all(word in own for words in perturbed for word, own in zip(words, allowed, strict=True))
    assert {"blue", "green", "red"} <= {word for words in perturbed for word in words}


def test_numbers_are_the_same_within_an_interval():
    length = lambda texts: np.array([float(text.count("!")) for text in texts])  # noqa: E731
    rule = TextExplainer(length).anchor("one! two three!! four", within=0.5)
    assert rule.words == ("one!", "three!!")
    np.testing.assert_allclose(rule.same, [[2.5, 3.5]])
    assert rule.prediction == 3
    loose = TextExplainer(length).anchor("one! two three!! four", within=(2, 9))
    assert loose.words == ("three!!",)
    with pytest.raises(InputError, match="does not hold the prediction"):
        TextExplainer(length).anchor("one!", within=(2, 9))


def test_all_classes_count_whichever_is_explained():
    def three(texts):
        p = np.array([[0.4, 0.3 + 0.3 * ("free" in text), 0.3] for text in texts])
        return p / p.sum(axis=1, keepdims=True)

    for output in (None, "c"):
        for link in ("identity", "logit"):
            ex = TextExplainer(three, class_names=("a", "b", "c"), output=output, link=link)
            rule = ex.anchor(TEXT)
            assert rule.prediction == "b"
            assert rule.words == ("free",)


@pytest.mark.parametrize("text", [TEXT, "click here for a phone now"])
def test_the_more_probable_of_two_classes_is_the_prediction(text):
    def unsure(texts):
        p = np.array([0.55 if "free" in text else 0.3 + 0.1 * ("now" in text) for text in texts])
        return np.stack([1 - p, p], axis=1)

    rule = TextExplainer(unsure, class_names=("ham", "spam")).anchor(text)
    assert (rule.prediction, rule.words) == (("spam", ("free",)) if "free" in text else ("ham", ()))


def test_what_the_words_add_leads_from_the_base_to_the_precision():
    rule = TextExplainer(both).anchor(TEXT)
    assert rule.values.sum() == pytest.approx(rule.precision - rule.base)
    assert set(np.flatnonzero(rule.values)) == set(rule.kept)
    assert (rule.se[list(rule.kept)] > 0).all()


def test_a_common_prediction_needs_no_word(golden):
    rule = TextExplainer(both).anchor("some other text")
    assert rule.words == ()
    assert rule.coverage == 1.0
    assert rule.sentence.startswith("ALWAYS PREDICT")
    golden("text", "rule without a word", masked(rule.text()))
    assert "anchor-imbalance" in {caveat.code for caveat in rule.caveats}


def test_many_words_are_reported():
    every = lambda texts: np.array([float(len(text.split()) >= 7) for text in texts])  # noqa: E731
    rule = TextExplainer(every).anchor(TEXT)
    assert len(rule.kept) == 7
    assert "anchor-long" in {caveat.code for caveat in rule.caveats}


def test_what_stands_for_absence_is_reported_where_it_matters():
    shy = lambda texts: np.array([float("free" in text and "UNK" not in text) for text in texts])  # noqa: E731
    codes = {caveat.code: caveat for caveat in TextExplainer(shy).anchor(TEXT).caveats}
    assert "mask='UNK'" in codes["absence"].message
    assert not {caveat.code for caveat in TextExplainer(both).anchor(TEXT).caveats} & {"absence"}


def test_the_budget_is_kept_and_named(golden):
    rule = TextExplainer(both).anchor(TEXT, budget=60)
    assert not rule.reached
    assert rule.reason == "budget"
    assert rule.cost.model_rows <= 60
    assert np.isfinite(rule.precision)
    assert "anchor-unreached" in {caveat.code for caveat in rule.caveats}
    golden("text", "rule that is not reached", masked(rule.text()))


@pytest.mark.parametrize("budget", [1, 10, 20])
def test_a_budget_below_the_first_look_is_refused(budget):
    with pytest.raises(InputError, match=f"budget={budget};"):
        TextExplainer(both).anchor(TEXT, budget=budget)


def test_few_conditions_may_not_be_enough():
    rule = TextExplainer(both).anchor(TEXT, max_conditions=1)
    assert not rule.reached
    assert len(rule.kept) <= 1
    assert rule.reason == "most"


def test_an_interrupted_search_gives_what_is_known():
    asked = []

    def slow(texts):
        asked.append(texts)
        if len(asked) > 5:
            raise KeyboardInterrupt
        return both(texts)

    rule = TextExplainer(slow).anchor(f"{TEXT} and some more words so that there are many texts to ask for")
    assert not rule.reached
    assert rule.caveats[0].code == "partial"


def test_no_text_is_asked_twice():
    seen = []

    def f(texts):
        seen.extend(texts)
        return both(texts)

    rule = TextExplainer(f, checks=False).anchor(TEXT)
    assert len(seen) == len(set(seen)) <= 128
    assert rule.cost.model_rows == len(seen)


def test_checks_are_counted_apart():
    plain, checked = (TextExplainer(both, checks=checks).anchor(TEXT) for checks in (False, True))
    assert plain.cost.check_rows == 0
    assert checked.cost.check_rows > 20
    assert checked.cost.model_rows == plain.cost.model_rows
    assert checked.kept == plain.kept


def test_same_seed_same_bytes_whatever_the_batches_and_threads():
    corpus = ["click on it", "a free phone"]
    for options in ({}, {"corpus": corpus, "perturb": "corpus"}):
        first = content(TextExplainer(either, random_state=3).anchor(TEXT, **options))
        assert first == content(TextExplainer(either, random_state=3, batch=5, n_jobs=2).anchor(TEXT, **options))
        assert first != content(TextExplainer(either, random_state=4).anchor(TEXT, **options))


@pytest.mark.parametrize("text", ["", "free", "사과 를 먹다"])
def test_texts_of_any_kind(text):
    rule = TextExplainer(either).anchor(text)
    assert rule.reached
    assert rule.words == (("free",) if text == "free" else ())
    assert rule_chart.body(rule, PartRuleOptions()).to_dict()


def test_sentences_and_masks():
    ex = TextExplainer(both, mask="[MASK]")
    rule = ex.anchor("You click. It is free! So what? Nothing.", by="sentence")
    assert rule.unit == "sentence"
    assert rule.words == ("You click.", "It is free!")
    assert "replaced by '[MASK]'" in rule.text()
    assert rule.applies(["It is free! You click. Hm."]).tolist() == [True]


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_results_return_from_a_file(tmp_path, ending):
    rule = TextExplainer(both).anchor(TEXT)
    again = pellucid.load(rule.save(tmp_path / f"rule.{ending}"))
    assert again == rule
    assert again.applies(TEXT).all()


def test_the_table_has_one_line_per_step():
    table = TextExplainer(both).anchor(TEXT).frame()
    assert table["condition"].tolist()[0] == "base"
    assert set(table["feature"].tolist()[1:]) == {"click", "free"}
    assert table["precision"].iloc[-1] == 1.0


def test_the_picture_marks_the_words_of_the_rule(golden):
    rule = TextExplainer(both).anchor(TEXT)
    fragments = set_lines(TEXT, rule.spans.tolist(), 640 / FONT)
    boxes = rule_chart.box_data(rule, fragments)
    assert {box["word"] for box in boxes} == {"click", "free"}
    assert {box["precision"] for box in boxes} >= {"100%"}
    golden("charts", "rule of words", titles(rule_chart.body(rule, PartRuleOptions()).to_dict()))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"precision": 1.5}, "precision must be"),
        ({"delta": 0}, "delta must be"),
        ({"epsilon": 1}, "epsilon must be"),
        ({"beams": 0}, "beams must be"),
        ({"budget": 1.5}, "budget must be"),
        ({"perturb": "corpora"}, "perturb='corpora'.*corpus"),
        ({"perturb": "corpus"}, "needs a corpus="),
        ({"corpus": []}, "corpus= has no texts"),
        ({"corpus": [1]}, "text 0 must be a text"),
        ({"within": -1}, "within must be"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(options, words):
    with pytest.raises(InputError, match=words):
        TextExplainer(both).anchor(TEXT, **options)


def test_rules_about_texts_want_texts():
    rule = TextExplainer(both).anchor(TEXT)
    for wrong in (3, [1, 2]):
        with pytest.raises(InputError, match="a text or a list"):
            rule.applies(wrong)
