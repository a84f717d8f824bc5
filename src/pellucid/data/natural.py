"""The natural order of categories that have one: months, weekdays, seasons, sizes, grades, and names with numbers.

>>> in_order(["Mar", "Apr", "Jan"])
['Jan', 'Mar', 'Apr']
>>> in_order(["10 to 20", "5 to 10", "over 20"]), in_order(["b", "a"])
(['5 to 10', '10 to 20', 'over 20'], ['a', 'b'])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SCALES: tuple[tuple[str, str], ...] = (
    (
        "calendar",
        "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep/sept october/oct"
        " november/nov december/dec",
    ),
    (
        "days of the week",
        "monday/mon tuesday/tue/tues wednesday/wed thursday/thu/thur/thurs friday/fri saturday/sat sunday/sun",
    ),
    ("seasons", "spring summer autumn/fall winter"),
    ("low to high", "none very_low/very_small low/small/little medium/moderate/middle/mid high/large/big very_high"),
    ("low to high", "little moderate quite_rich rich"),
    ("low to high", "xxs xs s m l xl xxl xxxl"),
    ("bad to good", "terrible very_bad/very_poor bad/poor fair/average/medium good very_good excellent/ideal"),
    ("seldom to often", "never rarely/seldom sometimes often/frequently always"),
    ("low to high", "first second third fourth fifth sixth seventh eighth ninth tenth"),
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MORE, _LESS = "over above >= >", "under below <= <"
_WORDS_BEFORE = {word: 1 for word in [*_MORE.split(), "more than", "greater than", "at least"]} | {
    word: -1 for word in [*_LESS.split(), "less than", "fewer than", "at most", "up to"]
}


def natural_order(names: Sequence[str]) -> tuple[list[int], str] | None:
    """Positions of the names in their natural order and what that is called; None if they have none."""
    words = [re.sub(r"[\s_-]+", "_", name.strip().lower().rstrip(".")) for name in names]
    for called, scale in _SCALES:
        place = {word: i for i, level in enumerate(scale.split()) for word in level.split("/")}
        if len(words) > 1 and all(word in place for word in words):
            return sorted(range(len(words)), key=lambda i: place[words[i]]), called
    keys = [_number_key(name, _start_without_numbers(names)) for name in names]
    if sum(key is not None for key in keys) > 1:  # those without a number stay behind the others, as they are
        last = (float("inf"), 0)
        return sorted(range(len(names)), key=lambda i: keys[i] or last), "numbers in the names"
    return None


def _number_key(name: str, start: str) -> tuple[float, int] | None:
    """The number that a name begins with, after what all begin with (``start``) or a word such as "over"."""
    name = name[len(start) :]
    found = _NUMBER.search(name)
    before = "" if found is None else name[: found.start()].strip().lower()
    if found is None or (before and before not in _WORDS_BEFORE):
        return None
    return float(found.group()), _WORDS_BEFORE.get(before, 0)


def _start_without_numbers(names: Sequence[str]) -> str:
    """What all names begin with, up to the first digit: ``"room "``."""
    return re.split(r"-?\d", common_start(names), maxsplit=1)[0] if names else ""


def common_start(names: Sequence[str]) -> str:
    """The letters that all names begin with.

    >>> common_start(["room 1", "room 12"])
    'room 1'
    """
    least, most = min(names), max(names)
    same = next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))
    return least[:same]


def in_natural_order(names: Sequence[str]) -> list[str]:
    """The names in their natural order, else as they are."""
    found = natural_order(names)
    return list(names) if found is None else [names[i] for i in found[0]]


def in_order(names: Iterable[str]) -> list[str]:
    """The names in their natural order, else sorted."""
    found = sorted(names)
    order = natural_order(found)
    return found if order is None else [found[i] for i in order[0]]
