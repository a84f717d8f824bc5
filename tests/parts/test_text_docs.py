"""The examples of the page on texts and images run."""

import pellucid
from pellucid.parts.image_explainer import ImageExplainer
from pellucid.parts.text_explainer import TextExplainer
from project.test_docs import run_examples


def test_the_page_on_texts_and_images(monkeypatch, capsys):
    monkeypatch.setattr(pellucid, "TextExplainer", TextExplainer, raising=False)
    monkeypatch.setattr(pellucid, "ImageExplainer", ImageExplainer, raising=False)
    names = run_examples("docs/text_and_images.md")
    assert names["found"].values.shape == (1, 25)
    assert "probability of yes" in capsys.readouterr().out
