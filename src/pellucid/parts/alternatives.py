"""What may take the place of the words of a text, or of the pixels of an image, in counterfactuals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pellucid.errors import InputError, nearest
from pellucid.parts.counterfactual import Instead
from pellucid.parts.source import MARKS, TextParts

Tokens = Callable[[str], tuple[str, ...]]


def words_instead(replace: Any, parts: TextParts, tokens: Tokens, most: int) -> Instead | None:
    """The words that may stand where others do: those given for a word, or the most frequent of a corpus for all.

    Marks around a word stay ("bad!" becomes "good!"). ``most`` limits how many changes there are in all.
    """
    if replace is None:
        return None
    if isinstance(replace, Mapping):
        chosen = _given(replace, parts)
    else:
        others = _of_corpus(replace, tokens)
        each = max(1, most // max(len(parts.tokens), 1))
        chosen = {i: others[: each + 1] for i in range(len(parts.tokens))}
        chosen = {i: _new(parts.tokens[i], words)[:each] for i, words in chosen.items()}
    names: dict[str, int] = {}
    allowed = []
    for i, words in chosen.items():
        for word in words:
            dressed = _dressed(parts.tokens[i], word) if parts.unit == "word" else word
            if dressed != parts.tokens[i]:
                allowed.append((i, names.setdefault(dressed, len(names))))
    return Instead(tuple(names), tuple(names), list(dict.fromkeys(allowed)))


def _given(replace: Mapping[Any, Any], parts: TextParts) -> dict[int, list[str]]:
    """For each word of the text what is given for it, whatever its case and the marks around it."""
    known: dict[str, list[str]] = {}
    for word, others in replace.items():
        words = _list(others)
        if not isinstance(word, str) or not words or not all(isinstance(each, str) for each in words):
            raise InputError(
                f"replace={{{word!r}: {others!r}}} is not understood; give for a word another, or a list of others."
            )
        known[_bare(word)] = words
    found = {i: known[_bare(token)] for i, token in enumerate(parts.tokens) if _bare(token) in known}
    if not found:
        first = next(iter(replace), "")
        raise InputError(f"replace: {first!r} is no {parts.unit} of the text{nearest(str(first), parts.tokens)}")
    return found


def _of_corpus(replace: Any, tokens: Tokens) -> list[str]:
    """The words of some texts without the marks around them, the most frequent first."""
    texts = _list(replace)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"replace must be texts whose words are taken, or a dict such as {{'bad': ['good', 'fine']}}, got"
            f" {type(replace).__name__}."
        )
    counts = Counter(token.strip(MARKS) or token for text in texts for token in tokens(text))
    return [word for word, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]


def _list(given: Any) -> list[Any]:
    """One text or several; what is neither stands for itself."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else [given]


def _new(token: str, words: list[str]) -> list[str]:
    return [word for word in words if _bare(word) != _bare(token)]


def _bare(word: str) -> str:
    return word.casefold().strip(MARKS) or word


def _dressed(token: str, word: str) -> str:
    """The word with the marks of the token around it."""
    core = token.strip(MARKS)
    if not core:
        return word
    start = token.index(core)
    return token[:start] + word + token[start + len(core) :]
