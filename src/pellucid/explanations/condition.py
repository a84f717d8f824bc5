"""What a rule requires of one feature, and how to write it: ``age > 30``, ``7 < temp <= 14``, ``sex = 'female'``.

    rule       conditions joined by ``and``
    condition  name op value | value < name <= value | name between value and value | name [not] in [value, ...]
               | name is [not] missing | name is known
    op         < <= > >= = == != (or the signs for them)
    name       a word, or anything in quotes: "blood pressure", `and`
    value      a number, a date (2024-05-31), a word, or anything in quotes; a quote within quotes is doubled

Ends that belong to an interval are kept by the next number outside, so that every interval is (low, high].
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, BoolArray
from pellucid.data.cells import as_stamp, missing_mask
from pellucid.data.schema import dates_to_codes
from pellucid.errors import InputError
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True)
class Condition:
    """What a rule requires of one feature: a value in (``low``, ``high``], one of ``levels``, or none at all.

    ``kind`` is "interval", "level" or "missing"; ``negated`` turns it round ("none of these levels", "not missing").
    A missing value meets no condition but that it is missing, and those that say so (``or_missing``). Dates count
    microseconds since 1970. ``player`` is the group that the feature belongs to, or the feature itself; ``column`` what
    tables call it, where that differs. ``words`` says it, as in ``7 < temp ≤ 14``.

    >>> condition = Condition.of("7 < temp <= 14")
    >>> condition, condition.low, condition.high
    (<Condition 7 < temp ≤ 14>, 7.0, 14.0)
    >>> condition == Condition("temp", "interval", low=7, high=14)
    True
    >>> Condition.of("weather in [rain, snow]").levels
    ('rain', 'snow')
    """

    feature: str
    kind: Literal["interval", "level", "missing"]
    words: str = ""
    low: float = -np.inf
    high: float = np.inf
    levels: tuple[Any, ...] = ()
    negated: bool = False
    player: str = ""
    column: str = ""
    or_missing: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "player", self.player or self.feature)
        object.__setattr__(self, "words", self.words or _words(self))

    def __repr__(self) -> str:
        return f"<Condition {self.words}>"

    @classmethod
    def of(cls, text: str) -> Condition:
        """The condition that a text says, such as ``"age > 30"`` or ``"'blood pressure' between 120 and 140"``."""
        found = read_conditions(text)
        if len(found) > 1:
            raise InputError(f"{text!r} says {len(found)} conditions; give one, or make a rule of them: Rule.of(text).")
        return found[0]

    def holds(self, values: AnyArray) -> BoolArray:
        """For which plain values of the feature (numbers, dates or labels) the condition holds."""
        missing = missing_mask(values)
        if self.kind == "missing":
            return np.asarray(missing != self.negated)
        known = self._interval(values) if self.kind == "interval" else self._level(values)
        return np.where(missing, self.or_missing, known)

    def _interval(self, values: AnyArray) -> BoolArray:
        numbers = dates_to_codes(values) if _are_dates(values) else np.asarray(values, dtype=np.float64)
        return np.asarray(((numbers > self.low) & (numbers <= self.high)) != self.negated)

    def _level(self, values: AnyArray) -> BoolArray:
        if _are_dates(values):
            return np.asarray(
                np.isin(dates_to_codes(values), [as_code(level) for level in self.levels]) != self.negated
            )
        if values.dtype.kind == "f":  # numbers, and booleans, which are 0 and 1
            return np.asarray(np.isin(values, [as_number(level) for level in self.levels]) != self.negated)
        own = (any(cell == level for level in self.levels) for cell in values.tolist())
        return np.fromiter(own, dtype=bool, count=len(values)) != self.negated


def _are_dates(values: AnyArray) -> bool:
    if values.dtype.kind == "M":
        return True
    present = values[~missing_mask(values)] if values.dtype == object else values[:0]
    return len(present) > 0 and isinstance(present[0], datetime.date)


def as_code(level: Any) -> float:
    """A date as microseconds since 1970; what is a number already counts them."""
    return float(as_stamp(level).astype(np.int64)) if not isinstance(level, int | float) else float(level)


def as_number(level: Any) -> float:
    """A level of a column of numbers or of booleans, which are said by words, too."""
    said = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
    return said[level.casefold()] if isinstance(level, str) and level.casefold() in said else float(level)


# -- words -------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d.*", re.DOTALL)
_KEYWORDS = {"and", "or", "not", "in", "is", "between"}
_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "<>": "≠"}
_TURNED = {"<": ">", "≤": "≥", ">": "<", "≥": "≤", "=": "=", "≠": "≠"}


def _words(condition: Condition) -> str:
    """A condition in the notation that `read_conditions` reads."""
    name, ends = _name(condition.feature), (condition.low, condition.high)
    if condition.kind == "missing":
        return f"{name} is {'known' if condition.negated else 'missing'}"
    if condition.kind == "interval":
        low, high = (_value(end) if np.isfinite(end) else "" for end in ends)
        if low and high:
            return f"{low} < {name} ≤ {high}"
        return f"{name} > {low}" if low else f"{name} ≤ {high}" if high else f"{name} is known"
    values = [_value(level) for level in condition.levels]
    if len(values) == 1:
        return f"{name} {'≠' if condition.negated else '='} {values[0]}"
    return f"{name} {'not in' if condition.negated else 'in'} [{', '.join(values)}]"


def _value(value: Any) -> str:
    """A number or a level such that it is read as what it is."""
    if not isinstance(value, str):
        return repr(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)
    bare = _BARE.fullmatch(value) and value.casefold() not in _KEYWORDS and not _NUMBER.fullmatch(value)
    return value if bare else "'{}'".format(value.replace("'", "''"))


def _name(name: str) -> str:
    return name if _value(name) == name and not _DATE.fullmatch(name) else '"{}"'.format(name.replace('"', '""'))


# -- reading -----------------------------------------------------------------------------------------

_BARE = re.compile(r"[^\s<>=!≤≥≠,;&|\[\](){}'\"`]+")
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`)|(?P<op><=|>=|==|!=|<>|[<>=≤≥≠])"
    rf"|(?P<bracket>[\[\](){{}},])|(?P<word>{_BARE.pattern})|(?P<other>\S))",
    re.DOTALL,
)
_MEANT = {
    "or": "a rule joins conditions by 'and'; write two rules, or name in [a, b] for several levels of one feature",
    "not": "write name != value, name not in [a, b] or name is not missing",
    "&": "join conditions by 'and'",
    "|": "a rule joins conditions by 'and'; write two rules",
    ",": "join conditions by 'and', and write numbers without separators of thousands",
    "(": "brackets are for lists only: name in [a, b]",
}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str

    @property
    def content(self) -> str:
        """The text without its quotes."""
        quote = self.text[0]
        return self.text[1:-1].replace(2 * quote, quote) if self.kind == "quoted" else self.text

    def says(self, *keywords: str) -> bool:
        return self.kind == "word" and self.text.casefold() in keywords

    @property
    def literal(self) -> Any:
        """A number where it is one, else the text."""
        if self.kind != "word" or not _NUMBER.fullmatch(self.text):
            return self.content
        return int(self.text) if re.fullmatch(r"[+-]?\d+", self.text) else float(self.text)

    @property
    def value(self) -> bool:
        """Whether it can only stand for a value: a number or a date without quotes."""
        return self.kind == "word" and bool(_NUMBER.fullmatch(self.text) or _DATE.fullmatch(self.text))


_END = _Token("end", "the end")


def read_conditions(text: str) -> tuple[Condition, ...]:
    """The conditions that a text says, in its order."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a rule is written as a text, such as \"age > 30 and sex = 'female'\", not {text!r}.")
    reader = _Reader(text)
    found = [reader.condition()]
    while reader.now is not _END:
        reader.expect("and")
        found.append(reader.condition())
    return tuple(found)


class _Reader:
    """Reads a text token by token; ``now`` is the one to read next."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = _TOKEN.finditer(text.rstrip())
        self._tokens = [_Token(str(match.lastgroup), match.group(str(match.lastgroup))) for match in found]
        self._at = 0

    @property
    def now(self) -> _Token:
        return self._ahead(0)

    def _ahead(self, steps: int) -> _Token:
        return self._tokens[self._at + steps] if self._at + steps < len(self._tokens) else _END

    def _take(self) -> _Token:
        token = self.now
        self._at += 1
        return token

    def refused(self, token: _Token, remedy: str) -> InputError:
        where = "the rule ends too early" if token is _END else f"{token.text!r} is not understood here"
        remedy = _MEANT.get(token.text.casefold(), remedy)
        if token.kind == "other" and token.text in "'\"`":
            remedy = "close the quote; one within a name or a level is doubled"
        return InputError(f"{where}: {self._text!r}; {remedy}.")

    def expect(self, *keywords: str) -> _Token:
        if not self.now.says(*keywords):
            remedy = "put names and levels of several words in quotes, and join conditions by 'and'"
            raise self.refused(self.now, remedy)
        return self._take()

    def condition(self) -> Condition:
        if self.now.value and self._ahead(1).kind == "op":
            return self._from_value()
        name = self._name()
        if self.now.kind == "op":
            return self._compared(name, self._sign(), self._value())
        if self.now.says("is"):
            return self._missing(name)
        if self.now.says("between"):
            self._take()
            low = self._value()
            self.expect("and")
            return self._between(name, (low, "≤"), ("≤", self._value()))
        negated = self.now.says("not")
        if negated:
            self._take()
        if not self.now.says("in"):
            known = "<, <=, >, >=, =, !=, in, between or is missing"
            raise self.refused(self.now, f"after {name!r} write {known}; put a name of several words in quotes")
        self._take()
        return Condition(name, "level", levels=tuple(self._list()), negated=negated)

    def _from_value(self) -> Condition:
        value, sign, name = self._value(), self._sign(), self._name()
        if self.now.kind != "op":
            return self._compared(name, _TURNED[sign], value)
        second = self._sign()
        if {sign, second} <= {"<", "≤"}:
            return self._between(name, (value, sign), (second, self._value()))
        if {sign, second} <= {">", "≥"}:
            return self._between(name, (self._value(), _TURNED[second]), (_TURNED[sign], value))
        raise InputError(f"{sign!r} and {second!r} in {self._text!r} say no interval; write low < {name} <= high.")

    def _name(self) -> str:
        token = self._take()
        bare = token.kind == "word" and not token.value and token.text.casefold() not in _KEYWORDS
        if not (bare or token.kind == "quoted") or not token.content:
            raise self.refused(token, "write the name of a feature here, in quotes unless it is one plain word")
        return token.content

    def _sign(self) -> str:
        token = self._take()
        if token.kind != "op":
            raise self.refused(token, "write a comparison here: <, <=, >, >=, = or !=")
        return _SIGNS.get(token.text, token.text)

    def _value(self) -> Any:
        token = self._take()
        if not (token.kind == "quoted" or (token.kind == "word" and token.text.casefold() not in _KEYWORDS)):
            raise self.refused(token, "write a number, a date or a level here, in quotes unless it is one plain word")
        return token.literal

    def _list(self) -> list[Any]:
        closing = {"[": "]", "(": ")", "{": "}"}.get(self.now.text)
        if closing is None or self.now.kind != "bracket":
            raise self.refused(self.now, "list the levels in brackets: name in [a, b]")
        self._take()
        found = [self._value()]
        while self.now.text == "," and self.now.kind == "bracket":
            self._take()
            found.append(self._value())
        if self.now.text != closing:
            raise self.refused(self.now, f"separate the levels by commas, and close the list by {closing!r}")
        self._take()
        return found

    def _missing(self, name: str) -> Condition:
        self._take()
        negated = self.now.says("not")
        if negated:
            self._take()
        if not self.now.says("missing", "known"):
            raise self.refused(self.now, f"write {name} is missing, or {name} is known")
        return Condition(name, "missing", negated=negated != self._take().says("known"))

    def _compared(self, name: str, sign: str, value: Any) -> Condition:
        if sign in "=≠":
            return Condition(name, "level", levels=(value,), negated=sign == "≠")
        words, number = f"{_name(name)} {sign} {_value(value)}", self._number(name, value)
        if sign in "<≤":
            return Condition(name, "interval", words, high=_end(number, inside=sign == "≤"))
        return Condition(name, "interval", words, low=_end(number, inside=sign == ">"))

    def _between(self, name: str, low: tuple[Any, str], high: tuple[str, Any]) -> Condition:
        (first, opens), (closes, last) = low, high
        start = _end(self._number(name, first), inside=opens == "<")
        stop = _end(self._number(name, last), inside=closes == "≤")
        if not start < stop:
            raise InputError(f"no number lies between {first} and {last} in {self._text!r}; give the lower end first.")
        words = f"{_value(first)} {opens} {_name(name)} {closes} {_value(last)}"
        return Condition(name, "interval", words, low=start, high=stop)

    def _number(self, name: str, value: Any) -> float:
        """The end of an interval: a number, or a date as microseconds."""
        if not isinstance(value, str) or _NUMBER.fullmatch(value):
            return float(value)
        try:
            if _DATE.fullmatch(value):
                return as_code(value)
        except ValueError:
            pass
        raise InputError(
            f"{value!r} in {self._text!r} is neither a number nor a date (2024-05-31) to compare {name!r} with; of"
            f" levels, list those that are meant: {name} in [a, b]."
        )


def _end(number: float, *, inside: bool) -> float:
    """An end of (low, high]: the number itself, or the one just below it."""
    return number if inside else float(np.nextafter(number, -np.inf))
