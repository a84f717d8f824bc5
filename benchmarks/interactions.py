"""Friedman's H against artemis: python benchmarks/interactions.py [--write].

Two tables. *All pairs*: the 45 pairs of a gradient boosting model of ten features, of which five are noise, at the same 300
rows, all of them against all of them; CPU seconds, least of several rounds; every value is compared with the definition,
written out. *Growth*: all pairs at 1,000 to 100,000 rows, all rows against all rows. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor

import page
import pellucid

ROWS, GOAL, AGREE = 300, 1000.0, 1e-9
GROWTH, STEEPEST = (1_000, 3_000, 10_000, 30_000, 100_000), 1.25
PAIRS = tuple(combinations(range(10), 2))


def friedman(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Friedman's function of five features, and five more that are noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), y + rng.normal(size=n)


def least(call: Callable[[], object], rounds: int) -> float:
    """CPU seconds of the quickest round."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def by_definition(model: GradientBoostingRegressor, X: pd.DataFrame) -> np.ndarray:
    """H squared of every pair, from partial dependences asked row by row."""
    values = X.to_numpy()

    def effect(columns: tuple[int, ...]) -> np.ndarray:
        curve = np.empty(len(values))
        for i, row in enumerate(values):
            mixed = values.copy()
            mixed[:, columns] = row[list(columns)]
            curve[i] = model.predict(mixed).mean()
        return curve - curve.mean()

    with warnings.catch_warnings(action="ignore"):
        single = [effect((j,)) for j in range(values.shape[1])]
        joint = {pair: effect(pair) for pair in PAIRS}
    parts = ((joint[pair], joint[pair] - single[pair[0]] - single[pair[1]]) for pair in PAIRS)
    return np.array([(rest @ rest) / (whole @ whole) for whole, rest in parts])


def artemis(model: GradientBoostingRegressor, X: pd.DataFrame) -> np.ndarray:
    """H squared of every pair."""
    from artemis.interactions_methods.model_agnostic import FriedmanHStatisticMethod

    method = FriedmanHStatisticMethod()
    with warnings.catch_warnings(action="ignore"):
        method.fit(model, X, show_progress=False)
    table = {frozenset(row[:2]): row[2] for row in method.ovo.itertuples(index=False, name=None)}
    return np.array([table[frozenset({X.columns[j], X.columns[k]})] for j, k in PAIRS])


def all_pairs() -> tuple[list[str], bool]:
    X, y = friedman(ROWS)
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    explainer = pellucid.Explainer(model, X, y, progress=False)
    bare = pellucid.Explainer(model, X, y, progress=False, checks=False)
    truth, peer, result = by_definition(model, X), artemis(model, X), explainer.interactions(network=False)
    ours, checked = (least(lambda ex=ex: ex.interactions(network=False), 15) for ex in (bare, explainer))
    whole = least(explainer.interactions, 10)
    theirs = least(lambda: artemis(model, X), 2)
    errors = np.abs(result.values**2 - truth).max(), np.abs(peer - truth).max()
    fresh, outcome = friedman(ROWS, seed=1)
    tested = pellucid.Explainer(model, fresh, outcome, progress=False).interactions(p_values=True)
    met = theirs / whole >= GOAL and errors[0] <= AGREE
    lines = [
        "## All pairs: 45 pairs of 10 features, 300 rows against 300 rows",
        "",
        "| | CPU seconds | artemis takes | largest error of H squared | intervals, checks |",
        "|---|---:|---:|---:|---|",
        f"| pellucid, `interactions()`, which also asks what the network costs | {whole:.4f} | {theirs / whole:,.0f} times as long | {errors[0]:.0e} | both |",
        f"| pellucid, `interactions(network=False)` | {checked:.4f} | {theirs / checked:,.0f} times as long | {errors[0]:.0e} | both |",
        f"| pellucid, `interactions(network=False)`, `checks=False` | {ours:.4f} | {theirs / ours:,.0f} times as long | {errors[0]:.0e} | intervals |",
        f"| artemis | {theirs:.2f} | | {errors[1]:.0e} | neither |",
        "",
        f"Goal: `interactions()` in a thousandth of the time, exact to {AGREE:.0e}: {'met' if met else 'MISSED'}.",
        "",
        *_ranking(X, peer, result, tested),
    ]
    return lines, met


def _ranking(
    X: pd.DataFrame, peer: np.ndarray, result: pellucid.Interactions, tested: pellucid.Interactions
) -> list[str]:
    """What each would have a reader look at; x0 and x1 interact, nothing else does, and x5 to x9 are noise."""
    place = [np.argsort(np.argsort(-values)) + 1 for values in (peer, result.strength)]
    lines = [
        "What is read off. In truth x0 and x1 interact and no other pair does; x5 to x9 do nothing. H is the same number here and there:",
        "of two features of noise, a large share of a joint effect that is next to nothing. artemis ranks by it. pellucid ranks by the",
        "strength in units of the prediction, says so (`weak-joint-effect`), and has a test on rows not seen.",
        "",
        "| pair | H | place by H (artemis) | strength | place by strength (pellucid) | joint effect | p, adjusted (300 fresh rows) |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for s in np.argsort(-peer)[:5]:
        j, k = PAIRS[s]
        lines.append(
            f"| {X.columns[j]}, {X.columns[k]} | {result.values[s]:.3f} | {place[0][s]} | {result.strength[s]:.3f} | {place[1][s]} | "
            f"{100 * result.joint[s]:.2f}% | {tested.adjusted[s]:.2g} |"
        )
    codes = ", ".join(dict.fromkeys(f"`{caveat.code}`" for caveat in result.caveats))
    return [*lines, "", f"Caveats of the result: {codes}."]


def growth() -> tuple[list[str], bool]:
    X, y = friedman(GROWTH[-1])
    model = GradientBoostingRegressor(random_state=0).fit(X[:3000], y[:3000])
    seconds = []
    pellucid.Explainer(model, X, y, progress=False).interactions(network=False)  # compiles
    for n in GROWTH:
        explainer = pellucid.Explainer(model, X[:n], y[:n], progress=False)
        seconds.append(least(lambda explainer=explainer: explainer.interactions(network=False), 3))
    steepness = np.log(seconds[-1] / seconds[-2]) / np.log(GROWTH[-1] / GROWTH[-2])
    met = bool(steepness <= STEEPEST)
    lines = [
        "## Growth: the same 45 pairs, all rows against all rows",
        "",
        "| rows | CPU seconds | model rows that asking for every pair would take |",
        "|---:|---:|---:|",
        *(f"| {n:,} | {s:.3f} | {55 * n * n:.1e} |" for n, s in zip(GROWTH, seconds, strict=True)),
        "",
        f"From {GROWTH[-2]:,} to {GROWTH[-1]:,} rows the time grows with the power {steepness:.2f} of the rows (goal: at most {STEEPEST}): "
        f"{'met' if met else 'MISSED'}.",
    ]
    return lines, met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write INTERACTIONS.md beside this file")
    write = parser.parse_args().write
    (pairs, fast), (rows, linear) = all_pairs(), growth()
    parts = ("# Friedman's H", page.printed(__file__, "pyartemis"), "\n".join(pairs), "\n".join(rows))
    print("\n\n".join(parts))
    if write:
        page.write("INTERACTIONS.md", *parts)
    return 0 if fast and linear else 1


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    sys.exit(main())
