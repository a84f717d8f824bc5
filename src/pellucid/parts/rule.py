"""Rules about words of a text, or segments of an image, that fix its prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations import Anchor
from pellucid.explanations.rule_words import REASONS, anchor_sentence, sureness
from pellucid.explanations.store import stored
from pellucid.parts.attribution import OfImage, OfText
from pellucid.parts.options import PartRuleOptions
from pellucid.parts.source import ImageParts, Parts, TextParts
from pellucid.parts.tokens import words
from pellucid.words import Vocabulary, listed, number, percent


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PartRule(Anchor):
    """An `Anchor` whose conditions are that some ``parts`` of a text or an image are there; ``kept`` are their numbers.

    ``covers`` says what the coverage is a share of: "corpus", the ``rows`` texts that were given, or "perturbations".
    """

    parts: Parts
    kept: tuple[int, ...]
    covers: str = "perturbations"

    @property
    def vocabulary(self) -> Vocabulary:
        return self.parts.vocabulary

    def findings(self) -> list[str]:
        return rule_findings(self)


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextRule(OfText, PartRule, options=PartRuleOptions):
    """The words of a text that fix its prediction; word number i of ``feature_names`` stands at ``spans[i]`` (start,
    end) of ``source``.
    """

    parts: TextParts

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the rule as they stand in the text, in its order."""
        return tuple(self.tokens[part] for part in sorted(self.kept))

    def applies(self, X: Any) -> BoolArray:
        """Which texts have all words of the rule, a word of it that stands there twice at least twice.

        Words are compared letter by letter, with the marks that touch them; phrases, sentences, characters and tokens
        of your own count wherever their letters occur.
        """
        texts = [X] if isinstance(X, str) else list(X) if isinstance(X, Iterable) else []
        if not all(isinstance(text, str) for text in texts) or not isinstance(X, Iterable):
            raise InputError("the rule is about texts; give a text or a list of texts.")
        wanted = Counter(self.words)
        often = occurrences(list(wanted), texts, self.unit)
        return np.asarray((often >= np.array(list(wanted.values()), dtype=np.intp)).all(axis=1))


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImageRule(OfImage, PartRule, options=PartRuleOptions):
    """The segments of an image that fix its prediction; ``segments`` (height, width) holds the number of each pixel's
    segment.
    """

    parts: ImageParts

    @property
    def mask(self) -> BoolArray:
        """The pixels ``(height, width)`` of the rule."""
        return np.isin(self.segments, self.kept)

    def applies(self, X: Any) -> BoolArray:
        raise InputError(
            "the rule is about segments of one image, which others do not have; explain each of the"
            f" {np.shape(X)[0] if np.ndim(X) > 3 else 'other'} images."
        )


def occurrences(tokens: Sequence[str], texts: Sequence[str], unit: str) -> IntArray:
    """How often each text has each token, ``(texts, tokens)``: as a word of its own, or wherever its letters occur."""
    if unit != "word":
        counts = [[text.count(token) for token in tokens] for text in texts]
    else:
        found = (Counter(text[start:end] for start, end in words(text)) for text in texts)
        counts = [[own[token] for token in tokens] for own in found]
    return np.array(counts, dtype=np.intp).reshape(len(texts), len(tokens))


def rule_findings(rule: PartRule) -> list[str]:
    """The rule, how sure its precision is, what it covers, and what each part adds."""
    words = rule.vocabulary
    lines = [f"{anchor_sentence(rule)}.", f"{sureness(rule, words.whole)}."]
    if rule.kept:
        lines.append(coverage_words(rule))
    if not rule.kept and rule.reached:
        lines.append(
            f"No {words.part} is needed: {percent(rule.base)} of the perturbed {words.whole}s get this prediction"
            f" whatever is left of the {words.whole}."
        )
    elif rule.kept:
        lines.append(f"Without any {words.part} fixed the precision is {percent(rule.base)}; {_steps(rule)}.")
    if not rule.reached:
        wanted = percent(float(rule.settings["precision"]))
        lines.append(f"The precision of {wanted} was not reached: {reason(rule)}.")
    return [*lines, rule.parts.perturbed(str(rule.settings.get("perturb")))]


def reason(rule: PartRule) -> str:
    """Why there is no better rule."""
    if rule.reason == "unreachable":
        return f"even the {rule.vocabulary.whole} itself does not always get its prediction"
    return REASONS.get(rule.reason, rule.reason)


def coverage_words(rule: PartRule) -> str:
    """What the coverage is a share of."""
    if rule.covers == "corpus":
        return (
            f"The rule applies to {number(rule.coverage * rule.rows)} of the {number(rule.rows)} texts of the corpus."
        )
    return (
        f"The coverage is the share of perturbed {rule.vocabulary.whole}s that keep these {rule.vocabulary.part}s; "
        f"it says nothing about other {rule.vocabulary.whole}s."
    )


def coverage_note(rule: PartRule) -> str:
    """The coverage in short."""
    of = "texts of the corpus" if rule.covers == "corpus" else f"perturbed {rule.vocabulary.whole}s"
    return f"coverage {percent(rule.coverage)} (of {of})"


def _steps(rule: PartRule) -> str:
    every = zip(rule.conditions, rule.running_precision[1:].tolist(), strict=True)
    known = [(condition, precision) for condition, precision in every if np.isfinite(precision)]
    steps = [
        f"{condition.words} {'to' if step else 'brings it to'} {percent(precision)}"
        for step, (condition, precision) in enumerate(known)
    ]
    return listed(steps, len(steps))
