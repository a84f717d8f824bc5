"""Reads every saved model with the releases installed here: python read.py LIBRARY FOLDER START.

Prints a line of JSON for each, from number START on.

``error`` is the largest difference from the library's own sums and contributions, as a share of the largest number of them;
``library``: the library itself cannot open or ask the file; ``refused``: pellucid does not read it, and says why.
"""

import json
import sys
import warnings
from pathlib import Path

import libraries
import numpy as np

from pellucid import Explainer
from pellucid.models.files import load_model
from pellucid.trees.convert import Unsupported, convert
from pellucid.trees.engine import attribute
from pellucid.trees.predict import predictions


def difference(got: np.ndarray, own: np.ndarray) -> float:
    if got.shape != own.shape:
        return float("inf")
    return float(np.abs(got - own).max() / np.abs(own).max())


def compared(library: str, path: Path, sort: str) -> dict[str, object]:
    X, table = libraries.shown(library, sort)
    try:
        model = load_model(path)
        own = libraries.raw(library, model, table)
    except Exception as error:
        opened = library == "scikit-learn" and libraries.opens(path)
        return {"refused" if opened else "library": " ".join(f"{type(error).__name__}: {error}".split())[:160]}
    try:
        read = convert(model)
    except Unsupported as reason:
        return {"refused": str(reason)}
    matrix = read.encode(table)
    sums = read.ensemble.predict(matrix)
    errors = {"sums": min(difference(found, own) for found in _said(read, sums, own.shape[1]))}
    try:
        theirs = libraries.contributions(library, model, table)
    except Exception:
        theirs = None  # the library has no contributions of such a model
    if theirs is not None:
        ours = attribute(read.ensemble, matrix, game="path")
        base = np.broadcast_to(ours.base, (len(X), 1, ours.values.shape[2]))
        errors["contributions"] = difference(np.concatenate([ours.values, base], axis=1), theirs)
    answer = Explainer(model, table, checks=False).shap(table[:3])
    return {**errors, "method": answer.method}


def _said(read, sums, width):
    """The sums, and what the model makes of them."""
    yield sums
    for scale in ("score", "probability"):
        found = predictions(sums, read.link, width, scale) if read.link != "other" else None
        if found is not None:
            yield found
            yield found[:, 1:]


def main(library: str, folder: Path, start: int) -> None:
    warnings.simplefilter("ignore")
    for line in json.loads((folder / "cases.json").read_text())[start:]:
        if "unfit" not in line:
            line.update(compared(library, folder / line["file"], line["sort"]))
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
