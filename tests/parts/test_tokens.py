"""Spans of words, sentences, phrases and characters, in any script."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.errors import InputError
from pellucid.parts.tokens import characters, own_tokens, phrases, sentences, words

# Scripts, emoji with modifiers, combining marks, addresses and odd white space, mixed at random.
PIECES = [
    "word", "don't", "état", "e\u0301", "좋네요", "東京", "ラーメン", "べました", "ภาษาไทย", "مرحبا", "שלום", "👍🏽", "👨‍👩‍👧", "🇰🇷",
    "❤️", "1,000.5", "http://a.b/c?d=1", "x@y.org", ":)", "...", "(", ")", "«", "¿", "#", "$", "-", "'", ".", " ", "  ", "\n", "\t", "\u3000",
    "\u200b", "\u200d", "\u00a0", "。", "_",
]  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join))


def pieces(text, spans):
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize("split", [words, sentences, characters])
@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_spans_are_in_order_apart_and_hold_everything_but_white_space(split, text):
    spans = split(text)
    at = 0
    for start, end in spans:
        assert at <= start < end
        assert text[at:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        at = end
    assert text[at:].strip() == ""


@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_words_and_characters_hold_no_white_space(text):
    for start, end in [*words(text), *characters(text)]:
        assert not any(character.isspace() for character in text[start:end])


@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_sentences_are_whole_words(text):
    starts, ends = {start for start, _ in words(text)}, {end for _, end in words(text)}
    for start, end in sentences(text):
        assert start in starts
        assert end in ends


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, most=st.integers(1, 5))
def test_phrases_are_whole_words_and_never_too_many(text, most):
    found = words(text)
    joined = phrases(text, found, most)
    assert len(joined) == min(len(joined), most)
    assert [start for start, _ in joined] == sorted({start for start, _ in joined})
    assert {start for start, _ in joined} <= {start for start, _ in found}
    assert "".join("".join(pieces(text, joined)).split()) == "".join(text.split())


def test_a_tokenizer_sees_the_text_as_people_do():
    text = "Don't panic: it's state-of-the-art, costs $3.14 (or 1,000 €)! :) see http://x.y/z?a=1, ok."
    assert pieces(text, words(text)) == [
        "Don't", "panic:", "it's", "state-of-the-art,", "costs", "$3.14", "(or", "1,000", "€)!", ":)",
        "see", "http://x.y/z?a=1,", "ok.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("오늘 날씨가 정말 좋네요!", ["오늘", "날씨가", "정말", "좋네요!"]),
        ("私は東京でラーメンを食べました。", ["私", "は", "東", "京", "で", "ラーメン", "を", "食", "べました。"]),
        ("我爱北京。", ["我", "爱", "北", "京。"]),
        ("ไทยง่าย", ["ไท", "ย", "ง่า", "ย"]),
        ("👨‍👩‍👧 🇰🇷🇯🇵 ❤️❤️👍🏽", ["👨‍👩‍👧", "🇰🇷", "🇯🇵", "❤️❤️", "👍🏽"]),
        ("e\u0301te\u0301!", ["e\u0301te\u0301!"]),
        ("U.S.A. e.g. me.Check example.com", ["U.S.A.", "e.g.", "me.", "Check", "example.com"]),
        ("مرحبا، كيف الحال؟", ["مرحبا،", "كيف", "الحال؟"]),
        ("write to a.b@c.org: now", ["write", "to", "a.b@c.org:", "now"]),
        ("¿Qué? «sí» love❤you", ["¿Qué?", "«sí»", "love", "❤", "you"]),
        ("f(x) see[1],a", ["f", "(x)", "see", "[1],", "a"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_words_of_many_scripts(text, found):
    assert pieces(text, words(text)) == found


def test_sentences_end_at_stops_and_lines():
    text = "Dr. Smith came. He left! (Why?) etc. and so on\nA line。好。是"
    assert pieces(text, sentences(text)) == [
        "Dr. Smith came.", "He left!", "(Why?)", "etc. and so on", "A line。", "好。", "是",
    ]  # fmt: skip


def test_characters_keep_what_belongs_together():
    text = "e\u0301 👨‍👩‍👧🇰🇷👍🏽 한"
    assert pieces(text, characters(text)) == ["e\u0301", "👨‍👩‍👧", "🇰🇷", "👍🏽", "한"]


def test_phrases_end_at_a_stop_where_one_is_near():
    text = "one two three. Four five six seven eight"
    assert pieces(text, phrases(text, words(text), 2)) == ["one two three.", "Four five six seven eight"]


def test_phrases_are_about_equally_long():
    text = " ".join("abcdefgh")
    assert pieces(text, phrases(text, words(text), 4)) == ["a b", "c d", "e f", "g h"]
    assert pieces(text, phrases(text, words(text), 3)) == ["a b c", "d e f", "g h"]


# -- tokenizers of the caller's own -------------------------------------------------------------------


def test_tokens_are_located_in_order_whatever_their_case():
    assert own_tokens("The cat, THE CAT", lambda _: ["the", "cat", "the", "cat"]) == [(0, 3), (4, 7), (9, 12), (13, 16)]
    assert own_tokens("a b", lambda _: [(0, 0), (0, 1), (2, 3), (0, 0)]) == [(0, 1), (2, 3)]
    assert own_tokens("ab, cd", r"\w+") == [(0, 2), (4, 6)]


@pytest.mark.parametrize(
    ("tokenizer", "words_of_error"),
    [
        (lambda _: ["play", "##ing"], "'##ing'"),
        (lambda _: [(0, 3), (2, 4)], "overlaps"),
        (lambda _: [(0, 99)], "outside the text"),
        (lambda _: [1, 2], "returned 1"),
        ("(", "no regular expression"),
    ],
)
def test_tokens_that_are_not_in_the_text_are_refused(tokenizer, words_of_error):
    with pytest.raises(InputError, match=re.escape(words_of_error)):
        own_tokens("playing", tokenizer)
