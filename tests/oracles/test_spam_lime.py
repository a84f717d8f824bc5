"""The textbook's two spam comments, explained by the words of variants."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from pellucid.parts.text_explainer import TextExplainer
from pellucid.parts.tokens import words

HAM, SPAM = "PSY is a good guy", "For Christmas Song visit my channel! ;)"
WORDS = ("For", "Christmas", "Song", "visit", "my", "channel!", ";)")
VARIANTS = [
    [1, 0, 1, 1, 0, 0, 1],
    [0, 1, 1, 1, 1, 0, 1],
    [1, 0, 0, 1, 1, 1, 1],
    [1, 0, 1, 1, 1, 1, 1],
    [0, 1, 1, 1, 0, 0, 1],
]
LOW, HIGH = 0.1701170, 0.9939024


def book(texts):
    """The two answers that the textbook's tree gives here: it asks for one word only."""
    p = np.where(["channel!" in text for text in texts], HIGH, LOW)
    return np.stack([1 - p, p], axis=1)


def test_variants_weights_and_probabilities_of_the_table():
    found = TextExplainer(book, class_names=(0, 1)).lime(SPAM, samples=VARIANTS)
    assert found.players == WORDS
    np.testing.assert_allclose(found.counts, [0.5714, 0.7143, 0.7143, 0.8571, 0.5714], atol=5e-5)
    np.testing.assert_allclose(found.answers, [LOW, LOW, HIGH, HIGH, LOW])
    table = found.variants
    assert table["weight"].round(2).tolist() == [0.86, 0.71, 0.71, 0.57, 0.57]
    assert table["prediction"].round(2).tolist() == [0.99, 0.17, 0.99, 0.17, 0.17]


@pytest.mark.parametrize("samples", [1000, VARIANTS])
def test_one_word_carries_the_difference_of_log_odds(samples):
    """The printed 6.18 is this difference, 6.6785, shrunk by a penalty."""
    found = TextExplainer(book, class_names=(0, 1)).lime(SPAM, samples=samples, model="logistic", features=3)
    odds = np.log(HIGH / (1 - HIGH)) - np.log(LOW / (1 - LOW))
    assert odds == pytest.approx(6.6785, abs=1e-3)
    assert found.top(1) == ["channel!"]
    assert found.values[0, 5] == pytest.approx(odds, abs=1e-2)
    np.testing.assert_allclose(np.delete(found.values[0], 5), 0.0, atol=1e-2)


def test_the_harmless_comment_has_no_word_that_matters():
    found = TextExplainer(book, class_names=(0, 1)).lime(HAM)
    assert float(found.prediction[0]) == pytest.approx(LOW)
    assert not found.values.any()


def test_a_tree_of_the_real_comments(spam):
    texts, labels = spam
    assert [texts[266], texts[172]] == [HAM, SPAM]
    tree = DecisionTreeClassifier(max_leaf_nodes=10, min_samples_leaf=7, random_state=0)
    model = make_pipeline(CountVectorizer(token_pattern=r"\b\w{3,}\b", stop_words="english"), tree)
    model.fit(texts, labels)
    ham, found = TextExplainer(model).lime([HAM, SPAM])
    assert float(ham.prediction[0]) == model.predict_proba([HAM])[0, 1] < 0.3
    assert not ham.values.any()
    assert float(found.prediction[0]) > 0.9
    assert found.selected == (("channel!",),)
    rule = TextExplainer(model).anchor(SPAM, corpus=texts)
    assert rule.words == ("channel!",)
    assert rule.coverage == np.mean(["channel!" in {text[a:b] for a, b in words(text)} for text in texts])
