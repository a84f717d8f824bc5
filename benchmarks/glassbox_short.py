"""One contestant of the part "short" of glassbox.py on the five folds of a table: prints accuracy, size and seconds as JSON.

Peers run in an environment of their own; nothing here needs pellucid but what is ours.

    python benchmarks/glassbox_short.py "pellucid RuleList" compas 8
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib.metadata import version
from typing import Any

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
)

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from glassbox_fold import DATA, FOLDS, cpu, is_text, table

COMPAS = ["age", "sex", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "c_charge_degree"]
SHARED = 1 / 100  # of the comments that a word stands in at least


def short_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features, and classes 0 and 1."""
    if name == "compas":
        rows = pd.read_csv(DATA / "compas.csv")
        return rows[COMPAS], rows["two_year_recid"].to_numpy(int)
    if name == "spam":
        from sklearn.feature_extraction.text import CountVectorizer

        rows = pd.read_csv(DATA / "youtube_spam.csv")
        words = CountVectorizer(binary=True, min_df=SHARED)
        has = words.fit_transform(rows["content"].fillna("")).toarray().astype(bool)
        return pd.DataFrame(has, columns=words.get_feature_names_out()), rows["spam"].to_numpy(int)
    X, y, _ = table(name)
    return X, y


def numbers(X: pd.DataFrame) -> pd.DataFrame:
    """A yes-no column per level, numbers as they are."""
    return pd.get_dummies(X, columns=[name for name in X if is_text(X[name])], dummy_na=False).fillna(-1).astype(float)


def yes_no(X: pd.DataFrame) -> pd.DataFrame:
    """Yes-no columns alone: numbers compared with their tenths."""
    plain, made = numbers(X), {}
    for name in plain:
        values = plain[name].to_numpy()
        if len(np.unique(values)) <= 2:
            made[name] = values == values.max()
        else:
            for t in np.unique(np.quantile(values, np.arange(0.1, 1.0, 0.1))):
                made[f"{name} <= {t:g}"] = values <= t
    return pd.DataFrame(made).astype(int)


def contestant(name: str, size: int) -> Any:
    """A model of ``size`` leaves, or rules with what holds else."""
    if name == "pellucid RuleList":
        from pellucid.glassbox import RuleList

        return RuleList(size - 1, penalty=0.0005)
    if name == "pellucid RuleList, one rule":
        from pellucid.glassbox import RuleList

        return RuleList(method="one-rule", bins=size)
    if name == "pellucid ShortTree":
        from pellucid.glassbox import ShortTree

        return ShortTree(size)
    if name == "pellucid ShortTree, optimal":
        from pellucid.glassbox import ShortTree

        return ShortTree(depth=round(np.log2(size)), optimal=True)
    if name == "CART":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_leaf_nodes=size, random_state=0)
    if name == "pystreed, optimal":
        from pystreed import STreeDClassifier

        return STreeDClassifier(max_depth=round(np.log2(size)), time_limit=300)
    from imodels import GreedyRuleListClassifier, OneRClassifier

    return OneRClassifier(max_depth=size - 1) if "one rule" in name else GreedyRuleListClassifier(max_depth=size - 1)


def encoded(name: str, X: pd.DataFrame) -> pd.DataFrame:
    """The table as the contestant takes it."""
    return X if name.startswith("pellucid") else yes_no(X) if name.startswith("pystreed") else numbers(X)


def measured(name: str, on: str, size: int) -> dict[str, Any]:
    X, y = short_table(on)
    rows = encoded(name, X)
    score, train, seconds = [], [], []
    contestant(name, size).fit(rows[:300], y[:300])
    for inside, outside in StratifiedKFold(FOLDS, shuffle=True, random_state=11).split(rows, y):
        model, start = contestant(name, size), cpu()
        model.fit(rows.iloc[inside], y[inside])
        seconds.append(cpu() - start)
        score.append(float((np.asarray(model.predict(rows.iloc[outside])) == y[outside]).mean()))
        train.append(float((np.asarray(model.predict(rows.iloc[inside])) == y[inside]).mean()))
    package = {"pell": "pellucid", "CART": "scikit-learn", "pyst": "pystreed", "imod": "imodels"}[name[:4]]
    found = {"score": float(np.mean(score)), "train": float(np.mean(train)), "seconds": min(seconds)}
    return {**found, "package": f"{package} {version(package)}"}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measured(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
