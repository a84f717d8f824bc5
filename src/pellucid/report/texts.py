"""The report of a model of texts: how good it is, which words it relies on, and why it predicts what it predicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import InputError
from pellucid.parts.attribution import TextAttribution
from pellucid.parts.importance import WordEffort
from pellucid.parts.model import Models, WholeModel
from pellucid.parts.word_importance import WordImportance
from pellucid.report.cards import Plain, card, section
from pellucid.report.page import check_path, write
from pellucid.report.singles import care_section, explain, single_section
from pellucid.report.whole_document import document
from pellucid.report.wholes import choose, look, model_section
from pellucid.report.work import Work
from pellucid.words import counted, number

if TYPE_CHECKING:
    from pellucid.parts.text_explainer import TextExplainer

_WORDS = 150  # texts of the word importance
_LOOKED = 500  # texts whose words are counted
_BARS = 15
_LONGEST = 3000  # letters of a text that are shown


def text_report(
    explainer: TextExplainer, models: Models, path: str | Path, texts: Sequence[str], y: Any, title: str | None
) -> Path:
    """Write what is worth knowing about a model of texts to one HTML file, and return its path."""
    target = check_path(path)
    return write(build_text_report(explainer, models, texts, y, title), target)


def build_text_report(
    explainer: TextExplainer, models: Models, texts: Sequence[str], y: Any = None, title: str | None = None
) -> Plain:
    """The content of the report as plain data."""
    work = Work(0, None)
    seen = look(models, texts, y, "text", _ask, work)
    score, scored = model_section(seen, work)
    words = _importance(explainer, texts, work)
    singles = explain(explainer, texts, seen, choose(seen), work)
    absence = singles[0].found.parts.absence() if singles else "No text has a word."
    care = care_section(seen, singles, absence, words.caveats if words else ())
    intro = [
        "Texts are numbered from 0. Contributions are Shapley values (SHAP) of the words: they start from the"
        " prediction for a text without any of its words and add up to the prediction. LIME is a local surrogate of at"
        " most six words; an anchor is a set of words that fixes the prediction."
    ]
    findings = [*scored, *(words.findings()[:1] if words else [])]
    sections = [care, score, _word_section(words, len(texts)), single_section(seen, singles, _passage, intro)]
    return document(title, seen, [_sizes(explainer, texts)], findings, sections, work)


def _ask(model: WholeModel, texts: list[Any]) -> FloatArray:
    return model.raw(texts, len(texts))


def _sizes(explainer: TextExplainer, texts: Sequence[str]) -> Plain:
    """How long the texts are."""
    return {"label": "Words per text", "value": f"{number(float(np.median(_lengths(explainer, texts))))} (median)"}


def _lengths(explainer: TextExplainer, texts: Sequence[str]) -> list[int]:
    """How many words some of the texts have."""
    return [len(explainer.parts(text, by="word").tokens) for text in texts[:: max(1, len(texts) // _LOOKED)]]


# -- words -------------------------------------------------------------------------------------------


def _importance(explainer: TextExplainer, texts: Sequence[str], work: Work) -> WordImportance | None:
    """Word importance over a sample of the texts; of a slow model over fewer, or none."""
    sample = min(_WORDS, len(texts))
    price = np.mean([WordEffort().rows(n) for n in _lengths(explainer, texts)])
    wanted = max(int(price * sample), 1)
    sample = sample * work.affordable(wanted) // wanted
    if sample < 2:
        return None
    try:
        return work.keep(explainer.importance(texts, sample=sample))
    except InputError:  # no text has words, or all are too long
        return None


def _word_section(found: WordImportance | None, n: int) -> Plain:
    title = "Word importance"
    if found is None or not found.ranked.any():
        why = "there is one text" if n == 1 else "the model is slow, texts are too long, or no word is in several texts"
        return section("words", title, [f"Not shown: {why}. importance(texts, sample=...) has it."])
    intro = [
        f"Which words the model relies on, over {counted(found.explained, 'text')}"
        f"{' drawn at random' if found.explained < n else ''}: the mean contribution of a word to the"
        " predictions of the"
        " texts that contain it."
    ]
    made = card(
        "word-importance",
        title,
        found,
        sentences=found.findings()[:-1],
        more=found.findings(),
        max_display=_BARS,
        full=len(found.output_names) > 1,
    )
    return section("words", title, intro, cards=[{**made, "caveats": [], "chips": _chips(found)}])


def _chips(found: WordImportance) -> list[Plain]:
    return [{"label": item.code.replace("-", " "), "id": "care"} for item in found.caveats]


# -- one text ----------------------------------------------------------------------------------------


def _passage(one: TextAttribution) -> dict[str, Any]:
    """The text with its words coloured, and a waterfall."""
    from pellucid.parts.chart_style import painted

    values = one.values[0]
    colours = painted(values, float(np.abs(values).max(initial=0.0)) or 1.0)
    source, at, pieces = one.parts.source, 0, []
    for j, (start, end) in enumerate(one.parts.spans.tolist()):
        if end > _LONGEST:
            break
        pieces.append({"text": source[at:start], "colour": "", "label": ""})
        shade = "#{:02x}{:02x}{:02x}".format(*colours[j].tolist())
        pieces.append({"text": source[start:end], "colour": shade, "label": number(float(values[j]), sign=True)})
        at = end
    rest = len(source) - at
    tail = source[at:] if rest < _LONGEST // 10 else f" … ({rest:,} more letters)"
    pieces.append({"text": tail, "colour": "", "label": ""})
    what = one.output_names[0]
    noun = "prediction" if one.scale == "response" else one.scale
    moved = noun if what in ("prediction", "output") else f"{noun} of {what}"
    note = f"orange raises the {moved}, blue lowers it"
    return {"options": {"kind": "waterfall", "max_display": 8}, "adds": {"passage": pieces, "passage_note": note}}
