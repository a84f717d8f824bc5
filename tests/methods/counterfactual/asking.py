"""Problems to search: small tables of mixed columns and models that can be worked out by hand."""

import numpy as np
import pandas as pd

from pellucid import Explainer
from pellucid.methods.counterfactual.search.problem import make_problem
from pellucid.runner import Run


def credit_like(n=200, seed=0, gaps=0.0):
    """Numbers, whole numbers, one decimal, categories and truth values; ``gaps`` is the share of missing cells."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "amount": np.round(rng.uniform(0, 100, n), 1),
            "score": rng.normal(size=n),
            "housing": pd.Categorical(rng.choice(["free", "own", "rent"], n)),
            "job": rng.choice(["skilled", "unskilled"], n),
            "foreign": rng.random(n) < 0.3,
        }
    )
    if gaps:
        for name in ("score", "housing"):
            table.loc[rng.random(n) < gaps, name] = None
    return table


def risk(table):
    """A number from 0 to 1 of every column."""
    age = table["age"].to_numpy(dtype=float)
    amount = table["amount"].to_numpy(dtype=float)
    score = np.nan_to_num(table["score"].to_numpy(dtype=float))
    z = (
        0.05 * (age - 45)
        - 0.04 * (amount - 50)
        + 0.8 * score
        + 1.2 * (table["housing"].astype(object) == "own").to_numpy()
        + 0.7 * (table["job"] == "skilled").to_numpy()
        - 0.5 * table["foreign"].to_numpy(dtype=float)
    )
    return 1 / (1 + np.exp(-z))


def explainer(table=None, model=risk, **options):
    return Explainer(model, credit_like() if table is None else table, progress=False, **options)


def problem(row=0, target=">= 0.7", ex=None, **said):
    ex = explainer() if ex is None else ex
    return make_problem(ex.predictor, ex.data, ex.data.rows(row), target, Run(), **said)
