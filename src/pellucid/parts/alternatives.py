"""What may take the place of the words of a text, or of the pixels of an image, in counterfactuals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace as replaced
from itertools import product
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.errors import InputError, nearest
from pellucid.parts.counterfactual import BUDGET, AnswerEffort, Instead
from pellucid.parts.game import ImageGames
from pellucid.parts.segments import absent_image, colours, value_range
from pellucid.parts.source import MARKS, TextParts

_MOST_IMAGES = 50_000
_PIXELS = 3  # changed at once, unless told

Tokens = Callable[[str], tuple[str, ...]]


def words_instead(replace: Any, parts: TextParts, tokens: Tokens, most: int) -> Instead | None:
    """The words that may stand where others do: those given for a word, or the most frequent of a corpus for all.

    Marks around a word stay ("bad!" becomes "good!"). An empty text among them lets words be taken out as well.
    ``most`` limits how many changes there are in all.
    """
    if replace is None:
        return None
    if isinstance(replace, Mapping):
        chosen = _given(replace, parts)
    else:
        given = _list(replace)
        others = _of_corpus([text for text in given if text != ""] or given, tokens)
        each = max(1, most // max(len(parts.tokens), 1))
        chosen = {i: others[: each + 1] for i in range(len(parts.tokens))}
        chosen = {i: _new(parts.tokens[i], words)[:each] for i, words in chosen.items()}
        chosen = {i: [*words, *[""][: "" in given]] for i, words in chosen.items()}
    names: dict[str, int] = {}
    allowed = []
    for i, words in chosen.items():
        for word in filter(None, words):
            dressed = _dressed(parts.tokens[i], word) if parts.unit == "word" else word
            if dressed != parts.tokens[i]:
                allowed.append((i, names.setdefault(dressed, len(names))))
    absent = [i for i, words in chosen.items() if "" in words]
    return Instead(tuple(names), tuple(names), list(dict.fromkeys(allowed)), absent)


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


# -- pixels ------------------------------------------------------------------------------------------


def pixel_labels(image: AnyArray) -> AnyArray:
    """Every pixel as a segment of its own."""
    height, width = image.shape[:2]
    return np.arange(height * width, dtype=np.intp).reshape(height, width)


def by_pixel(games: ImageGames) -> ImageGames:
    """The games of an image whose segments are its pixels, which are called so."""
    return replaced(games, parts=replaced(games.parts, unit="pixel"), segmenter="pixels")


def pixels_instead(games: ImageGames) -> Instead:
    """The extreme colours that each pixel may have: the darkest and the lightest of every channel."""
    image, labels = games.parts.image, games.parts.segments
    ends = sorted(set(value_range(image)))
    names, wholes, allowed = [], [], []
    for k, colour in enumerate(product(ends, repeat=colours(image))):
        names.append(f"{colour[0]:g}" if len(colour) == 1 else f"({', '.join(f'{part:g}' for part in colour)})")
        wholes.append(absent_image(image, labels, colour))
        differs = wholes[-1] != image
        differs = differs if differs.ndim == 2 else differs.any(axis=2)
        allowed += [(int(pixel), k) for pixel in labels[differs]]
    return Instead(tuple(names), wholes, sorted(allowed))


def pixel_effort(effort: AnswerEffort, instead: Instead) -> AnswerEffort:
    """Enough to try every pixel in every extreme colour, and the best ones together."""
    least = len(instead.allowed) + effort.n + 3
    if (effort.budget is not None and effort.budget < least) or least > _MOST_IMAGES:
        raise InputError(
            f"kind='pixel' tries every pixel in {len(instead.names)} colours, {least:,} images; give budget={least} at"
            f" least, and an image small enough for {_MOST_IMAGES:,}."
        )
    budget = least + BUDGET if effort.budget is None else effort.budget
    return replaced(effort, budget=budget, max_changes=effort.max_changes or _PIXELS)
