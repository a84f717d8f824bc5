"""The examples of the page on texts and images run."""

from project.test_docs import run_examples


def test_the_page_on_texts_and_images(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_examples("docs/text_and_images.md")
    assert names["found"].values.shape == (1, 25)
    assert "probability of yes" in capsys.readouterr().out
    assert (tmp_path / "images.html").stat().st_size > 100_000
