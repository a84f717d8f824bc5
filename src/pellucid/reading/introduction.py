"""What an Explainer explains, in a few lines: from what is known of the model and the data, without asking the
model.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from pellucid.data import Data
from pellucid.errors import PellucidError
from pellucid.losses import find_loss
from pellucid.models import Predictor
from pellucid.models.linear import Unlike
from pellucid.models.outcome import comparable, outcome_for
from pellucid.reading.additive import read_additive
from pellucid.reading.trees import Refusal, tree_model
from pellucid.runner import Run
from pellucid.words import counted, listed, model_name, number, percent

_NAMES = 8  # columns that are named of each kind


def introduction(predictor: Predictor, data: Data, run: Run) -> str:
    """The model, what of it is explained, the data, how good it is and how it is read; never an error."""
    lines = [f"Explainer of {_model(predictor)}", f"  explains  {_explained(predictor)}", f"  data      {_table(data)}"]
    lines += [f"            {line}" for line in _columns(data)]
    # Whatever an odd model or an outcome that does not fit makes of these two: a summary leaves out what it cannot say.
    with suppress(Exception):
        lines += [f"  score     {line}" for line in _score(predictor, data)]
    with suppress(Exception):
        lines.append(f"  read      {_reading(predictor, run)}")
    return "\n".join(lines)


def _model(predictor: Predictor) -> str:
    classes = predictor.classes
    kind = predictor.task if classes is None else f"classification into {listed([str(label) for label in classes])}"
    return f"{model_name(predictor.name, predictor.library)}, {kind}"


def _explained(predictor: Predictor) -> str:
    names = listed(predictor.output_names)
    if predictor.classes is not None:
        return f"{predictor.scale} of {names}"
    return f"{names} ({predictor.scale})" if names != "prediction" else f"the predicted number ({predictor.scale})"


def _table(data: Data) -> str:
    known = "" if data.y is None else ", y known"
    weighted = ", weighted" if data.weighted else ""
    groups = f", {counted(len(data.schema.groups), 'group')}" if data.schema.groups else ""
    columns = counted(len(data.schema.features), "column")
    return f"{counted(len(data), 'row')} ({data.caller}), {columns}{groups}{known}{weighted}"


def _columns(data: Data) -> list[str]:
    kinds = Counter(feature.kind for feature in data.schema.features)
    named = {
        kind: [feature.name for feature in data.schema.features if feature.kind == kind][: _NAMES + 1] for kind in kinds
    }
    more = {kind: f" and {kinds[kind] - _NAMES:,} more" if kinds[kind] > _NAMES else "" for kind in kinds}
    return [f"{kinds[kind]:,} {kind}: {', '.join(named[kind][:_NAMES])}{more[kind]}" for kind in kinds]


def _score(predictor: Predictor, data: Data) -> list[str]:
    """By the predictions that were made when the model was first asked; none without them or without y."""
    full = predictor.sample
    if not len(full) or not comparable(predictor, data):
        return []
    some = data.take(data.spread(len(full)))
    y = outcome_for(predictor, some)
    task = "regression" if predictor.classes is None else "classification"

    def loss(name: str) -> float:
        return find_loss(name, task, predictor.raw_scale)(y, full, some.weights)

    rows = f" (on {counted(len(some), 'row')} of X)"
    if predictor.classes is None:
        return [f"R² {number(1 - loss('1-r2'))}, RMSE {number(loss('rmse'))}{rows}"]
    found = [f"accuracy {percent(1 - loss('error'))}"]
    with suppress(PellucidError):  # one class only
        found.append(f"AUC {number(1 - loss('1-auc'))}")
    if predictor.raw_scale == "probability":
        found.append(f"log loss {number(loss('log_loss'))}")
    return [", ".join(found) + rows]


def _reading(predictor: Predictor, run: Run) -> str:
    if not isinstance(read_additive(run, predictor), Unlike):
        return "as a sum over its features, without calling it"
    trees = tree_model(run, predictor, missed=False)
    if isinstance(trees, Refusal):
        return "by calling it for every prediction"
    return "from its trees, without calling it"
