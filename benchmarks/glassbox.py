"""Glass boxes against their peers: python benchmarks/glassbox.py [--part NAME] [--peers PYTHON] [--kept FOLDER] [--write].

Parts, each a section of the page, which can be run one at a time:

| part | what it measures |
|---|---|
| additive | AdditiveModel against interpret's EBM, pygam's grid search and HistGradientBoosting: mean score of five folds (R2, or the area under the ROC curve) and CPU seconds of a fit, the fastest fold, one thread |
| splits | AdditiveModel and EBM on other splits of credit, whose 1,000 rows say little |
| bands | how much of the true function the 95% bands of AdditiveModel cover, averaged over its range, over 200 repetitions |
| rows | CPU seconds and memory of a fit by rows, 20 features |
| short | RuleList and ShortTree against CART, imodels and pystreed at equal size: accuracy over five folds, CPU seconds |
| surrogates | ex.surrogate of boosted models: R2 on held-out rows of trees of 8, 16 and 32 leaves beside CART's, of additive models without and with pairs, and CPU seconds of a call |
| rules | RuleFit: score of five folds, number of terms, CPU seconds of a fit, on splits that its options were not chosen on |

Peers run under the Python that ``--peers`` names. A fold that lies in the folder ``--kept`` is not fitted again, so that
a run that takes hours can be stopped and taken up.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import page
from glassbox_fold import FOLDS, table
from pellucid.glassbox import AdditiveModel, RuleFit

HERE = Path(__file__).parent
PAGE = "GLASSBOX.md"
OURS = ("pellucid, mains", "pellucid, pairs")
PEERS = ("EBM, mains", "pygam, grid search", "EBM, default", "HistGradientBoosting")
TABLES = {
    "bike": "bike R2",
    "california": "california R2",
    "adult": "adult AUC",
    "credit": "credit AUC",
    "weak": "many weak pairs R2",
}
SLACK = 0.002
TRUTH = {
    "sine": lambda x: np.sin(2 * np.pi * x),
    "step": lambda x: np.where(x > 0.5, 0.7, -0.7),
    "line": lambda x: 1.7 * (x - 0.5),
    "peak": lambda x: 1.5 * np.exp(-np.square((x - 0.5) / 0.08)),
    "nothing": lambda x: 0.0 * x,
}
REPETITIONS = 200


def fold(name: str, on: str, k: int, peers: str, kept: Path, seed: int = 0) -> dict[str, Any]:
    """The record of one contestant on one fold; one that is kept already is not fitted again."""
    path = kept / (f"{name}--{on}--{k}.json" if not seed else f"{name}--{on}--{k}--split {seed}.json")
    if not path.exists() or not path.stat().st_size:
        python = sys.executable if name in OURS else peers
        command = [python, str(HERE / "glassbox_fold.py"), name, on, str(k), str(seed)]
        path.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return json.loads(path.read_text())


def additive(peers: str, kept: Path) -> str:
    """Scores and seconds, and what is held against them."""
    kept.mkdir(parents=True, exist_ok=True)
    found = {
        (name, on): [fold(name, on, k, peers, kept) for k in range(5)] for name in (*OURS, *PEERS) for on in TABLES
    }
    score = {key: float(np.mean([each["score"] for each in folds])) for key, folds in found.items()}
    seconds = {key: min(each["seconds"] for each in folds) for key, folds in found.items()}
    rows = [(name, *(f"{score[name, on]:.4f}, {seconds[name, on]:.2f} s" for on in TABLES)) for name in (*OURS, *PEERS)]
    packages = sorted({each["package"] for folds in found.values() for each in folds})
    head = (
        f"Mean score of five folds, CPU seconds of the fastest fit. {', '.join(packages)}. Folds are kept: contestants ran at"
        " different hours on the same machine. The level of the test for single pairs, 5%, was set after credit's folds had been"
        " seen at 10%, where one pair lowered the score of one fold; bike's were seen too. How pairs are fitted (products, strengths by"
        " axis) was chosen on other splits of bike, california and credit and on other draws of weak pairs; how weak pairs are fitted together, and"
        " from which evidence on, on splits 11 to 18 of credit and on 1,000 rows each of compas, titanic and adult."
    )
    return "\n\n".join((head, page.table(("", *TABLES.values()), rows), page.bullets(_held(score, seconds))))


def _held(score: dict[tuple[str, str], float], seconds: dict[tuple[str, str], float]) -> list[str]:
    """Every goal, with what was reached."""
    said = []
    for on in TABLES:
        for ours, theirs in ((OURS[0], PEERS[0]), (OURS[0], PEERS[1]), (OURS[1], PEERS[2])):
            gap = score[ours, on] - score[theirs, on]
            word = "at least" if gap >= 0 else f"within {SLACK} of" if gap >= -SLACK else "MISSED: below"
            said.append(f"{on}: {ours} {word} {theirs} ({gap:+.4f})")
        times = seconds[PEERS[2], on] / seconds[OURS[1], on]
        said.append(f"{on}: {'' if times >= 100 else 'MISSED: '}{times:.0f} times less CPU than EBM, default")
    return said


SPLITS = range(1, 9)


def splits(peers: str, kept: Path) -> str:
    """Credit on other splits: five folds of 200 rows say little about a difference of 0.005."""
    kept.mkdir(parents=True, exist_ok=True)
    names = (OURS[0], PEERS[0], OURS[1], PEERS[2])
    found = {
        name: np.array([[fold(name, "credit", k, peers, kept, s)["score"] for k in range(FOLDS)] for s in SPLITS]).mean(
            axis=1
        )
        for name in names
    }
    rows = [(name, *(f"{score:.4f}" for score in found[name])) for name in names]
    said = []
    for ours, theirs in ((OURS[0], PEERS[0]), (OURS[1], PEERS[2])):
        away = found[ours] - found[theirs]
        error = away.std(ddof=1) / np.sqrt(len(away))
        word = "at least" if away.mean() >= 0 else f"within {SLACK} of" if away.mean() >= -SLACK else "MISSED: below"
        said.append(
            f"{ours} {word} {theirs}: {away.mean():+.4f} on average, standard deviation of a split {away.std(ddof=1):.4f}"
            f" (of the average, were splits independent, {error:.4f})"
        )
    head = "Area under the ROC curve, mean of five folds, by split (the seed of the folds; none was used to choose anything). Kept, as above."
    return "\n\n".join((head, page.table(("", *(f"split {s}" for s in SPLITS)), rows), page.bullets(said)))


def bands() -> str:
    """Coverage by function and family."""
    rows = []
    for family, n in (("gaussian", 1000), ("binomial", 4000)):
        inside: dict[str, list[float]] = {name: [] for name in TRUTH}
        for seed in range(REPETITIONS):
            for name, share in _covered(family, n, seed).items():
                inside[name].append(share)
        bent = np.mean([np.mean(inside[name]) for name in TRUTH if name != "nothing"])
        rows.append((f"{family}, {n} rows", *(f"{np.mean(inside[name]):.3f}" for name in TRUTH), f"{bent:.3f}"))
    head = f"Share of the range of each function inside its 95% band, {REPETITIONS} repetitions; all five functions in one model."
    return "\n\n".join((head, page.table(("", *TRUTH, "mean of the first four"), rows)))


def _covered(family: str, n: int, seed: int) -> dict[str, float]:
    rng, grid = np.random.default_rng(seed), (np.arange(200) + 0.5) / 200
    X = rng.uniform(size=(n, len(TRUTH)))
    eta = sum(f(X[:, j]) for j, f in enumerate(TRUTH.values()))
    y = eta + rng.normal(size=n) if family == "gaussian" else (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    model, found = AdditiveModel(family=family).fit(X, y), {}
    for j, (name, f) in enumerate(TRUTH.items()):
        away = model._term(j, grid)[:, 0] - f(grid) + f(X[:, j]).mean()
        found[name] = float((np.abs(away) <= 1.96 * model._term_error(j, grid)[:, 0]).mean())
    return found


def rows_fitted(n: int) -> None:
    """Prints CPU seconds and the peak of memory of one fit of so many rows, in a process of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + X[:, 3:8].sum(axis=1) / 5 + rng.normal(size=n)
    AdditiveModel(pairs="auto").fit(X[:500], y[:500])
    result = {}
    for pairs in (0, "auto"):
        start = resource.getrusage(resource.RUSAGE_SELF)
        AdditiveModel(pairs=pairs).fit(X, y)
        end = resource.getrusage(resource.RUSAGE_SELF)
        seconds = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
        result[str(pairs)] = (seconds, end.ru_maxrss / 2**20)
    print(json.dumps(result))


def rows() -> str:
    """Seconds and memory by rows."""
    lines = []
    for n in (10_000, 100_000, 1_000_000):
        command = [sys.executable, __file__, "--fit", str(n)]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        cells = [f"{seconds:.1f} s, {memory:.2f} GB" for seconds, memory in (found["0"], found["auto"])]
        lines.append((f"{n:,}", *cells))
    head = "CPU seconds of a fit of 20 features; peak memory of the whole process, the table (0.15 GB for 1,000,000) in it."
    return "\n\n".join((head, page.table(("rows", "mains", "pairs"), lines)))


RULES_HELD = {"bike": (0.885, 60), "credit": (0.76, 25)}
SAME_SPLIT = ("linear", "HistGradientBoosting")


def rules() -> str:
    """Scores, terms and seconds of RuleFit with its defaults, and what other models reach on the same splits."""
    lines, held = [], []
    for on, (goal, most) in RULES_HELD.items():
        for seed in (101, 102):
            scores, terms, seconds = rules_of(on, seed)
            score = np.mean(scores["RuleFit"])
            others = [f"{np.mean(scores[name]):.4f}" for name in SAME_SPLIT]
            said = f"{score:.4f}", f"{min(terms)} to {max(terms)}", f"{min(seconds):.2f} s"
            lines.append((f"{TABLES[on]}, split {seed}", *said, *others))
            met = score >= goal and max(terms) <= most and min(seconds) <= 1
            held.append(
                f"{on}, split {seed}: {'' if met else 'MISSED: '}{score:.4f} (goal {goal}), at most {max(terms)} terms (goal {most})"
            )
    settled = [rules_of("credit", seed) for seed in range(1, 9)]
    means = {name: np.mean([scores[name] for scores, _, _ in settled], axis=1) for name in settled[0][0]}
    counts = [count for _, terms, _ in settled for count in terms]
    lines.append(
        (
            "credit AUC, splits 1 to 8",
            f"{means['RuleFit'].mean():.4f} ({means['RuleFit'].min():.4f} to {means['RuleFit'].max():.4f})",
            f"{min(counts)} to {max(counts)}",
            f"{min(one for _, _, seconds in settled for one in seconds):.2f} s",
            *(f"{means[name].mean():.4f} ({means[name].min():.4f} to {means[name].max():.4f})" for name in SAME_SPLIT),
        )
    )
    head = (
        "Mean score of five folds with the defaults, terms by fold, CPU seconds of the fastest fit. The defaults and how the number of terms is"
        " chosen were settled on other splits of the same rows (1 to 8, of which mean, least and most are shown). Beside it, on the same folds, a linear model of all columns (one per"
        " level, standardised; logistic with C=0.1 for classes) and HistGradientBoosting with its defaults."
    )
    columns = ("", "score", "terms", "fit", "linear, all columns", "HistGradientBoosting")
    return "\n\n".join((head, page.table(columns, lines), page.bullets(held)))


def rules_of(on: str, seed: int) -> tuple[dict[str, list[float]], list[int], list[float]]:
    """Scores by model, terms and CPU seconds of RuleFit, by fold."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.metrics import r2_score, roc_auc_score
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, classes = table(on)
    wide = pd.get_dummies(X, dtype=float, dummy_na=bool(X.isna().any().any()))
    boosted = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(random_state=0)
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.1) if classes else Ridge())
    scores: dict[str, list[float]] = {name: [] for name in ("RuleFit", *SAME_SPLIT)}
    terms, seconds = [], []
    for train, test in (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=seed).split(X, y):
        start = time.process_time()
        model = RuleFit(random_state=0).fit(X.iloc[train], y[train])
        seconds.append(time.process_time() - start)
        terms.append(model.n_terms_)
        filled = wide.fillna(wide.iloc[train].median())
        for name, one, rows in (
            ("RuleFit", model, X),
            (SAME_SPLIT[0], linear.fit(filled.iloc[train], y[train]), filled),
            (SAME_SPLIT[1], boosted.fit(wide.iloc[train], y[train]), wide),
        ):
            out = rows.iloc[test]
            if classes:
                scores[name].append(roc_auc_score(y[test], one.predict_proba(out)[:, 1]))
            else:
                scores[name].append(r2_score(y[test], one.predict(out)))
    return scores, terms, seconds


SHORT = {"compas": (4, 8, 16), "spam": (8,), "adult": (8,)}
OF_SIZE = ("pellucid RuleList", "CART", "pellucid ShortTree", "imodels, greedy list")
ALONE = ("pellucid RuleList, one rule", "imodels, one rule", "pellucid ShortTree, optimal", "pystreed, optimal")


def short(peers: str, kept: Path) -> str:
    """Accuracy at equal size."""
    kept.mkdir(parents=True, exist_ok=True)

    def one(name: str, on: str, size: int) -> dict[str, Any]:
        path = kept / f"short--{name}--{on}--{size}.json"
        if not path.exists() or not path.stat().st_size:
            python = peers if name.startswith(("imodels", "pystreed")) else sys.executable
            command = [python, str(HERE / "glassbox_short.py"), name, on, str(size)]
            path.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return json.loads(path.read_text())

    asked = [(name, on, size) for on, sizes in SHORT.items() for size in sizes for name in OF_SIZE]
    asked += [(name, "compas", 8) for name in ALONE]
    found = {key: one(*key) for key in asked}
    lines = [
        (
            f"{on}, {size}",
            name,
            *(f"{found[name, on, size][part]:.4f}" for part in ("score", "train")),
            f"{found[name, on, size]['seconds']:.2f} s",
        )
        for name, on, size in asked
    ]
    held = []
    for on, sizes in SHORT.items():
        for size in sizes:
            gap = found[OF_SIZE[0], on, size]["score"] - found[OF_SIZE[1], on, size]["score"]
            held.append(f"{on}, {size}: RuleList {'at least' if gap >= 0 else 'MISSED: below'} CART ({gap:+.4f})")
    packages = ", ".join(sorted({each["package"] for each in found.values()}))
    head = (
        "Accuracy on the rows left out (mean of five folds) and on those fitted, CPU seconds of the fastest fit. The size is that of leaves, or of"
        " rules with what holds else. Numbers and levels as they are for ours; a column per level for CART and imodels; columns of yes and no at"
        f" tenths for pystreed. {packages}."
    )
    return "\n\n".join((head, page.table(("", "model", "left out", "fitted", "fit"), lines), page.bullets(held)))


TRIAL = {  # CART's leaves 8, 16, 32 on one-hot columns, an additive model and one with pairs, of a first trial
    "bike": (0.82, 0.86, 0.88, 0.94, 0.95),
    "california": (0.71, 0.78, 0.83, 0.91, 0.95),
    "adult": (0.75, 0.83, 0.87, 0.8848, 0.94),  # additive: run again on the same rows and folds
    "credit": (0.22, 0.24, 0.23, 0.32, 0.34),
}
LEAVES = (8, 16, 32)


def surrogates() -> str:
    """R2 of surrogates on held-out rows, and seconds of the calls."""
    lines, held = [], []
    for on in TRIAL:
        found, seconds, cart = surrogates_of(on)
        lines.append((f"{on}, CART", *(f"{value:.3f}" for value in cart), "", "", "", ""))
        lines.append((on, *(f"{value:.3f}" for value in found), f"{seconds[0]:.1f} s", f"{seconds[1]:.1f} s"))
        goals = (*cart, *TRIAL[on][3:])
        names = (*(f"{k} leaves" for k in LEAVES), "additive", "pairs")
        for name, value, goal in zip(names, found, goals, strict=True):
            # The trial's figures have two digits, adult's additive one four.
            if round(value, 4) < goal - (0.005 if name in names[3:] and round(goal, 2) == goal else 0.0):
                held.append(f"{on}, {name}: MISSED: {value:.3f}, below {goal:.3f}")
        if on == "adult":
            held.append(
                f"adult, additive: the best sum of functions of one feature there is, a coefficient for each of its values by least"
                f" squares, has R2 {best_sum(on):.4f} on the very rows that it is fitted to (on held-out rows ours {found[3]:.4f}, the first trial"
                f" {TRIAL[on][3]:.4f}, which is where its figure of 0.89 is from)"
            )
            held.append(
                f"adult: the curve of all sizes in {seconds[0]:.1f} CPU s{'' if seconds[0] <= 5 else ': MISSED'} (goal 5)"
            )
    head = (
        "R2 against HistGradientBoosting (defaults, one-hot columns), explained on the rows that it was fitted to; every R2 is of"
        " five held-out folds, the same for all. CART: DecisionTreeRegressor(max_leaf_nodes=k) on one-hot columns. Seconds:"
        " CPU of ex.surrogate() with its curve over all sizes and its checks, and of the additive model with pairs."
    )
    columns = ("", *(f"{k} leaves" for k in LEAVES), "additive", "pairs", "tree", "pairs, call")
    return "\n\n".join((head, page.table(columns, lines), page.bullets(held or ["nothing is missed"])))


def boosted_predictions(on: str) -> tuple[Any, Any, Any]:
    """Predictions of a boosted model for the rows that it was fitted to, the function that makes them, and its columns."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    X, y, classes = table(on)
    gaps = bool(X.isna().any().any())
    wide = pd.get_dummies(X, dtype=float, dummy_na=gaps)
    model = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(random_state=0).fit(wide, y)

    def predict(rows: Any) -> Any:
        made = pd.get_dummies(rows, dtype=float, dummy_na=gaps).reindex(columns=wide.columns, fill_value=0.0)
        return model.predict_proba(made)[:, 1] if classes else model.predict(made)

    return predict(X), predict, wide


def best_sum(on: str) -> float:
    """The largest R2 that any sum of functions of one feature has on all rows: a coefficient for each value of each."""
    import pandas as pd

    X, _, _ = table(on)
    f = boosted_predictions(on)[0]
    values = [pd.get_dummies(X[name].astype(str), dtype=float).to_numpy() for name in X]
    columns = np.concatenate([each - each.mean(axis=0) for each in values], axis=1)
    centred = f - f.mean()
    beta = np.linalg.lstsq(columns.T @ columns, columns.T @ centred, rcond=1e-12)[0]
    return 1.0 - float(np.square(centred - columns @ beta).sum() / np.square(centred).sum())


def surrogates_of(on: str) -> tuple[list[float], list[float], list[float]]:
    """R2 by surrogate, CPU seconds of the tree and of pairs, and R2 of CART."""
    from sklearn.model_selection import KFold
    from sklearn.tree import DecisionTreeRegressor

    from pellucid import Explainer

    X, y, _ = table(on)
    f, predict, wide = boosted_predictions(on)
    fold = np.empty(len(X), dtype=int)
    for k, (_, out) in enumerate(KFold(FOLDS, shuffle=True, random_state=0).split(X)):
        fold[out] = k
    rows, cart = wide.fillna(wide.median()).to_numpy(), []
    for leaves in LEAVES:
        missed = 0.0
        for k in range(FOLDS):
            grown = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(rows[fold != k], f[fold != k])
            missed += float(np.square(f[fold == k] - grown.predict(rows[fold == k])).sum())
        cart.append(1.0 - missed / float(np.square(f - f.mean()).sum()))
    explainer = Explainer(predict, X, y, progress=False)
    explainer.surrogate(["tree", "ga2m"], rows=range(300), folds=2)  # nothing is loaded or compiled on the clock
    seconds, found = [], []
    for kind in ("tree", "gam", "ga2m"):
        start = time.process_time()
        one = explainer.surrogate(kind, folds=fold)
        seconds.append(time.process_time() - start)
        curve = dict(zip(one.curve.sizes.tolist(), one.curve.held_out.tolist(), strict=True))
        found += [curve[k] for k in LEAVES] if kind == "tree" else [one.overall]
    return found, [seconds[0], seconds[2]], cart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--part", choices=("additive", "splits", "bands", "rows", "short", "rules", "surrogates"), action="append"
    )
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--kept", type=Path, default=HERE / ".glassbox")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--fit", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        rows_fitted(given.fit)
        return
    made = {
        "additive": ("AdditiveModel: score and cost", lambda: additive(given.peers, given.kept)),
        "splits": ("AdditiveModel: credit on other splits", lambda: splits(given.peers, given.kept)),
        "bands": ("AdditiveModel: bands", bands),
        "rows": ("AdditiveModel: rows", rows),
        "short": ("RuleList and ShortTree", lambda: short(given.peers, given.kept)),
        "rules": ("RuleFit", rules),
        "surrogates": ("Surrogates", surrogates),
    }
    if given.write and not (HERE / PAGE).exists():
        page.write(PAGE, "# Glass boxes", page.printed(__file__))
    for part in given.part or made:
        title, measure = made[part]
        text = measure()
        print(f"## {title}\n\n{text}\n", flush=True)
        if given.write:
            page.write_section(PAGE, title, text)


if __name__ == "__main__":
    page.restart_with(page.ONE_THREAD)
    os.environ.setdefault("PELLUCID_DATA", str(HERE.parents[1] / "shared" / "data"))
    main()
