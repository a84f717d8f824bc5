"""What all contracts start from: an Explainer of the table, and its answer to each method, worked out once."""

from functools import cache

import numpy as np

from contracts.tables import NAMES, as_pandas, columns, model, outcome
from pellucid import Explainer


def explainer(table, *, y=True, **options):
    names = NAMES if isinstance(table, np.ndarray) and table.dtype.names is None else None
    return Explainer(model, table, outcome(table) if y else None, feature_names=names, progress=False, **options)


@cache
def usual(method):
    """The Explainer of the pandas table and its answer, worked out once for all that is compared with it."""
    ex = explainer(as_pandas(columns()))
    return ex, method(ex)
