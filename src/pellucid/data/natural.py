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
    ("low to high", "xxs xs s m l xl xxl xxxl"),
    ("bad to good", "terrible very_bad/very_poor bad/poor fair/average/medium good very_good excellent/ideal"),
    ("seldom to often", "never rarely/seldom sometimes often/frequently always"),
    ("low to high", "first second third fourth fifth sixth seventh eighth ninth tenth"),
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORDS_BEFORE = {"over": 1, "above": 1, "more than": 1, ">": 1, ">=": 1, "under": -1, "below": -1, "<": -1, "<=": -1}


def natural_order(names: Sequence[str]) -> tuple[list[int], str] | None:
    """Positions of the names in their natural order and what that is called; None if they have none."""
    words = [re.sub(r"[\s_-]+", "_", name.strip().lower().rstrip(".")) for name in names]
    for called, scale in _SCALES:
        place = {word: i for i, level in enumerate(scale.split()) for word in level.split("/")}
        if len(words) > 1 and all(word in place for word in words):
            return sorted(range(len(words)), key=lambda i: place[words[i]]), called
    keys = [_number_key(name) for name in names]
    known = [key for key in keys if key is not None]
    if len(names) > 1 and len(known) == len(names):
        return sorted(range(len(names)), key=lambda i: known[i]), "numbers in the names"
    return None


def _number_key(name: str) -> tuple[float, int] | None:
    """The number that a name starts with, after a word such as "over" at most."""
    found = _NUMBER.search(name)
    before = "" if found is None else name[: found.start()].strip().lower()
    if found is None or (before and before not in _WORDS_BEFORE):
        return None
    return float(found.group()), _WORDS_BEFORE.get(before, 0)


def in_natural_order(names: Sequence[str]) -> list[str]:
    """The names in their natural order, else as they are."""
    found = natural_order(names)
    return list(names) if found is None else [names[i] for i in found[0]]


def in_order(names: Iterable[str]) -> list[str]:
    """The names in their natural order, else sorted."""
    found = sorted(names)
    order = natural_order(found)
    return found if order is None else [found[i] for i in order[0]]
