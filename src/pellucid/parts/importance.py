"""Which words a model of texts relies on, over many texts.

Contributions of single texts: Lundberg and Lee 2017. Their mean absolute values over a data set as a measure of
importance: Lundberg et al. 2020.

Definition. A word is a token without the punctuation around it and in one case ("Free!" and "free" are the same), or
the token as it stands. In a text t its contribution c_t is the sum of the Shapley values of its occurrences there. Over
the n texts that contain it

    importance = mean |c_t|      contribution = mean c_t

with intervals from the spread over texts (Student's t with n - 1 degrees of freedom).

Estimator. Each text by itself, as in `shap`: all coalitions of words where they fit into the budget, else pairs of
them. The same text twice is explained once and counts twice.

When it misleads:
1. a word in a few texts has a wide interval, or none: words in fewer than ``min_texts`` texts are not ranked (caveat
   "rare-words" where much of what the model does is in them);
2. a mean hides a word that raises one prediction and lowers another (caveat "sign-flips");
3. sampling errors never cancel in absolute values: noise looks like importance (caveat "sampling-error");
4. importance is that of the texts with the word: a word of large effect in few texts is above one of small effect in
   many; the column ``overall`` of the table averages over all texts;
5. texts without some words are unlike anything the model was trained on.

Cost. For each text ``budget`` model rows, by default 20 for each of its words but at least 256, or all coalitions where
they are fewer; and four to see whether the model is steady. With fewer than ten for each word sampling errors soon
exceed the contributions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray, group_sums
from pellucid.checks import flag, optional, settle, whole
from pellucid.errors import InputError
from pellucid.explanations.explanation import headed, squeeze_outputs
from pellucid.methods.attribution.estimators import Effort
from pellucid.parts.game import PartGame, TextGames
from pellucid.parts.importance_checks import word_caveats
from pellucid.parts.model import WholeModel
from pellucid.parts.shap import MOST_PARTS, solved
from pellucid.parts.source import TextParts
from pellucid.parts.word_importance import WordImportance
from pellucid.runner import Run
from pellucid.runner.progress import Reporter
from pellucid.stats import Z95

_FEWEST = 16  # pairs of coalitions of one text
_EACH, _LEAST = 20, 256  # model rows for each word, and for a text
_ROUNDING = 1e-12  # of the largest contribution
_USUAL = 5  # texts that a word has to be in
_TENTH = 10


@dataclass(frozen=True)
class WordEffort:
    """How much is asked: model rows for each text, texts, and the longest one; and which words are one and count."""

    budget: int | None = None
    sample: int | None = 300
    most: int = 300
    min_texts: int | None = None
    fold: bool = True

    def __post_init__(self) -> None:
        settle(
            self,
            budget=optional(whole, "budget", self.budget),
            sample=optional(whole, "sample", self.sample),
            most=whole("most", self.most, most=MOST_PARTS),
            min_texts=optional(whole, "min_texts", self.min_texts),
            fold=flag("fold", self.fold),
        )

    def rows(self, words: int) -> int:
        """Model rows for a text of so many words."""
        if words < 2:
            return 0
        wanted = max(_EACH * words, _LEAST) if self.budget is None else max(self.budget, 2 * max(words, _FEWEST))
        return min(wanted, 2**words - 2)

    def least(self, texts: int) -> int:
        """In how many of the texts a word has to be: in five, of fewer than fifty texts in a tenth, but in two."""
        usual = min(max(2, texts // _TENTH), _USUAL, texts)
        return usual if self.min_texts is None else self.min_texts


@dataclass(frozen=True, eq=False)
class _Text:
    """What was found in one text: its words, each once, with the contributions ``(words, outputs)`` of all their
    occurrences and the sampling errors of these.
    """

    words: tuple[str, ...]
    times: IntArray
    values: FloatArray
    se: FloatArray


@dataclass(frozen=True, eq=False)
class _Model:
    """What is the same for all texts, and how unsteady the model was at the most."""

    scale: str
    output_names: tuple[str, ...]
    instability: float


def word_importance(
    texts: list[str],
    cut: Callable[[str], TextParts],
    model: WholeModel,
    *,
    effort: WordEffort,
    batch: int,
    run: Run,
    progress: Reporter,
) -> WordImportance:
    """Importance of the words of these texts; ``cut`` finds the words of one."""
    chosen = _sample(texts, effort, run)
    parts = {text: cut(text) for text in dict.fromkeys(chosen)}
    short = {text: found for text, found in parts.items() if 0 < len(found.tokens) <= effort.most}
    if not short:
        raise InputError(
            "no text can be explained: "
            + (
                f"each has more than most={effort.most} words; give shorter texts, or raise most."
                if any(len(found.tokens) for found in parts.values())
                else "there is no word in any of them; give texts with words."
            )
        )
    progress.plan(sum(effort.rows(len(found.tokens)) for found in short.values()))
    known: dict[str, _Text] = {}
    about: list[_Model] = []
    with run.until_interrupted(lambda: bool(known)):
        for text, found in short.items():
            game = TextGames(found, batch).game(model, run)
            known[text] = _explained(game, found, effort, run)
            about.append(_Model(game.predictor.scale, game.predictor.output_names, game.predictor.instability))
            progress.advance(effort.rows(len(found.tokens)))
            if run.interrupted:
                break
    progress.close()
    counted = [known[text] for text in chosen if text in known]
    long = sum(len(parts[text].tokens) > effort.most for text in chosen)
    return _result(counted, about, next(iter(short.values())), effort, run, {"texts": len(texts), "left_out": long})


def _sample(texts: list[str], effort: WordEffort, run: Run) -> list[str]:
    """At most so many texts, drawn at random, in their order."""
    if effort.sample is None or len(texts) <= effort.sample:
        return texts
    drawn = run.generator("word-importance.texts").choice(len(texts), effort.sample, replace=False)
    return [texts[i] for i in np.sort(drawn).tolist()]


def _explained(game: PartGame, parts: TextParts, effort: WordEffort, run: Run) -> _Text:
    """Shapley values of one text, summed over the occurrences of each word."""
    budget = effort.rows(len(parts.tokens)) or None
    fields = solved(game, Effort(budget=budget), "by='auto'", run)
    names = parts.comparable(()) if effort.fold else parts.tokens
    words = tuple(dict.fromkeys(names))
    place = np.array([words.index(name) for name in names], dtype=np.intp)
    shape = (len(names), game.outputs)
    return _Text(
        words,
        np.bincount(place, minlength=len(words)),
        group_sums(place, len(words), fields["values"].reshape(shape)),
        np.sqrt(group_sums(place, len(words), np.square(fields["se"].reshape(shape)))),
    )


# -- over texts --------------------------------------------------------------------------------------


def _result(
    found: list[_Text], about: list[_Model], parts: TextParts, effort: WordEffort, run: Run, counts: dict[str, int]
) -> WordImportance:
    seen = Counter(word for text in found for word in text.words)
    words = tuple(sorted(seen, key=lambda word: (-seen[word], word)))  # the most frequent first
    number = {word: j for j, word in enumerate(words)}
    place = np.array([number[word] for text in found for word in text.words], dtype=np.intp)
    values = np.concatenate([text.values for text in found])
    noise = np.concatenate([text.se for text in found])
    times = np.concatenate([text.times for text in found])
    n = np.bincount(place, minlength=len(words))
    fields = {name: squeeze_outputs(part) for name, part in _means(place, n, values, noise)}
    settings = {
        "method": "word importance",
        "unit": parts.unit,
        "mask": parts.mask,
        "fold": effort.fold,
        "budget": effort.budget,
        "sample": effort.sample,
        "most": effort.most,
        **counts,
        "random_state": run.seed,
    }
    header = {
        "feature_names": words,
        "output_names": about[0].output_names,
        "scale": about[0].scale,
        "settings": settings,
        "cost": run.cost(),
    }
    result = WordImportance(
        texts=n,
        occurrences=np.bincount(place, weights=times, minlength=len(words)).astype(np.intp),
        explained=len(found),
        min_texts=effort.least(len(found)),
        **headed({**header, **fields}),
    )
    return run.finish(result, word_caveats(result, run, max(each.instability for each in about)) if run.checks else ())


def _means(place: IntArray, n: IntArray, values: FloatArray, noise: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Means, errors and intervals ``(words, outputs)`` of contributions ``(pairs of word and text, outputs)``."""
    size, half = _mean(place, n, np.abs(values))
    mean, mean_half = _mean(place, n, values)
    yield from (("values", size), ("se", half[0]))
    yield from (("low", np.maximum(size - half[1], 0.0)), ("high", size + half[1]))
    yield from (("mean", mean), ("mean_low", mean - mean_half[1]), ("mean_high", mean + mean_half[1]))
    margin = Z95 * noise + _ROUNDING * np.abs(values).max(initial=0.0)
    against = np.where(mean < 0, -1.0, 1.0)[place] * values < -margin
    yield "opposite", group_sums(place, len(n), against.astype(np.float64)) / n[:, None]
    yield "noise", group_sums(place, len(n), noise) / n[:, None]


def _mean(place: IntArray, n: IntArray, values: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """The mean for each word, its standard error over texts and half its 95% interval; both are NaN for one text."""
    from scipy.special import stdtrit  # on use: scipy is slow to import

    mean = group_sums(place, len(n), values) / n[:, None]
    squares = group_sums(place, len(n), np.square(values - mean[place]))
    with np.errstate(invalid="ignore", divide="ignore"):
        se = np.where(n[:, None] > 1, np.sqrt(squares / (n - 1)[:, None] / n[:, None]), np.nan)
    quantile = stdtrit(np.maximum(n - 1, 1), 0.975)[:, None]
    return mean, (se, np.asarray(se * quantile))
