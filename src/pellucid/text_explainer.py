"""TextExplainer: binds a model of texts to the methods. It has no logic of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np

from pellucid.data.tokens import Span, Tokenizer, characters, own_tokens, phrases, sentences, words
from pellucid.errors import InputError, nearest
from pellucid.explanations.text_attribution import TextAttribution
from pellucid.games.text import REMOVE
from pellucid.methods.attribution.estimators import Estimator
from pellucid.methods.attribution.masked_shap import Effort, text_shap
from pellucid.models.items import ItemModel
from pellucid.models.predictor import Link
from pellucid.runner import Run
from pellucid.runner.progress import Progress

By = Literal["auto", "word", "sentence", "character"]
_BY = ("auto", "word", "sentence", "character")


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
    classes
        Names of the classes in the order of the columns that ``f`` returns, where ``f`` does not know them.
    tokenizer
        What a word is: by default a rule for every script (see `pellucid.data.tokens`); a function that returns
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
    >>> from pellucid.text_explainer import TextExplainer
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
        classes: Sequence[Any] | None = None,
        tokenizer: Tokenizer | str | None = None,
        mask: str = REMOVE,
        batch: int = 1024,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Progress = None,
        checks: bool = True,
    ) -> None:
        if not isinstance(mask, str):
            raise InputError(f"mask={mask!r} is no text; give 'remove' or the text that stands for a word.")
        if tokenizer is not None and not isinstance(tokenizer, str) and not callable(tokenizer):
            raise InputError(
                f"tokenizer={tokenizer!r}: give a function that returns tokens or spans, or a regular expression."
            )
        self._model = ItemModel(f, output=output, link=link, classes=classes)
        self._tokenizer, self._mask = tokenizer, mask
        self._batch = whole("batch", batch)
        self._random_state = seed(random_state)
        self._n_jobs, self._progress, self._checks = n_jobs, progress, checks

    # A text is also an iterable of texts; the first signature that fits counts.
    @overload
    def shap(  # type: ignore[overload-overlap]
        self,
        text: str,
        *,
        by: By = ...,
        most: int = ...,
        method: Estimator = ...,
        budget: int | None = ...,
        tolerance: float | None = ...,
        interactions: bool = ...,
    ) -> TextAttribution: ...
    @overload
    def shap(
        self,
        text: Iterable[str],
        *,
        by: By = ...,
        most: int = ...,
        method: Estimator = ...,
        budget: int | None = ...,
        tolerance: float | None = ...,
        interactions: bool = ...,
    ) -> list[TextAttribution]: ...
    def shap(
        self,
        text: str | Iterable[str],
        *,
        by: By = "auto",
        most: int = 60,
        method: Estimator = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        interactions: bool = False,
    ) -> TextAttribution | list[TextAttribution]:
        """Contributions of the words to the prediction of a text: Shapley values of the game in which words are absent.

        A list of texts gives a list of results. ``by`` says what a player is: a "word", a "sentence" or a "character";
        "auto": words, but in a text of more than ``most`` words phrases of neighbouring words, at most so many.
        ``method``, ``budget``, ``tolerance`` and ``interactions`` are those of `Explainer.shap`; a budget counts texts.

        It misleads where the model was never shown such texts as are left when words are gone, and where words only
        work together; the result's `caveats` say whether they do.
        """
        effort = Effort(method, budget, tolerance, interactions)
        if by not in _BY:
            raise InputError(f"by={by!r} is not known{nearest(str(by), _BY)}")
        whole("most", most)
        if isinstance(text, str):
            return self._shap(text, by, most, effort)
        return [self._shap(_checked(each, i), by, most, effort) for i, each in enumerate(_listed(text))]

    def _shap(self, text: str, by: By, most: int, effort: Effort) -> TextAttribution:
        pieces, unit, n = self.pieces(text, by=by, most=most)
        run = Run(
            n_jobs=self._n_jobs, progress=self._progress, what="asking for texts",
            seed=self._random_state, checks=self._checks,
        )  # fmt: skip
        return text_shap(
            self._model, text, pieces, unit=unit, mask=self._mask, words=n, effort=effort, batch=self._batch, run=run
        )  # fmt: skip

    def pieces(self, text: str, *, by: By = "auto", most: int = 60) -> tuple[list[Span], str, int]:
        """The spans that act as players, what one is called, and how many words the text has."""
        found = words(text) if self._tokenizer is None else own_tokens(text, self._tokenizer)
        if by == "sentence":
            return sentences(text), by, len(found)
        if by == "character":
            return characters(text), by, len(found)
        if by == "auto" and len(found) > most:
            return phrases(text, found, most), "phrase", len(found)
        return found, "word" if self._tokenizer is None else "token", len(found)


def _listed(texts: Any) -> list[Any]:
    if isinstance(texts, bytes | dict) or not isinstance(texts, Iterable):
        raise InputError(f"text is a {type(texts).__name__}; give a text or a list of texts.")
    return list(texts)


def _checked(text: Any, i: int) -> str:
    if not isinstance(text, str):
        raise InputError(f"text {i} is {text!r}, which is no text; give texts only.")
    return str(text)


def whole(name: str, value: Any) -> int:
    """A whole number, at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name}={value!r}: give a whole number, at least 1.")
    return int(value)


def seed(random_state: Any) -> int:
    """A seed."""
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise InputError(f"random_state is {random_state!r}; give a whole number.")
    return int(random_state)
