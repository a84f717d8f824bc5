"""Prototypes and criticisms against mmd-critic, ProtoDash (aix360) and kmedoids: CPU seconds, memory and MMD².

50 prototypes and 20 criticisms by the public call of pellucid, which includes making points of the table, the checks and
the sentences; peers get the matrix of points and the same width, and kmedoids makes the matrix of distances that it needs.
Each measurement is a process of its own with one thread: one call on few rows, which loads what has to be loaded, then the
same call up to five times (not again once ten seconds are spent), of which the least counts. MMD² (prototypes that count
alike, and with the best weights) is worked out here, in one way for all.

    python benchmarks/examples.py [--only digits adult] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import types
from importlib.metadata import version
from pathlib import Path

import page

os.environ.update(page.ONE_THREAD)

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from pellucid import Explainer
from pellucid.data import Data
from pellucid.data.embedding import standardised
from pellucid.data.similarity import Points, Similarity, usual_width
from pellucid.methods.examples.estimation.describe import best_weights

DATA = Path(os.environ.get("PELLUCID_DATA", Path(__file__).parents[2] / "shared" / "data"))
M, CRITICISMS = 50, 20
PEERS = {
    "digits": ("mmd-critic", "ProtoDash", "kmedoids"),
    "adult": ("mmd-critic", "ProtoDash", "kmedoids"),
    "large": (),
}
SECONDS = {
    ("digits", "pellucid"): 0.1,
    ("adult", "pellucid"): 0.6,
    ("large", "pellucid"): 4.0,
    ("large", "exact"): 35.0,
}
MEGABYTES = {"large": 1024}
TIMES, LOWER = 10, 0.1  # less CPU time than mmd-critic and ProtoDash, at an MMD² so much lower
ROUNDS, ENOUGH = 5, 10.0
SIZES = {
    "digits": "digits, 1,797 x 64",
    "adult": "adult, 10,000 x 12 (90 as points)",
    "large": "simulated, 100,000 x 91",
}


OURS = {
    "exact": "pellucid, sample=None",
    "weighted": "pellucid, method='weighted'",
    "medoids": "pellucid, method='medoids'",
}
INTRO = (
    f"{M} prototypes and {CRITICISMS} criticisms (k-medoids and ProtoDash have none). Time is CPU time of one thread, the least of"
    " up to five calls; that of kmedoids includes the matrix of distances that it needs. The peak is that of the whole process,"
    " data included. A smaller MMD² represents the data better; the mean distance is what k-medoids minimises, a smaller one"
    " is better. ProtoDash and method='weighted' choose prototypes and weights together: their column is that of the best weights."
)


def table(name):
    if name == "digits":
        return load_digits().data
    if name == "adult":
        whole = pd.read_csv(DATA / "adult.csv").drop(columns=["income", "fnlwgt", "education"])
        return whole.sample(10_000, random_state=0).reset_index(drop=True)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 91))
    X[:, :20] = (X[:, :20] > 0) + X[:, 20:21]
    return X


def constant(X):
    return np.zeros(len(X))


def points(X):
    Z = standardised(Data.of(X))
    rows = np.random.default_rng(0).choice(len(Z), min(len(Z), 1000), replace=False)
    return Z, usual_width(Points(Z[rows]), "rbf", np.arange(len(rows)))


def run_pellucid(X, _Z, width, sample="auto", method="mmd"):
    ex = Explainer(constant, X, progress=False)
    start = time.process_time()
    found = ex.prototypes(M, criticisms=CRITICISMS, width=width, sample=sample, method=method)
    found.text()
    seconds = time.process_time() - start
    return found.row_labels.positions[found.places()], seconds


def run_mmd_critic(_X, Z, width):
    from mmd_critic import MMDCritic
    from mmd_critic.kernels import RBFKernel

    start = time.process_time()
    critic = MMDCritic(Z, RBFKernel(width))
    rows, _ = critic.select_prototypes(M)
    critic.select_criticisms(CRITICISMS, rows)
    seconds = time.process_time() - start
    return positions(Z, rows), seconds


def run_protodash(_X, Z, width):
    sys.modules["xport"] = types.ModuleType("xport")  # reads files, and is not needed here
    from aix360.algorithms.protodash import ProtodashExplainer

    start = time.process_time()
    _, rows, _ = ProtodashExplainer().explain(Z, Z, m=M, kernelType="Gaussian", sigma=width, optimizer="osqp")
    return np.asarray(rows), time.process_time() - start


def run_kmedoids(_X, Z, _width):
    import kmedoids
    from scipy.spatial.distance import cdist

    start = time.process_time()
    found = kmedoids.fasterpam(cdist(Z, Z).astype(np.float32), M, random_state=0, n_cpu=1)
    return np.asarray(found.medoids), time.process_time() - start


RUNS = {
    "pellucid": run_pellucid,
    "exact": lambda X, Z, width: run_pellucid(X, Z, width, sample=None),
    "weighted": lambda X, Z, width: run_pellucid(X, Z, width, method="weighted"),
    "medoids": lambda X, Z, width: run_pellucid(X, Z, width, method="medoids"),
    "mmd-critic": run_mmd_critic,
    "ProtoDash": run_protodash,
    "kmedoids": run_kmedoids,
}


def positions(Z, rows):
    """Where rows are in a matrix, no position twice."""
    free, found = np.ones(len(Z), dtype=bool), []
    for row in np.asarray(rows):
        same = np.flatnonzero(free & (np.abs(Z - row).max(axis=1) < 1e-12))
        found.append(same[0])
        free[same[0]] = False
    return np.array(found)


def one(name, who):
    X = table(name)
    Z, width = points(X)
    few = X[:300] if isinstance(X, np.ndarray) else X.iloc[:300]
    RUNS[who](few, Z[:300], width)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    while len(seconds) < ROUNDS and sum(seconds) < ENOUGH:
        chosen, cpu = RUNS[who](X, Z, width)
        seconds.append(cpu)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    least = {"cpu": min(seconds), "calls": len(seconds)}
    print(json.dumps({"chosen": chosen.tolist(), "mb": after / 1024, "grown": (after - before) / 1024} | least))


def discrepancy(name, sets):
    """MMD² of several sets, equal and best weights, and their mean distance; constants from 4,000 columns where rows are many."""
    Z, width = points(table(name))
    similarity, n = Similarity(Points(Z), "rbf", width), len(Z)
    columns = np.arange(n) if n <= 20_000 else np.random.default_rng(1).choice(n, 4000, replace=False)
    spread = float(similarity.sampled_means(np.ones(n), columns)[0].mean())
    out = {}
    for who, given in sets.items():
        chosen = np.array(given)
        kernel, block = similarity.within(chosen), similarity.block(slice(None), chosen).astype(float)
        kappa = block.mean(axis=0)
        weights = best_weights(kernel, kappa)
        apart = np.sqrt(np.maximum(similarity.rows.apart(slice(None), chosen).astype(float), 0)).min(axis=1).mean()
        equal = np.full(len(chosen), 1 / len(chosen))
        out[who] = [float(w @ kernel @ w - 2 * w @ kappa + spread) for w in (equal, weights)] + [float(apart)]
    return out


def measured(name, who):
    done = subprocess.run([sys.executable, __file__, "--one", name, who], capture_output=True, text=True, check=False)
    if done.returncode:
        print(name, who, "failed:", done.stderr.strip().splitlines()[-1:])
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def lines(name):
    """The lines of one table of data, goals included."""
    ours = ("pellucid", "exact") if name == "large" else ("pellucid", "weighted", "medoids")
    found = {who: measured(name, who) for who in (*ours, *PEERS[name])}
    found = {who: each for who, each in found.items() if each}
    fits = discrepancy(name, {who: each["chosen"] for who, each in found.items()})
    rng, n = np.random.default_rng(0), len(table(name))
    random = [discrepancy(name, {"r": rng.choice(n, M, replace=False)})["r"] for _ in range(3)]
    fits["random rows"] = np.mean(random, axis=0)
    for who, fit in fits.items():
        each = found.get(who)
        called = OURS.get(who, who)
        cost = [f"{each['cpu']:.3f}", f"{each['mb']:,.0f}"] if each else ["", ""]
        yield [
            SIZES[name],
            called,
            *cost,
            *(f"{part:.5f}" for part in fit[:2]),
            f"{fit[2]:.3f}",
            "; ".join(goals(name, who, found, fits)),
        ]


def goals(name, who, found, fits):
    """What is aimed for, and whether it is met."""
    each, ours = found.get(who), found.get("pellucid")
    if (name, who) in SECONDS:
        yield told(f"at most {SECONDS[name, who]:g} s", each["cpu"] <= SECONDS[name, who])
        if name in MEGABYTES:
            yield told("below 1 GB", each["mb"] < MEGABYTES[name])
    if who in ("mmd-critic", "ProtoDash") and each and ours:
        times, lower = each["cpu"] / ours["cpu"], 1 - fits["pellucid"][0] / fits[who][0]
        yield told(f"at least {TIMES} times the CPU time of pellucid", times >= TIMES) + f" ({times:.1f} times)"
        yield told(f"its MMD² at least {LOWER:.0%} undercut", lower >= LOWER) + f" (by {lower:.0%})"
    if who == "ProtoDash" and each and "weighted" in found:
        times, lower = each["cpu"] / found["weighted"]["cpu"], 1 - fits["weighted"][1] / fits[who][1]
        met = times >= TIMES and lower >= LOWER
        yield told("the same of method='weighted', with weights", met) + f" ({times:.1f} times, by {lower:.0%})"
    if who == "kmedoids" and each and "medoids" in found:
        times, nearer = each["cpu"] / found["medoids"]["cpu"], fits["medoids"][2] / fits[who][2]
        yield told("medoids not behind", times >= 1 and nearer <= 1.005) + f" ({times:.1f} times their CPU time)"


def told(goal, met):
    return f"{goal}: {'met' if met else 'missed'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=list(SIZES))
    parser.add_argument("--one", nargs=2)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    all_lines = []
    for name in given.only:
        for line in lines(name):
            all_lines.append(line)
            print(*line, sep=" | ", flush=True)
    head = ["data", "by", "CPU s", "peak MB", "MMD²", "MMD², best weights", "mean distance", "goal"]
    if given.write:
        more = [f"{name} {version(name)}" for name in ("mmd-critic", "aix360", "kmedoids") if _there(name)]
        page.write_section(
            "EXAMPLES.md",
            "Prototypes and criticisms",
            page.printed(__file__, more=more),
            INTRO,
            page.table(head, all_lines, words=2),
        )
    if any(": missed" in line[-1] for line in all_lines):
        sys.exit(1)


def _there(name):
    try:
        version(name)
    except Exception:
        return False
    return True


if __name__ == "__main__":
    main()
