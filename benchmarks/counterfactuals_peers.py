"""How the contestants of counterfactuals.py are asked: each function makes one ready and returns the call that is timed.

The call takes the number of a question and gives its answers as a table, which may be empty. None: no such questions are
answered. The model is given to the peers (and to moc) as a function that is as quick as we can make it.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from counterfactuals_cases import Case

Ask = Callable[[int], pd.DataFrame]
N = 5  # answers asked for, where several can be had; the nearest counts
LIMIT = 60  # CPU seconds for a row


def ours(case: Case, n: int = N, **options: Any) -> Ask:
    """The model as users have it, which is read; the answers as they are emitted."""
    from pellucid import Explainer

    explainer = Explainer(case.pipeline, case.table.train, progress=False)

    def ask(k: int) -> pd.DataFrame:
        low, high = case.questions[1][k]
        found = explainer.counterfactuals(case.row(k), 1 if case.classes else (low, high), n=n, **options)
        case.asked += found.cost.model_rows + found.cost.check_rows
        ask.proven = found.proven
        return found.rows()

    return ask


def ours_asked(case: Case, **options: Any) -> Ask:
    """A function of the table that nobody can read."""
    from pellucid import Explainer

    explainer = Explainer(lambda frame: case.score(case.table.codes(frame)), case.table.train, progress=False)

    def ask(k: int) -> pd.DataFrame:
        low, high = case.questions[1][k]
        target = "> 0.5" if case.classes else (low, high)
        return explainer.counterfactuals(case.row(k), target, n=N, **options).rows()

    return ask


class Sklearn:
    """A model with the methods that dice-ml calls."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        score = self._score(frame)
        return np.column_stack([1 - score, score])

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        score = self._score(frame)
        return (score > 0.5).astype(int) if self.case.classes else score

    def _score(self, frame: pd.DataFrame) -> np.ndarray:
        return self.case.score(self.case.table.codes(frame))


def dice(case: Case, method: str) -> Ask:
    import dice_ml

    table = case.table
    rows = table.train.assign(outcome=table.y[table.parts[0]])
    data = dice_ml.Data(dataframe=rows, continuous_features=table.numbers, outcome_name="outcome")
    kind = "classifier" if case.classes else "regressor"
    explainer = dice_ml.Dice(data, dice_ml.Model(model=Sklearn(case), backend="sklearn", model_type=kind), method)
    seeded = {"random_seed": 0} if method == "random" else {}

    def ask(k: int) -> pd.DataFrame:
        np.random.seed(k)  # noqa: NPY002  the peer draws from the global state
        low, high = case.questions[1][k]
        wanted = {"desired_class": 1} if case.classes else {"desired_range": [low, high]}
        found = explainer.generate_counterfactuals(case.row(k), total_CFs=N, **wanted, **seeded)
        answers = found.cf_examples_list[0].final_cfs_df
        return table.X.iloc[:0] if answers is None else answers[table.columns]

    return ask


def nice(case: Case, reward: str) -> Ask | None:
    from nice import NICE

    if not case.classes:
        return None
    table = case.table
    categories = [j for j, name in enumerate(table.columns) if name not in table.steps]

    def predict(codes: np.ndarray) -> np.ndarray:
        score = case.score(codes)
        return np.column_stack([1 - score, score])

    y = table.y[table.parts[0]]
    explainer = NICE(predict, table.codes(table.train), categories, y_train=y, optimization=reward)
    return lambda k: table.frame(explainer.explain(table.codes(case.row(k))))


def cfnow(case: Case, strategy: str) -> Ask | None:
    from cfnow import find_tabular

    if not case.classes:
        return None
    table = case.table
    names = _one_hot_names(case)

    def predict(rows: Any) -> np.ndarray:
        return case.score_encoded(np.asarray(rows, dtype=np.float64))[:, None]

    def ask(k: int) -> pd.DataFrame:
        np.random.seed(k)  # noqa: NPY002  the peer draws from the global state
        row = pd.Series(table.encoded(table.codes(case.row(k)))[0], index=list(names))
        found = find_tabular(
            row, predict, feat_types=names, has_ohe=True, cf_strategy=strategy, limit_seconds=LIMIT // 2
        )
        return _decoded(case, np.array(found.cfs, dtype=np.float64).reshape(-1, len(names)))

    return ask


def _one_hot_names(case: Case) -> dict[str, str]:
    """Columns and their kinds: the columns of one category share what is before the underscore."""
    names = {}
    for j, name in enumerate(case.table.columns):
        if name in case.table.steps:
            names[f"f{j}"] = "num"
        else:
            names |= {f"f{j}_{i}": "cat" for i in range(len(case.table.levels[name]))}
    return names


def _decoded(case: Case, encoded: np.ndarray) -> pd.DataFrame:
    """The rows of a table of zeros and ones; no level where there is not exactly one one."""
    cells, at = {}, 0
    for name in case.table.columns:
        if name in case.table.steps:
            cells[name] = encoded[:, at]
            at += 1
        else:
            levels = case.table.levels[name]
            block = encoded[:, at : at + len(levels)] > 0.5
            cells[name] = np.array([*levels, "none"], dtype=object)[
                np.where(block.sum(axis=1) == 1, block.argmax(axis=1), len(levels))
            ]
            at += len(levels)
    return pd.DataFrame(cells)


def cfproto(case: Case) -> Ask | None:
    """alibi's prototypes by k-d trees, with the settings of its own example of mixed data; numbers run from -1 to 1.

    Gradients are differences of predictions: of trees they are zero but for wide steps (``eps``).
    """
    import tensorflow as tf

    if not case.classes:
        return None
    tf.compat.v1.disable_v2_behavior()
    tf.get_logger().setLevel("ERROR")
    from alibi.explainers import CounterfactualProto

    table = case.table
    order = [*table.numbers, *table.levels]
    places = [table.columns.index(name) for name in order]
    low, width = (np.array([f(*table.ends[name]) for name in table.numbers]) for f in (min, lambda a, b: b - a))
    m = len(low)

    def scaled(codes: np.ndarray) -> np.ndarray:
        rows = codes[:, places].copy()
        rows[:, :m] = 2 * (rows[:, :m] - low) / width - 1
        return rows

    def codes_of(rows: np.ndarray) -> np.ndarray:
        codes = np.empty(rows.shape)
        codes[:, places[:m]] = (rows[:, :m] + 1) / 2 * width + low
        codes[:, places[m:]] = np.round(rows[:, m:])
        return codes

    def predict(rows: np.ndarray) -> np.ndarray:
        score = case.score(codes_of(np.atleast_2d(rows)))
        return np.column_stack([1 - score, score])

    ends = [-np.ones(m), np.ones(m)]
    highest = [len(levels) - 1 for levels in table.levels.values()]
    explainer = CounterfactualProto(
        predict, (1, len(order)), use_kdtree=True, theta=10.0, beta=0.01, c_init=1.0, c_steps=5, max_iterations=500,
        eps=(0.01, 0.1),
        cat_vars={m + i: high + 1 for i, high in enumerate(highest)},
        feature_range=(np.r_[ends[0], np.zeros(len(highest))][None], np.r_[ends[1], highest][None]),
    )  # fmt: skip
    explainer.fit(scaled(table.codes(table.train)), d_type="abdm", disc_perc=[25, 50, 75])

    def ask(k: int) -> pd.DataFrame:
        found = explainer.explain(scaled(table.codes(case.row(k)))).cf
        return table.X.iloc[:0] if found is None else table.frame(codes_of(found["X"]))

    return ask


CONTESTANTS: dict[str, Callable[[Case], Ask | None]] = {
    "pellucid, exact": partial(ours, method="exact"),
    "pellucid, exact, n=1": partial(ours, n=1, method="exact"),
    "pellucid, moc": partial(ours_asked, method="moc"),
    "NICE, sparsity": partial(nice, reward="sparsity"),
    "NICE, proximity": partial(nice, reward="proximity"),
    "DiCE, random": partial(dice, method="random"),
    "DiCE, genetic": partial(dice, method="genetic"),
    "DiCE, kd-tree": partial(dice, method="kdtree"),
    "cfnow, greedy": partial(cfnow, strategy="greedy"),
    "cfnow, random": partial(cfnow, strategy="random"),
    "alibi, CFProto": cfproto,
}
OURS = tuple(name for name in CONTESTANTS if name.startswith("pellucid"))


@contextlib.contextmanager
def quiet():
    """Peers print as they work."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
