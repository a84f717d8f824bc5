"""Where the words of a text begin and end, in any script.

Every word is a span ``(start, end)`` into the text as it was given, so nothing is normalised, folded or lost: the
spans are in order, do not overlap, and hold every character that is no white space.

A *word* is, script by script:

- letters, digits and marks in a row, with apostrophes, hyphens and dots inside (``don't``, ``state-of-the-art``,
  ``3.14``); Korean is written with spaces and follows this rule;
- one Chinese character; a run of katakana; a run of hiragana (what follows a Chinese character in Japanese);
- one cluster (a consonant with its vowels and marks) of Thai, Lao, Khmer and Burmese, which write no spaces: pass a
  tokenizer with a dictionary for words;
- one emoji with its modifiers, or the same one several times in a row;
- an address (``https://...``, ``www...``, ``name@host``) as one word.

Punctuation belongs to the word it touches: closing marks to the word before, opening marks to the word after. Marks
that touch no word, such as ``:)`` or ``--``, are a word of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from pellucid.errors import InputError

Span = tuple[int, int]
Tokenizer = Callable[[str], Sequence[Any]]

_ADDRESS = re.compile(r"(?:https?://|www\.)[!-~]+|[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+", re.IGNORECASE)
_JOINER = "\u200d"
_INSIDE = "'\u2019-\u2010\u2011._"  # between letters these do not end a word
_BETWEEN_DIGITS = ".,:/"
_OPENING = {"Ps", "Pi", "Sc"}  # brackets, quotation marks and currencies stand before their word
_ALSO_OPENING = "\u00bf\u00a1#@"
_MARKS = ("Mn", "Mc", "Me", "Cf")
# (first, last) characters of scripts with a rule of their own.
_SCRIPTS = {
    "ideograph": (
        (0x2E80, 0x2FDF),
        (0x3005, 0x3007),
        (0x3021, 0x3029),
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF),
        (0x20000, 0x3FFFF),
    ),
    "hiragana": ((0x3041, 0x309F),),
    "katakana": ((0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F)),
    "cluster": (
        (0x0E01, 0x0E3A),
        (0x0E40, 0x0E4E),
        (0x0E81, 0x0ECD),
        (0x1000, 0x103F),
        (0x1050, 0x108F),
        (0x1780, 0x17D3),
    ),
}
_FIRST_VOWELS = ((0x0E40, 0x0E44), (0x0EC0, 0x0EC4))  # written before the consonant they follow
_LAST_VOWELS = ((0x0E30, 0x0E33), (0x0E45, 0x0E45), (0x0EB0, 0x0EB3))  # letters, but part of the cluster before


# -- characters as people see them ------------------------------------------------------------------


def characters(text: str) -> list[Span]:
    """Characters as people count them, without white space: a letter with its accents, a flag, a family of emoji."""
    return [(start, end) for start, end in _clusters(text) if not text[start].isspace()]


def _clusters(text: str) -> Iterator[Span]:
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or not _continues(text, start, i):
            yield start, i
            start = i


def _continues(text: str, start: int, i: int) -> bool:
    """Whether the character at ``i`` belongs to the cluster that begins at ``start``."""
    this, before = text[i], text[i - 1]
    if before.isspace() or this.isspace():
        return False
    code = ord(this)
    if unicodedata.category(this) in _MARKS or 0x1F3FB <= code <= 0x1F3FF or 0x1160 <= code <= 0x11FF:
        return True
    if _within(code, _LAST_VOWELS) or _within(ord(before), _FIRST_VOWELS):
        return _kind(before) == _kind(this)
    if before == _JOINER:
        return _kind(text[start]) == "symbol" == _kind(this)
    return _flag(this) and i - start == 1 and _flag(before)


def _flag(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _within(code: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _kind(character: str) -> str:
    """What a character is: a script with a rule of its own, "letter", "symbol" (emoji and the like), "mark" or
    "space".
    """
    if character.isspace():
        return "space"
    code = ord(character)
    for script, ranges in _SCRIPTS.items():
        if _within(code, ranges):
            return script
    category = unicodedata.category(character)
    if category[0] in "LNM" or character == "_":
        return "letter"
    return "symbol" if category == "So" or 0x1F3FB <= code <= 0x1F3FF else "mark"


def is_letter(character: str) -> bool:
    """Whether a character (or nothing) is one of which words with spaces between them are made."""
    return bool(character) and _kind(character) == "letter"


# -- words -------------------------------------------------------------------------------------------


def words(text: str) -> list[Span]:
    """The words of a text, punctuation with the word it touches."""
    spans: list[Span] = []
    for start, end in _chunks(text):
        spans += _attached(text, _cores(text, start, end), start, end)
    return spans


def _chunks(text: str) -> Iterator[Span]:
    """What white space separates."""
    for found in re.finditer(r"\S+", text):
        yield found.span()


def _cores(text: str, start: int, end: int) -> list[Span]:
    """Words of a chunk without their punctuation."""
    cores: list[Span] = []
    at = start
    for address in _ADDRESS.finditer(text, start, end):
        cores += _runs(text, at, address.start())
        cores.append(address.span())
        at = address.end()
    return cores + _runs(text, at, end)


def _runs(text: str, start: int, end: int) -> list[Span]:
    """Clusters joined to words, script by script."""
    runs: list[Span] = []
    kinds: list[str] = []
    for a, b in [(start + a, start + b) for a, b in _clusters(text[start:end])]:
        kind = _kind(text[a])
        if kind == "mark":
            continue
        if runs and kinds[-1] == kind and _same_word(text, runs[-1], (a, b), kind):
            runs[-1] = (runs[-1][0], b)
        else:
            runs.append((a, b))
            kinds.append(kind)
    return runs


def _same_word(text: str, last: Span, this: Span, kind: str) -> bool:
    between = text[last[1] : this[0]]
    if kind == "letter":
        return not between or (len(between) == 1 and _inside(text, last[1]))
    if between or kind in ("ideograph", "cluster"):
        return False
    if kind == "symbol":
        one = text[this[0] : this[1]]
        return text[last[0] : last[1]].replace(one, "") == ""
    return True


def _inside(text: str, at: int) -> bool:
    """Whether a mark between two letters or digits is a part of the word."""
    mark, before, after = text[at], text[at - 1], text[at + 1]
    if before.isdigit() and after.isdigit() and mark in _BETWEEN_DIGITS:
        return True
    if mark != ".":
        return mark in _INSIDE
    # "example.com" and "U.S." are words; "end.Begin" is two.
    return not after.isupper() or not (at > 1 and text[at - 2].isalnum())


def _attached(text: str, cores: list[Span], start: int, end: int) -> list[Span]:
    """The words of a chunk with the marks between them: opening ones go to the next word, others to the last."""
    if not cores:
        return [(start, end)]
    bounds = [start]
    for (_, last), (first, _) in pairwise(cores):
        cut = first
        while cut > last and _opens(text[cut - 1]):
            cut -= 1
        bounds.append(cut)
    return list(zip(bounds, [*bounds[1:], end], strict=True))


def _opens(character: str) -> bool:
    return unicodedata.category(character) in _OPENING or character in _ALSO_OPENING


# -- sentences and phrases ---------------------------------------------------------------------------

_STOPS = ".!?\u2026\u3002\uff01\uff1f\uff0e\u061f\u06d4\u0964\u1362"
_WIDE_STOPS = "\u3002\uff01\uff1f\uff0e"  # no space follows these
_CLOSING = "\"'\u2019\u201d\u00bb)]\u300d\u300f"
_SHORT = {"mr", "mrs", "ms", "dr", "prof", "st", "vs", "no", "e.g", "i.e"}


def sentences(text: str) -> list[Span]:
    """Sentences: words up to one that ends with a full stop (or its like), or up to the end of a line."""
    return _joined(words(text), lambda a, b: _sentence_ends(text, a, b))


def _joined(spans: list[Span], ends: Callable[[Span, Span], bool]) -> list[Span]:
    """Neighbours put together, except where something ends between them."""
    joined: list[Span] = []
    for k, span in enumerate(spans):
        if k and not ends(spans[k - 1], span):
            joined[-1] = (joined[-1][0], span[1])
        else:
            joined.append(span)
    return joined


def _sentence_ends(text: str, last: Span, following: Span) -> bool:
    """Whether a sentence ends with a word, given the next one."""
    gap = text[last[1] : following[0]]
    if "\n" in gap or "\r" in gap or "\u2029" in gap:
        return True
    word = text[last[0] : last[1]].rstrip(_CLOSING)
    if not word or word[-1] not in _STOPS:
        return False
    if not gap:
        return word[-1] in _WIDE_STOPS
    bare = word.rstrip(_STOPS)
    begins = text[following[0] : following[1]].lstrip("\"'(\u201c\u2018[\u00ab")[:1]
    # "Dr. Smith", "J. Smith" and "etc. and so on" go on.
    goes_on = begins.islower() or bare.lower() in _SHORT or (len(bare) == 1 and bare.isupper())
    return word[-1] != "." or not goes_on


def phrases(text: str, spans: list[Span], most: int) -> list[Span]:
    """Neighbouring words joined to at most ``most``, about equally many in each, rather at a stop than in a
    sentence.
    """
    size = -(-len(spans) // most)
    while True:
        joined = _of_size(text, spans, size)
        if len(joined) <= most:
            return joined
        size += 1


def _of_size(text: str, spans: list[Span], size: int) -> list[Span]:
    """Phrases of at most ``size`` words; one may end early, at a stop in its second half."""
    joined: list[Span] = []
    held = 0
    for k, span in enumerate(spans):
        full = held == size
        early = 2 * held >= size and k > 0 and _pauses(text, spans[k - 1], span)
        if not joined or full or early:
            joined.append(span)
            held = 0
        else:
            joined[-1] = (joined[-1][0], span[1])
        held += 1
    return joined


def _pauses(text: str, last: Span, following: Span) -> bool:
    return text[last[1] - 1] in ",;:\u3001\uff0c" or _sentence_ends(text, last, following)


# -- the caller's own tokenizer ----------------------------------------------------------------------


def own_tokens(text: str, tokenizer: Tokenizer | str) -> list[Span]:
    """Spans by a function (which returns spans, or tokens that are found in the text one after another) or a
    pattern.
    """
    if isinstance(tokenizer, str):
        try:
            return [found.span() for found in re.finditer(tokenizer, text) if found.group()]
        except re.error as error:
            raise InputError(
                f"tokenizer={tokenizer!r} is no regular expression ({error}); give a pattern of one token, such as"
                " r'\\w+'."
            ) from None
    given = list(tokenizer(text))
    spans = _located(text, given) if all(isinstance(token, str) for token in given) else _checked(text, given)
    return [span for span in spans if text[span[0] : span[1]].strip()]


def _located(text: str, given: list[Any]) -> list[Span]:
    """Tokens found in the text, in order; a tokenizer may have made them lower case."""
    lower = text.lower()
    spans: list[Span] = []
    at = 0
    for token in given:
        found = text.find(token, at)
        if found < 0 and len(lower) == len(text):
            found = lower.find(token.lower(), at)
        if found < 0:
            raise InputError(
                f"tokenizer returned {token!r}, which is not in the text after character {at}; let it return spans"
                " (start, end) into the text instead of tokens."
            )
        at = found + len(token)
        spans.append((found, at))
    return spans


def _checked(text: str, given: list[Any]) -> list[Span]:
    spans: list[Span] = []
    for token in given:
        try:
            start, end = (int(place) for place in token)
        except (TypeError, ValueError):
            raise InputError(
                f"tokenizer returned {token!r}; let it return tokens (text) or spans (start, end), all of one kind."
            ) from None
        if start == end:  # special tokens stand nowhere
            continue
        if not 0 <= start < end <= len(text) or (spans and start < spans[-1][1]):
            raise InputError(
                f"tokenizer returned the span ({start}, {end}), which is outside the text or overlaps the one before;"
                f" let it return spans in order, within 0 and {len(text)}."
            )
        spans.append((start, end))
    return spans
