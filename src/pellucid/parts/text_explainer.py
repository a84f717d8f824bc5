"""TextExplainer: binds a model of texts to the methods. It has no logic of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import numpy as np

from pellucid.checks import flag, one_of, reporting, seed, whole, workers
from pellucid.errors import InputError
from pellucid.explanations import Neighbors, Prototypes
from pellucid.methods.attribution.estimators import Effort, Estimator
from pellucid.methods.attribution.interaction_indices import Index
from pellucid.methods.examples.prototypes import By as ByGroup
from pellucid.methods.examples.prototypes import Method
from pellucid.methods.local.surrogate.fitting import Model
from pellucid.methods.local.surrogate.selection import Select
from pellucid.models.predictor import Link
from pellucid.parts.alternatives import words_instead
from pellucid.parts.anchor import AnchorEffort, AnchorOptions, Corpus, Perturb, part_anchor
from pellucid.parts.answers import TextCounterfactuals
from pellucid.parts.attribution import TextAttribution
from pellucid.parts.counterfactual import AnswerEffort, AnswerOptions, part_counterfactuals
from pellucid.parts.examples import part_neighbors, part_prototypes, texts_of
from pellucid.parts.game import TextGames
from pellucid.parts.importance import WordEffort, word_importance
from pellucid.parts.lime import Draw, LimeEffort, LimeOptions, PartDistance, part_lime
from pellucid.parts.local import LocalTextAttribution
from pellucid.parts.model import Models
from pellucid.parts.rule import TextRule
from pellucid.parts.shap import ShapOptions, part_shap
from pellucid.parts.source import REMOVE, TextParts
from pellucid.parts.tokens import Tokenizer, characters, own_tokens, phrases, sentences, words
from pellucid.parts.word_importance import WordImportance
from pellucid.runner import Run
from pellucid.runner.progress import Progress, Reporter
from pellucid.words import kind_of

By = Literal["auto", "word", "sentence", "character"]
_BY = ("auto", "word", "sentence", "character")
T = TypeVar("T")


class _Cut(TypedDict, total=False):
    by: By
    most: int


class _Shap(_Cut, ShapOptions, total=False):
    """The options of `TextExplainer.shap`."""


class _Lime(_Cut, LimeOptions, total=False):
    """The options of `TextExplainer.lime`."""


class _Anchor(_Cut, AnchorOptions, total=False):
    """The options of `TextExplainer.anchor`."""

    corpus: Iterable[str] | None


Replace = Mapping[str, str | Iterable[str]] | Iterable[str] | None


class _Answers(_Cut, AnswerOptions, total=False):
    """The options of `TextExplainer.counterfactuals` and `TextExplainer.adversarial`."""

    replace: Replace


class TextExplainer:
    """See through a model of texts.

    Parameters
    ----------
    f
        A function that maps a list of texts to numbers, ``(n,)`` or ``(n, outputs)``, or a fitted pipeline whose
        ``predict_proba`` or ``predict`` takes texts.
    output
        Class label(s) to explain; default every class, and of two classes the second.
    link
        ``"logit"`` explains log-odds instead of probabilities.
    class_names
        Names of the classes in the order of the columns that ``f`` returns, where ``f`` does not know them.
    tokenizer
        What a word is: by default a rule for every script (see `pellucid.parts.tokens`); a function that returns
        tokens or spans ``(start, end)`` of a text; or a regular expression of one token. What is in no token stays in
        the text always.
    mask
        ``"remove"``: absent words are taken out, with their white space. Any other text stands in their place, such
        as ``"[MASK]"`` or ``"UNK"``.
    batch
        Texts per call of the model.
    random_state, n_jobs, progress, checks
        As for `Explainer`.

    Examples
    --------
    >>> from pellucid.parts.text_explainer import TextExplainer
    >>> def shouts(texts):
    ...     return [text.count("!") for text in texts]
    >>> found = TextExplainer(shouts).shap("Buy now! Cheap!!")
    >>> found.feature_names, found.values
    (('Buy', 'now!', 'Cheap!!'), array([[0., 1., 2.]]))
    """

    def __init__(
        self,
        f: Any,
        *,
        output: Any = None,
        link: Link = "identity",
        class_names: Sequence[Any] | None = None,
        tokenizer: Tokenizer | str | None = None,
        mask: str = REMOVE,
        batch: int = 1024,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Progress = None,
        checks: bool = True,
    ) -> None:
        if not isinstance(mask, str):
            raise InputError(
                f"mask must be a text ('remove', or what stands in place of an absent word), got {mask!r}."
            )
        if tokenizer is not None and not isinstance(tokenizer, str) and not callable(tokenizer):
            raise InputError(
                f"tokenizer={tokenizer!r}: give a function that returns tokens or spans, or a regular expression."
            )
        self._models = Models.of(f, output, link, class_names)
        self._tokenizer, self._mask = tokenizer, mask
        self._batch = whole("batch", batch)
        self._progress = reporting(progress)
        self._run = partial(
            Run,
            n_jobs=workers(n_jobs),
            progress=self._progress,
            what="calling the model on texts",
            seed=seed(random_state),
            checks=flag("checks", checks),
        )

    def __repr__(self) -> str:
        how = "removed" if self._mask == REMOVE else f"replaced by {self._mask!r}"
        return f"{self._models.introduction('TextExplainer')}\n  absent    words are {how}"

    # A text is also an iterable of texts; the first signature that fits counts.
    @overload
    def shap(self, text: str, **options: Unpack[_Shap]) -> TextAttribution: ...  # type: ignore[overload-overlap]
    @overload
    def shap(self, text: Iterable[str], **options: Unpack[_Shap]) -> list[TextAttribution]: ...
    def shap(
        self,
        text: str | Iterable[str],
        *,
        by: By = "auto",
        most: int = 60,
        method: Estimator = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        interactions: bool | Index = False,
    ) -> TextAttribution | list[TextAttribution]:
        """Contributions of the words to the prediction of a text (SHAP): Shapley values of the game in which words
        are absent.

        A list of texts gives a list of results. ``by`` says what a player is: a "word", a "sentence" or a "character";
        "auto": words, but in a text of more than ``most`` words phrases of neighbouring words, at most so many.
        ``method``, ``budget``, ``tolerance`` and ``interactions`` are those of `Explainer.shap`; a budget counts texts.

        It misleads where the model was never shown such texts as are left when words are gone, and where words only
        work together; the result's `caveats` say whether they do.
        """
        effort = Effort(method, budget, tolerance, interactions)

        def one(games: TextGames) -> TextAttribution:
            return part_shap(TextAttribution, games, self._models.explained, effort=effort, run=self._run())

        return self._each(text, by, most, one)

    @overload
    def lime(self, text: str, **options: Unpack[_Lime]) -> LocalTextAttribution: ...  # type: ignore[overload-overlap]
    @overload
    def lime(self, text: Iterable[str], **options: Unpack[_Lime]) -> list[LocalTextAttribution]: ...
    def lime(
        self,
        text: str | Iterable[str],
        *,
        features: int = 6,
        samples: Any = 1000,
        sampler: Draw = "count",
        kernel: Any = "share",
        distance: PartDistance = "cosine",
        width: Any = "default",
        model: Model = "linear",
        select: Select = "auto",
        tolerance: float | None = None,
        by: By = "auto",
        most: int = 60,
    ) -> LocalTextAttribution | list[LocalTextAttribution]:
        """A few words and their weights: a local surrogate that imitates the model on variants of a text (LIME).

        At most ``features`` words get a weight. ``samples`` variants lack some words: as many variants lack few as lack
        many (``sampler="count"``), or each word is gone in half of them ("coin"); your own are rows of ones (there) and
        zeros. A variant counts by the share of words that are there (``kernel="share"``), by exp(-D^2 / width^2)
        ("exponential", with ``distance`` "cosine" or "euclidean"), or by a function of distance and width; ``width``
        may be a number or "auto". ``model`` ("linear", "ridge", "lasso", "logistic", "tree"), ``select`` and
        ``tolerance`` are those of `Explainer.lime`, ``by`` and ``most`` those of `shap`.

        The weights start from the local model's answer without any word and lead to its answer for the text. It
        misleads where words work only together, where another neighbourhood gives other weights, and where the model
        was never shown such texts; the result's `fidelity`, `width_search` and `caveats` say so.

        >>> from pellucid.parts.text_explainer import TextExplainer
        >>> def shouts(texts):
        ...     return [text.count("!") for text in texts]
        >>> found = TextExplainer(shouts).lime("Buy it now! Cheap!!", features=2)
        >>> found.selected, found.values.round(6)
        ((('Cheap!!', 'now!'),), array([[0., 0., 1., 2.]]))
        """
        effort = LimeEffort(features, samples, sampler, kernel, distance, width, model, select, tolerance)

        def one(games: TextGames) -> LocalTextAttribution:
            return part_lime(LocalTextAttribution, games, self._models.explained, effort=effort, run=self._run())

        return self._each(text, by, most, one)

    @overload
    def anchor(self, text: str, **options: Unpack[_Anchor]) -> TextRule: ...  # type: ignore[overload-overlap]
    @overload
    def anchor(self, text: Iterable[str], **options: Unpack[_Anchor]) -> list[TextRule]: ...
    def anchor(
        self,
        text: str | Iterable[str],
        *,
        precision: float = 0.95,
        delta: float = 0.05,
        epsilon: float = 0.05,
        corpus: Iterable[str] | None = None,
        perturb: Perturb = "absent",
        beams: int = 4,
        batch: int = 32,
        max_conditions: int | None = None,
        budget: int | None = None,
        empty_evaluations: int = 200,
        suboptimal: bool = True,
        within: Any = None,
        by: By = "auto",
        most: int = 60,
    ) -> TextRule | list[TextRule]:
        """The words that fix the prediction of a text: with them there it stays, whichever others are gone (an anchor).

        At least ``precision`` of the perturbed texts with these words get the same prediction, with probability 1 -
        ``delta``. Each other word is gone in half of the perturbed texts, or with ``perturb="corpus"`` replaced by a
        random word of the texts in ``corpus``. With a corpus the coverage is the share of its texts that have all words
        of the rule; without, the share of perturbed texts that keep them. The same prediction is the same class, or a
        number within ``within`` of it (an interval or a half width; half a standard deviation of the perturbed
        predictions unless told).
        ``beams``, ``batch``, ``max_conditions``, ``budget`` (in texts), ``empty_evaluations``, ``suboptimal`` and
        ``epsilon`` are those of `Explainer.anchor`, ``by`` and ``most`` those of `shap`.

        It misleads where nearly all perturbed texts get the prediction anyway, and where the model was never shown such
        texts; the result's `caveats` say so.

        >>> from pellucid.parts.text_explainer import TextExplainer
        >>> def spam(texts):
        ...     return [float("free" in text and "click" in text) for text in texts]
        >>> rule = TextExplainer(spam).anchor("click here for a free phone")
        >>> rule.words, rule.coverage
        (('click', 'free'), 0.25)
        """
        effort = AnchorEffort(
            precision,
            delta,
            epsilon,
            beams,
            batch,
            perturb,
            max_conditions,
            budget,
            empty_evaluations,
            suboptimal,
            within,
        )
        others = None if corpus is None else _several("corpus", corpus)

        def one(games: TextGames) -> TextRule:
            drawn = [self.parts(each, by=by, most=most).tokens for each in others or ()] if perturb == "corpus" else []
            known = Corpus(others, [token for tokens in drawn for token in tokens])
            return part_anchor(TextRule, games, self._models, corpus=known, effort=effort, run=self._run())

        return self._each(text, by, most, one)

    def importance(
        self,
        texts: Iterable[str],
        *,
        budget: int | None = None,
        sample: int | None = 300,
        min_texts: int | None = None,
        fold: bool = True,
        most: int = 300,
    ) -> WordImportance:
        """Global word importance: which words the model relies on, over many texts.

        The mean absolute contribution (Shapley value) of each word over the texts that contain it, and the mean
        contribution with its sign, both with 95% intervals over texts. At most ``sample`` texts are explained, drawn
        at random (None: all), each with ``budget`` model rows (by default 20 for each word, but at least 256); texts
        of more than ``most`` words are left out. Words in fewer than ``min_texts`` texts are listed, but not ranked
        (by default 5; of fewer than 50 texts a tenth, but at least 2). ``fold`` takes "Free!" and "free" as one word;
        False takes tokens as they stand. An interruption (Ctrl-C) keeps what is known.

        It misleads for rare words, for words whose sign depends on the context, and where the budget is small: noise
        looks like importance. The result's `caveats` say whether it does.

        >>> from pellucid.parts.text_explainer import TextExplainer
        >>> def spam(texts):
        ...     return [2.0 * ("free" in text.lower()) - ("song" in text) for text in texts]
        >>> found = TextExplainer(spam).importance(["Free phone!", "a free song", "nice song", "free, free!"])
        >>> found.top(2), found.mean[found.ranking[:2]]
        (['free', 'song'], array([ 2., -1.]))
        """
        return word_importance(
            _several("texts", texts),
            partial(self.parts, by="word"),
            self._models.explained,
            effort=WordEffort(budget, sample, most, min_texts, fold),
            batch=self._batch,
            run=self._run(progress=False),
            progress=Reporter(self._progress, "explaining texts"),
        )

    def prototypes(
        self,
        texts: Iterable[str],
        n: Any = "auto",
        *,
        y: Any = None,
        criticisms: int | str = 0,
        method: Method = "mmd",
        by: ByGroup = None,
        features: Callable[[list[str]], Any] | None = None,
        kernel: Literal["rbf", "laplace"] = "rbf",
        width: float | str = "auto",
        sample: int | str | None = "auto",
    ) -> Prototypes:
        """Typical texts (prototypes), and texts that these represent badly (criticisms), with what the model says of
        both.

        Texts are compared by the weights of their words (tf-idf of the 1,000 most frequent), or by ``features``, a
        function of a list of texts that returns one row of numbers for each, such as an embedding. ``y`` are the true
        classes or numbers. All other options are those of `Explainer.prototypes`.

        Texts similar in words may differ in meaning. The result's `caveats` measure how far it depends on the number,
        the kernel and its width.

        >>> from pellucid.parts.text_explainer import TextExplainer
        >>> texts = ["free phone", "free phone now", "nice song", "a nice song", "nice song indeed"]
        >>> found = TextExplainer(lambda texts: ["free" in t for t in texts]).prototypes(texts, 2)
        >>> sorted(found.cells[0].tolist())
        ['free phone', 'nice song']
        """
        wholes = texts_of(_several("texts", texts), features, self._folded)
        options = {"n": n, "criticisms": criticisms, "method": method, "by": by, "kernel": kernel, "width": width}
        return part_prototypes(wholes, self._models, y, self._run, {**options, "sample": sample})

    def neighbors(
        self,
        text: str | int,
        texts: Iterable[str],
        n: int = 5,
        *,
        y: Any = None,
        features: Callable[[list[str]], Any] | None = None,
    ) -> Neighbors:
        """Of some texts the ``n`` most like one, what the model says of them, and the nearest that it says otherwise
        of.

        ``text`` is a text, or the position of one in ``texts``. What is similar, ``features`` and ``y`` are those of
        `prototypes`. It misleads where all texts are about as far; the result's `caveats` say so.

        >>> from pellucid.parts.text_explainer import TextExplainer
        >>> ex = TextExplainer(lambda texts: ["free" in t for t in texts])
        >>> ex.neighbors("a free phone", ["free phone", "nice song", "phone song"], n=1).neighbors.tolist()
        ['0']
        """
        others = _several("texts", texts)
        every = [*others, text] if isinstance(text, str) else others
        row = len(others) if isinstance(text, str) else whole("text", text, least=0, most=len(others) - 1)
        return part_neighbors(texts_of(every, features, self._folded), self._models, y, row, len(others), n, self._run)

    def _folded(self, text: str) -> tuple[str, ...]:
        """The words of a text in one case, without the punctuation around them."""
        return self.parts(text, by="word").comparable(())

    def report(self, path: str | Path, texts: Iterable[str], y: Any = None, *, title: str | None = None) -> Path:
        """One HTML file to read: how good the model is (with ``y``), which words it relies on, and single texts.

        A typical text, the extreme ones, the least certain and, with ``y``, the most mistaken ones are shown with their
        words coloured by contribution (SHAP), beside a local surrogate (LIME) and an anchor. What the explanations
        cannot be trusted for stands once, at the top. A slow model is evaluated at fewer texts.
        """
        from pellucid.report.texts import text_report

        return text_report(self, self._models, path, _several("texts", texts), y, title)

    @overload
    def counterfactuals(  # type: ignore[overload-overlap]
        self, text: str, **options: Unpack[_Answers]
    ) -> TextCounterfactuals: ...
    @overload
    def counterfactuals(self, text: Iterable[str], **options: Unpack[_Answers]) -> list[TextCounterfactuals]: ...
    def counterfactuals(
        self,
        text: str | Iterable[str],
        target: Any = None,
        *,
        n: int = 5,
        replace: Replace = None,
        max_changes: int | None = None,
        best_effort: bool = False,
        budget: int | None = None,
        by: By = "auto",
        most: int = 60,
    ) -> TextCounterfactuals | list[TextCounterfactuals]:
        """The fewest words without which the model says something else (counterfactual explanations).

        ``target`` is a class, "not" a class, a number to be reached, an interval ``(0.5, 1)`` or a comparison such as
        ">= 0.1"; by default any other class. Words are taken out (or replaced by the explainer's ``mask``), or with
        ``replace`` give way to others: to those of ``{"bad": ["good", "fine"]}``, or to the most frequent words of some
        texts; with ``""`` among them (``{"bad": ["good", ""]}``, ``[*texts, ""]``) words are replaced or taken out. Up
        to ``n`` answers are given, none a part of another, the shortest first, with at most ``max_changes`` words each.
        All sets of one word, two words and so on are tried as long as they fit into ``budget`` texts (2,000 unless
        told): `proven` says that no fewer words do. Every answer is asked of the model as it is given out;
        ``best_effort=True`` gives the nearest miss where there is none. ``by`` and ``most`` are those of `shap`.

        It misleads where many sets would do, where the prediction is only just over the edge, and where hardly any word
        is left; the result's `caveats` say so.

        >>> from pellucid.parts.text_explainer import TextExplainer
        >>> def spam(texts):
        ...     return [float("free" in text or "click" in text) for text in texts]
        >>> found = TextExplainer(spam, class_names=["ham", "spam"]).counterfactuals("click here for a free phone")
        >>> found.texts, found.proven
        (('here for a phone',), True)
        """
        effort = AnswerEffort("counterfactuals", target, n, max_changes, best_effort, budget)
        return self._answers(text, effort, replace, by, most)

    @overload
    def adversarial(  # type: ignore[overload-overlap]
        self, text: str, **options: Unpack[_Answers]
    ) -> TextCounterfactuals: ...
    @overload
    def adversarial(self, text: Iterable[str], **options: Unpack[_Answers]) -> list[TextCounterfactuals]: ...
    def adversarial(
        self,
        text: str | Iterable[str],
        target: Any = None,
        *,
        n: int = 1,
        replace: Replace = None,
        max_changes: int | None = None,
        best_effort: bool = False,
        budget: int | None = None,
        by: By = "auto",
        most: int = 60,
    ) -> TextCounterfactuals | list[TextCounterfactuals]:
        """How little of a text has to change to fool the model: an adversarial example.

        The search and the options are those of `counterfactuals`. With ``replace={"good": ["g00d", "goood"]}`` words
        give way to spellings that people read as the same; the meaning of what is given is yours to judge.
        ``by="character"`` changes single letters.

        >>> from pellucid.parts.text_explainer import TextExplainer
        >>> def spam(texts):
        ...     return [float("free" in text) for text in texts]
        >>> ex = TextExplainer(spam, class_names=["ham", "spam"])
        >>> ex.adversarial("A free phone!", replace={"free": "fr3e"}).texts
        ('A fr3e phone!',)
        """
        effort = AnswerEffort("adversarial", target, n, max_changes, best_effort, budget)
        return self._answers(text, effort, replace, by, most)

    def _answers(
        self, text: Any, effort: AnswerEffort, replace: Replace, by: By, most: int
    ) -> TextCounterfactuals | list[TextCounterfactuals]:
        replace = replace if replace is None or isinstance(replace, str | Mapping) else _several("replace", replace)

        def tokens(text: str) -> tuple[str, ...]:
            return self.parts(text, by=by, most=most).tokens

        def one(games: TextGames) -> TextCounterfactuals:
            instead = words_instead(replace, games.parts, tokens, effort.rows // 2)
            return part_counterfactuals(
                TextCounterfactuals, games, self._models.explained, instead=instead, effort=effort, run=self._run()
            )

        return self._each(text, by, most, one)

    def _each(self, text: Any, by: By, most: int, one: Callable[[TextGames], T]) -> T | list[T]:
        """One result for one text, a list of them for several."""

        def explained(text: str) -> T:
            return one(TextGames(self.parts(text, by=by, most=most), self._batch))

        if isinstance(text, str):
            return explained(text)
        return [explained(_checked(each, i)) for i, each in enumerate(_listed(text))]

    def parts(self, text: str, *, by: By = "auto", most: int = 60) -> TextParts:
        """What a text is made of: the words, sentences, characters or phrases that act as players."""
        by, most = one_of("by", by, _BY), whole("most", most)
        found = words(text) if self._tokenizer is None else own_tokens(text, self._tokenizer)
        spans, unit = found, "word" if self._tokenizer is None else "token"
        if by == "sentence":
            spans, unit = sentences(text), by
        elif by == "character":
            spans, unit = characters(text), by
        elif by == "auto" and len(found) > most:
            spans, unit = phrases(text, found, most), "phrase"
        return TextParts(text, np.array(spans, dtype=np.intp), unit, self._mask, len(found))


def _listed(texts: Any) -> list[Any]:
    if isinstance(texts, bytes | dict) or not isinstance(texts, Iterable):
        raise InputError(f"text is {kind_of(texts)}; give a text or a list of texts.")
    return list(texts)


def _several(name: str, texts: Any) -> list[str]:
    found = [_checked(each, i) for i, each in enumerate(_listed([texts] if isinstance(texts, str) else texts))]
    if not found:
        raise InputError(f"{name}= has no texts; give some{', or None' if name in ('corpus', 'replace') else ''}.")
    return found


def _checked(text: Any, i: int) -> str:
    if not isinstance(text, str):
        raise InputError(f"text {i} must be a text, got {text!r}.")
    return str(text)
