"""The chapter on what would change predictions: which rows, which targets, and what it may cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from pellucid import Explainer
from pellucid.report.changes import change_sections, quartiles, target_of
from pellucid.report.rows import predicted
from pellucid.report.why import Why, find_why
from pellucid.report.work import Work


def made(explainer: Explainer, asked: list[int], *, brief: bool, work: Work | None = None) -> list[dict[str, Any]]:
    work = work or Work(3, None)
    return change_sections(explainer, find_why(explainer, asked, work), asked, work, brief=brief)


def test_numbers_go_to_the_middle_of_the_predictions(linear: Any) -> None:
    explainer = linear([3.0, 2.0, 1.0])
    work = Work(1, None)
    middle = quartiles(explainer, work)
    said = predicted(explainer, np.arange(80), work.run)
    np.testing.assert_allclose(middle[:, 0], np.quantile(said.explained[:, 0], [0.25, 0.5, 0.75]))
    for k, value in enumerate(said.explained[:, 0]):
        target, goal = target_of(explainer, said, k, middle)
        if value < middle[0, 0]:
            assert target == f">= {float(f'{middle[1, 0]:.4g}'):.10g}"
        elif value > middle[2, 0]:
            assert target == f"<= {float(f'{middle[1, 0]:.4g}'):.10g}"
        else:
            assert target == f">= {float(f'{middle[2, 0]:.4g}'):.10g}"
            assert "upper quartile" in goal


def test_the_short_chapter_has_two_rows_side_by_side_and_the_full_one_all(linear: Any) -> None:
    explainer = linear([3.0, 2.0, 1.0])
    (short,) = made(explainer, [], brief=True)
    (full,) = made(explainer, [], brief=False)
    assert (len(short["cards"]), short["columns"]) == (2, 2)
    assert all(card["half"] for card in short["cards"])
    assert len(full["cards"]) > 2
    assert all(len(card["sentences"]) == 1 for card in short["cards"])
    assert short["cards"][0]["title"].endswith(": typical")


def test_rows_that_are_asked_for_come_alone_in_the_short_report_and_first_in_the_full_one(linear: Any) -> None:
    explainer = linear([3.0, 2.0, 1.0])
    (short,) = made(explainer, [7], brief=True)
    assert [card["id"] for card in short["cards"]] == ["changes-7"]
    assert short["cards"][0]["title"].startswith("Row 7: as requested")
    (full,) = made(explainer, [7], brief=False)
    assert full["cards"][0]["id"] == "changes-7"


def test_classes_are_taken_to_another_class_and_the_answer_is_proven() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["a", "b"])
    y = np.where(X["a"] > 0, "yes", "no")
    explainer = Explainer(LogisticRegression().fit(X, y), X, y, progress=False)
    work = Work(3, None)
    (short,) = made(explainer, [0], brief=True, work=work)
    found = next(result for result in work.results if type(result).__name__ == "Counterfactuals")
    assert found.proven
    now = y[0]
    assert found.valid.all()
    assert (found.predictions[:, 0] > 0.5).all() == (now == "no")
    assert "Wanted: another class" in short["cards"][0]["subtitle"]
    assert "no opposite" not in short["intro"][0]


def test_a_number_of_several_outputs_is_that_of_the_first() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    explainer = Explainer(lambda X: np.asarray(X)[:, [0, 1]] * 2, X, progress=False, class_names=None)
    work = Work(1, None)
    seen = predicted(explainer, np.arange(3), work.run)
    target, _ = target_of(explainer, seen, 0, quartiles(explainer, work))
    assert list(target) == [explainer.predictor.output_names[0]]


def test_a_model_is_asked_for_a_bounded_number_of_rows(linear: Any) -> None:
    explainer, work = linear([3.0, 2.0, 1.0]), Work(3, None)
    why = find_why(explainer, [], work)
    before = work.cost()["model_rows"]
    change_sections(explainer, why, [], work, brief=True)
    assert work.cost()["model_rows"] - before <= 200 + 2 * (1_200 + 400)


def test_a_slow_model_is_not_searched_and_the_chapter_says_so(linear: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    explainer, work = linear([3.0, 2.0, 1.0]), Work(3, None)
    why = find_why(explainer, [], work)
    monkeypatch.setattr(Work, "seconds_per_row", property(lambda self: 1.0))
    (chapter,) = change_sections(explainer, why, [], work, brief=True)
    assert chapter["cards"] == []
    assert "too slow" in chapter["intro"][1]


def test_without_rows_there_is_no_chapter(linear: Any) -> None:
    assert change_sections(linear([1.0]), Why(None, None, "too dear"), [], Work(1, None), brief=True) == []
