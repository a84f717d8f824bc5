"""Local surrogates (LIME) against lime and dalex: python benchmarks/lime_surrogates.py [--write].

CPU time of one explanation of 5,000 samples (6 features), explainers made beforehand, taking turns, least of several rounds. Our
time holds the default checks, the choice of the kernel width and the stability indices, which the peers do not work out. All rows share
their samples here, and an explainer keeps the last ones with the model's predictions: *pellucid* is an explanation after the first;
*fresh* draws 5,000 samples and asks the model anew, as the peers do for every row. *Quality*: for a linear model the largest relative error
of the weights, all features allowed (smaller is better); for a network how far the explanations of two seeds agree, as the share of weight
on common features (1 is best). Exits with 1 when ours takes more than a fifth of either peer's time, or is less exact.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import page
import pellucid

SAMPLES, FEATURES, ROUNDS, LEAST = 5000, 6, 9, 5.0
Explain = Callable[[np.ndarray], np.ndarray]


def data(p: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1000, p)) * np.exp(generator.normal(size=p))
    return X, X @ (1.0 + np.arange(p)) / X.std(axis=0).mean()


def models(p: int) -> dict[str, object]:
    X, y = data(p)
    network = MLPRegressor(hidden_layer_sizes=(30, 30), max_iter=200, random_state=0)
    bent = np.tanh(y / y.std()) + (X[:, 0] / X[:, 0].std()) ** 2
    return {"linear": LinearRegression().fit(X, y), "network": make_pipeline(StandardScaler(), network).fit(X, bent)}


def ours(model, X: np.ndarray, seed: int, k: int = FEATURES, *, checks: bool = True) -> Explain:
    ex = pellucid.Explainer(model, X, checks=checks, progress=False, random_state=seed)

    def explain(row: np.ndarray) -> np.ndarray:
        return ex.lime(row, features=k, samples=SAMPLES).weights[0]

    return explain


def fresh(model, X: np.ndarray, seed: int, k: int = FEATURES) -> Explain:
    ex = pellucid.Explainer(model, X, progress=False, random_state=seed)
    numbers = iter(range(SAMPLES, 2 * SAMPLES, 20))  # another number of samples: none are known

    def explain(row: np.ndarray) -> np.ndarray:
        return ex.lime(row, features=k, samples=next(numbers)).weights[0]

    return explain


def lime_package(model, X: np.ndarray, seed: int, k: int = FEATURES) -> Explain:
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(X, mode="regression", discretize_continuous=False, random_state=seed)

    def explain(row: np.ndarray) -> np.ndarray:
        found = explainer.explain_instance(row, model.predict, num_features=k, num_samples=SAMPLES)
        weights = np.zeros(X.shape[1])
        for j, weight in found.as_map()[1]:
            weights[j] = weight / explainer.scaler.scale_[j]  # of standardised features
        return weights

    return explain


def dalex_package(model, X: np.ndarray, seed: int, k: int = FEATURES) -> Explain:
    import dalex
    import pandas as pd

    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])

    explainer = dalex.Explainer(model, table, verbose=False, predict_function=lambda m, d: m.predict(np.asarray(d)))

    def explain(row: np.ndarray) -> np.ndarray:
        found = explainer.predict_surrogate(
            pd.Series(row, table.columns), type="lime", mode="regression", discretize_continuous=False,
            num_features=k, num_samples=SAMPLES, random_state=seed,
        )  # fmt: skip
        weights = np.zeros(X.shape[1])
        for j, weight in found.as_map()[1]:
            weights[j] = weight / X[:, j].std()
        return weights

    return explain


PEERS = {
    "pellucid": ours,
    "checks=False": partial(ours, checks=False),
    "fresh": fresh,
    "lime": lime_package,
    "dalex": dalex_package,
}
THEIRS = ("lime", "dalex")
JUDGED = ("pellucid", *THEIRS)


def common(a: np.ndarray, b: np.ndarray, scale: np.ndarray) -> float:
    sizes = (np.abs(a) + np.abs(b)) * scale
    return float(sizes[(a != 0) & (b != 0)].sum() / sizes.sum())


def measure() -> tuple[list[str], bool]:
    lines, met = [], True
    for p in (6, 12, 30):
        X, _ = data(p)
        for name, model in models(p).items():
            explain = {who: make(model, X, 0) for who, make in PEERS.items()}
            least = dict.fromkeys(PEERS, np.inf)
            for again in range(ROUNDS):
                for who, call in explain.items():
                    start = time.process_time()
                    call(X[again])
                    least[who] = min(least[who], time.process_time() - start)
            quality = {who: _quality(name, model, X, PEERS[who]) for who in JUDGED}
            ratios = {who: least[who] / least["pellucid"] for who in THEIRS}
            better = min if name == "linear" else max
            exact = quality["pellucid"] == better(quality.values()) or quality["pellucid"] < 1e-6
            good = min(ratios.values()) >= LEAST and (exact or name != "linear")
            met &= good
            cells = [f"{1e3 * least[who]:.1f}" for who in PEERS]
            cells += [f"{ratios[who]:.1f}" for who in ratios]
            cells += [f"{least['lime'] / least['fresh']:.1f}"]
            cells += [f"{quality[who]:.1e}" if name == "linear" else f"{quality[who]:.3f}" for who in JUDGED]
            lines.append(page.row((f"{name}, {p} features", *cells, "yes" if good else "NO")))
            print(lines[-1], flush=True)
    return lines, met


def many() -> list[str]:
    """CPU milliseconds per row of 20 rows, which share their samples here."""
    lines = []
    for p in (6, 12, 30):
        X, _ = data(p)
        for name, model in models(p).items():
            ex = pellucid.Explainer(model, X, progress=False)
            theirs = lime_package(model, X, 0)
            calls = {
                "ours": lambda ex=ex, X=X: ex.lime(X[:20], features=FEATURES),
                "lime": lambda f=theirs, X=X: [f(x) for x in X[:20]],
            }
            least = dict.fromkeys(calls, np.inf)
            for _ in range(3):
                for who, call in calls.items():
                    start = time.process_time()
                    call()
                    least[who] = min(least[who], time.process_time() - start)
            ours_ms, lime_ms = (1e3 * least[who] / 20 for who in ("ours", "lime"))
            cells = (f"{ours_ms:.1f}", f"{lime_ms:.1f}", f"{lime_ms / ours_ms:.1f}")
            lines.append(page.row((f"{name}, {p} features", *cells)))
            print(lines[-1], flush=True)
    return lines


def _quality(name: str, model, X: np.ndarray, make: Callable[..., Explain]) -> float:
    if name == "network":
        one, other = make(model, X, 1), make(model, X, 2)
        return float(np.mean([common(one(row), other(row), X.std(axis=0)) for row in X[:5]]))
    weights = make(model, X, 0, X.shape[1])(X[0])
    return float(np.abs(weights / model.coef_ - 1.0).max())


HEAD = page.header(
    ("model", "pellucid ms", "checks=False ms", "fresh ms", "lime ms", "dalex ms", "times less than lime", "than dalex",
     "fresh than lime", "pellucid quality", "lime quality", "dalex quality", "met")
)  # fmt: skip
MANY = page.header(("model", "pellucid", "lime", "times less"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write benchmarks/LIME.md")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    told = page.printed(__file__, *THEIRS)
    print(f"{told}\n\n{HEAD}", flush=True)
    lines, met = measure()
    print(f"\n{MANY}", flush=True)
    rows = many()
    if asked.write:
        page.write(
            "LIME.md",
            "# Local surrogates (LIME)",
            told,
            __doc__.split("\n\n", 1)[1],
            "\n".join((HEAD, *lines)),
            "## Twenty rows, CPU ms per row (as many samples as each takes by default)",
            "\n".join((MANY, *rows)),
        )
    return 0 if met else 1


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    sys.exit(main())
