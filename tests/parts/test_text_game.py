"""What is left of a text when words are absent, and how the model is asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parts.test_tokens import TEXTS, pieces
from pellucid.parts.game import TextGame
from pellucid.parts.model import WholeModel
from pellucid.parts.source import TextParts
from pellucid.parts.tokens import characters, words
from pellucid.runner import Run


def lengths(texts):
    return [float(len(text)) for text in texts]


def game(text, spans=None, mask="remove", f=lengths, batch=7):
    return TextGame(WholeModel(f), TextParts(text, words(text) if spans is None else spans, mask=mask), Run(), batch)


@st.composite
def cases(draw, texts=TEXTS):
    text = draw(texts)
    return text, draw(st.lists(st.booleans(), min_size=len(words(text)), max_size=len(words(text))))


@settings(max_examples=100, deadline=None)
@given(cases())
def test_a_masked_text_has_the_known_words_in_order_and_nothing_else(case):
    text, known = case
    left = game(text).text(known)
    kept = [piece for piece, there in zip(pieces(text, words(text)), known, strict=True) if there]
    assert "".join(left.split()) == "".join(kept)


@settings(max_examples=100, deadline=None)
@given(cases())
def test_everybody_is_the_text_itself_and_nobody_is_empty(case):
    text, known = case
    assert game(text).text([True] * len(known)) == text
    assert game(text).text([False] * len(known)) == ("" if known else text)


@settings(max_examples=100, deadline=None)
@given(cases(st.lists(st.sampled_from(["a", "b,", "c", "好", "(d"]), min_size=1).map(" ".join)))
def test_no_space_is_doubled_and_none_is_left_at_the_ends(case):
    text, known = case
    left = game(text).text(known)
    assert left == " ".join(left.split())


@settings(max_examples=100, deadline=None)
@given(cases())
def test_a_mask_stands_in_every_place(case):
    text, known = case
    left = game(text, mask="\x00").text(known)
    assert left.count("\x00") == known.count(False) + text.count("\x00") - sum(
        piece.count("\x00") for piece, there in zip(pieces(text, words(text)), known, strict=True) if not there
    )
    if all(known):
        assert left == text


@pytest.mark.parametrize(
    ("text", "known", "left"),
    [
        ("one two three", [1, 0, 1], "one three"),
        ("one two three", [0, 1, 1], "two three"),
        ("one two.\n\nNew line", [1, 0, 0, 1], "one\n\nline"),
        ("one\ntwo   three", [1, 0, 1], "one\nthree"),
        ("love❤you", [1, 0, 1], "love you"),  # not "loveyou"
        ("我爱北京", [1, 0, 1, 1], "我北京"),
        ("我爱 you", [1, 0, 1], "我 you"),
        ("  padded text ", [1, 1], "  padded text "),
        ("  padded text ", [0, 1], "text "),
    ],
)
def test_white_space_follows_the_words(text, known, left):
    assert game(text).text([bool(there) for there in known]) == left


def test_letters_taken_out_of_a_word_leave_no_space():
    assert game("hello", characters("hello")).text([True, False, True, False, True]) == "hlo"


def test_text_outside_all_words_stays():
    spans = [(0, 5), (7, 12), (14, 17)]
    text = "Hello, world! Bye."
    assert game(text, spans).text([True, False, True]) == "Hello, ! Bye."
    assert game(text, spans).text([False] * 3) == ", ! ."


def test_equal_texts_are_asked_once():
    asked = []

    def count(texts):
        asked.extend(texts)
        return lengths(texts)

    very = game("very very very", f=count)
    asked.clear()
    coalitions = np.array([[bool(k >> i & 1) for i in range(3)] for k in range(8)])
    worth = very.worth(coalitions)[0, :, 0]
    assert sorted(asked) == ["", "very", "very very", "very very very"]
    sizes = coalitions.sum(axis=1)
    assert worth.tolist() == [0.0 if s == 0 else 5.0 * s - 1 for s in sizes]


def test_a_word_that_is_its_own_mask_plays_no_part():
    assert game("a UNK b", mask="UNK").active.tolist() == [[True, False, True]]
    assert game("please remove this").active.all()  # the word "remove" is a word
