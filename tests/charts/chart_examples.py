"""Results made by hand: realistic ones and nasty ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.explanations import Associations, AtMissing, Attribution, Caveat, Colouring, Effect, Importance
from pellucid.explanations.attribution import Entries, InteractionValues, Reference
from pellucid.explanations.explanation import headed
from pellucid.runner import Cost
from pellucid.stats import interval

CLASSES = ("setosa", "versicolor", "virginica", "unknown species", "other")
NASTY = "a \"quoted\" [name].with\\dots {and}\nnew lines 'n' ünïcödé 特徴 </script>"
COMMON: dict[str, Any] = {"cost": Cost(0, 0.0, 0, 0.0), "settings": {}}


def numbers(n: int = 400, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(15, 8, n).clip(-8, 35)


def outputs_last(curve: np.ndarray, n_outputs: int) -> np.ndarray:
    if n_outputs == 1:
        return curve
    return np.stack([curve * (1 - 0.3 * k) + 0.1 * k for k in range(n_outputs)], axis=-1)


def effect(
    grid: Any = None,
    curve: Any = None,
    *,
    method: str = "pdp",
    kind: str = "numeric",
    name: str = "temperature",
    outputs: tuple[str, ...] = ("prediction",),
    scale: str = "response",
    rug: Any = None,
    counts: Any = None,
    se: Any = None,
    **more: Any,
) -> Effect:
    """A 1-D effect; by default a smooth curve over temperature."""
    data = numbers() if rug is None else np.asarray(rug)
    grid = np.linspace(-8, 35, 50) if grid is None else np.asarray(grid)
    at = np.arange(len(grid)) if grid.dtype.kind in "OUbM" else grid.astype(float)
    curve = 4500 + 60 * at - 2.2 * (at - 15) ** 2 if curve is None else np.asarray(curve, dtype=float)
    values = outputs_last(curve, len(outputs))
    if counts is None and grid.dtype.kind in "OUb":
        counts = np.array([(data == level).sum() for level in grid], dtype=float)
    elif counts is None and method == "ale":
        counts = np.histogram(data.astype(float), grid.astype(float))[0].astype(float)
    elif counts is None and grid.dtype.kind == "M":
        counts = np.full(len(grid), 10.0)
    elif counts is None:
        nearest = np.abs(data[:, None] - grid[None, :]).argmin(axis=1)
        counts = np.bincount(nearest, minlength=len(grid)).astype(float)
    se = 0.02 * np.abs(values) + 0.01 if se is None else outputs_last(np.asarray(se, dtype=float), len(outputs))
    fields = {
        "values": values, "se": se, "average": values, "feature_names": (name,), "output_names": outputs,
        "scale": scale, "method": method, "kinds": (kind,), "grids": (grid,), "counts": counts,
        "spread": np.abs(values) * 0.1, "rug": (data,), "shape": ("complex",) * len(outputs),
        "level": np.full(len(outputs), np.nan), **COMMON,
    }  # fmt: skip
    return _effect({**fields, **more})


def _effect(fields: dict[str, Any]) -> Effect:
    """With the intervals that follow from the standard errors, unless there are others."""
    fields["settings"] = {**fields["settings"], "center": fields.pop("center", None)}
    if fields.get("individual"):
        low = high = fields["se"]
    else:
        with np.errstate(invalid="ignore"):  # log-odds may be infinite
            low, high = interval(fields["values"], fields["se"])
    return Effect(**headed({"low": low, "high": high, **fields}))


def ale(edges: Any = None, **more: Any) -> Effect:
    edges = np.quantile(numbers(), np.linspace(0, 1, 21)) if edges is None else np.asarray(edges)
    curve = more.pop("curve", 60 * (edges - 15) - 2.2 * (edges - 15) ** 2)
    return effect(edges, curve, method="ale", **more)


def levels(names: Any = None, curve: Any = None, **more: Any) -> Effect:
    names = ["spring", "summer", "autumn", "winter"] if names is None else names
    grid = np.array(names, dtype=object) if not isinstance(names, np.ndarray) else names
    generator = np.random.default_rng(1)
    rug = generator.choice(grid, 400)
    curve = 4000 + 1000 * generator.normal(size=len(grid)) if curve is None else curve
    return effect(grid, curve, kind=more.pop("kind", "categorical"), name=more.pop("name", "season"), rug=rug, **more)


def individual(
    n: int = 300,
    grid: Any = None,
    *,
    colouring: Any = "numeric",
    derivative: bool = False,
    outputs: tuple[str, ...] = ("prediction",),
    **more: Any,
) -> Effect:
    """ICE curves whose slope depends on humidity."""
    grid = np.linspace(-8, 35, 40) if grid is None else np.asarray(grid)
    at = np.arange(len(grid)) if grid.dtype.kind in "OUb" else grid.astype(float)
    humidity = np.random.default_rng(3).uniform(20, 100, n)
    noise = np.random.default_rng(4).normal(0, 400, n)
    curves = 3000 + noise[:, None] + (100 - humidity)[:, None] * at[None, :] * 1.2
    if derivative:
        curves = 100 - humidity[:, None] + 10 * np.sin(at / 6)[None, :] * (humidity[:, None] > 60)
    values = outputs_last(curves, len(outputs))
    colours = {
        "numeric": Colouring("humidity", humidity, 0.62),
        "nominal": Colouring("is humid", np.where(humidity > 60, "humid", "dry").astype(object), 0.4),
        None: None,
    }
    nominal = grid.dtype.kind in "OUb"
    rug = np.random.default_rng(1).choice(grid, 400) if nominal else None
    return effect(
        grid, curves.mean(axis=0), method="ice", rug=rug, outputs=outputs, kind="categorical" if nominal else "numeric",
        values=values, se=np.full(values.shape, np.nan), average=values.mean(axis=0), spread=values.std(axis=0),
        individual=True, derivative=derivative, rows=np.arange(n),
        colouring=colours[colouring] if isinstance(colouring, str | None) else colouring, **more,
    )  # fmt: skip


def surface(
    first: Any = None,
    second: Any = None,
    *,
    method: str = "pdp",
    outputs: tuple[str, ...] = ("prediction",),
    kinds: tuple[str, str] = ("numeric", "numeric"),
    names: tuple[str, str] = ("temperature", "humidity"),
    function: Any = None,
    **more: Any,
) -> Effect:
    """A 2-D effect; for ALE numeric grids are edges and counts belong to cells."""
    generator = np.random.default_rng(5)
    first = np.linspace(-8, 35, 25) if first is None else np.asarray(first)
    second = np.linspace(20, 100, 25) if second is None else np.asarray(second)
    at = [
        np.arange(len(g)) / len(g) if g.dtype.kind in "OUbM" else (g - g.min()) / (np.ptp(g) or 1)
        for g in (first, second)
    ]
    signed = (lambda a, b: (a - 0.5) * (b - 0.5)) if method == "ale" else (lambda a, b: a**2 + 0.5 * b + a * b)
    values = outputs_last((function or signed)(*np.meshgrid(*at, indexing="ij")) * 1000, len(outputs))
    base = generator.uniform(0, 1, 400)
    other = np.clip(base + generator.normal(0, 0.15, 400), 0, 1)
    rug = tuple(g[np.clip((share * len(g)).astype(int), 0, len(g) - 1)] if g.dtype.kind in "OUbM" else g.min() + share * np.ptp(g)
                for g, share in ((first, base), (second, other)))  # fmt: skip
    shape = tuple(len(g) - (method == "ale" and g.dtype.kind not in "OUb") for g in (first, second))
    cells = [np.clip((share * size).astype(int), 0, size - 1) for share, size in zip((base, other), shape, strict=True)]
    counts = np.zeros(shape)
    np.add.at(counts, tuple(cells), 1.0)
    fields = {
        "values": values, "se": np.full(values.shape, np.nan), "average": values, "feature_names": names,
        "output_names": outputs, "scale": "response", "method": method, "kinds": kinds, "grids": (first, second),
        "counts": counts, "spread": np.zeros(values.shape), "rug": rug, "shape": ("surface",) * len(outputs),
        "level": np.full(len(outputs), np.nan), **COMMON,
    }  # fmt: skip
    return _effect({**fields, **more})


def three(
    third: Any = None, *, kind: str = "numeric", outputs: tuple[str, ...] = ("prediction",), **more: Any
) -> Effect:
    """An ALE effect of three features: bins of the first two, bins or levels of the third."""
    first, second = np.linspace(0, 5, 6), np.linspace(20, 100, 5)
    third = np.linspace(0, 9, 10) if third is None else np.asarray(third)
    nominal = kind != "numeric"
    at = [np.linspace(-1, 1, len(g)) for g in (first, second, third)]
    values = outputs_last(np.einsum("i,j,k->ijk", *at) * 100, len(outputs))
    generator = np.random.default_rng(7)
    counts = generator.poisson(2.0, (5, 4, len(third) - (not nominal))).astype(float)
    base = generator.uniform(size=(3, 200))
    rug = (first[0] + 5 * base[0], second[0] + 80 * base[1],
           third[(base[2] * len(third)).astype(int)] if nominal else 9 * base[2])  # fmt: skip
    fields = {
        "values": values, "se": np.full(values.shape, np.nan), "average": values, "scale": "response",
        "feature_names": more.pop("names", ("temperature", "humidity", "wind")), "output_names": outputs,
        "method": "ale", "kinds": ("numeric", "numeric", kind), "grids": (first, second, third),
        "counts": counts, "spread": np.zeros(values.shape), "rug": rug, "shape": ("surface",) * len(outputs),
        "level": np.full(len(outputs), np.nan), **COMMON,
    }  # fmt: skip
    return _effect({**fields, **more})


def importance(
    names: Any = None,
    *,
    compare: str = "difference",
    seed: int = 0,
    outputs: tuple[str, ...] = ("prediction",),
    size: float = 1.0,
    **more: Any,
) -> Importance:
    names = (
        ("temperature", "days since 2011", "humidity", "season", "wind speed", "holiday") if names is None else names
    )
    generator = np.random.default_rng(seed)
    centre = np.sort(generator.exponential(0.3, len(names)))[::-1] - 0.02
    shape = (len(names), 10) if len(outputs) == 1 else (len(names), 10, len(outputs))
    repeats = size * (centre.reshape(-1, *([1] * (len(shape) - 1))) + generator.normal(0, 0.02, shape))
    repeats = repeats + (1.0 if compare == "ratio" else 0.0)
    values, se = repeats.mean(axis=1), repeats.std(axis=1) / np.sqrt(10)
    fields = {
        "values": values, "se": se, "feature_names": tuple(names), "output_names": outputs, "scale": "response",
        "method": "permutation", "measure": "mean squared error", "compare": compare,
        "low": values - 6 * se, "high": values + 6 * se, "repeats": repeats, **COMMON,
    }  # fmt: skip
    return Importance(**headed({**fields, **more}))


def associations(n: int = 7, names: Any = None, **more: Any) -> Associations:
    generator = np.random.default_rng(2)
    factors = generator.normal(size=(500, 2))
    columns = factors[:, np.arange(n) % 2] * np.linspace(1, 0.2, n) + generator.normal(0, 0.5, (500, n))
    names = tuple(f"feature number {j}" for j in range(n)) if names is None else tuple(names)
    values = np.abs(np.corrcoef(columns.T)).reshape(n, n)
    fields = {"values": values, "se": np.full((n, n), np.nan), "feature_names": names}
    return Associations(**headed({**fields, "output_names": ("prediction",), "scale": "association", **COMMON, **more}))


def attribution(
    n: int = 1, names: Any = None, *, outputs: tuple[str, ...] = ("prediction",), size: float = 300.0, **more: Any
) -> Attribution:
    """Contributions of numbers, a category and a date, some of them missing."""
    names = ("temperature", "season", "wind speed", "day", "holiday") if names is None else tuple(names)
    generator = np.random.default_rng(3)
    shape = (n, len(names)) if len(outputs) == 1 else (n, len(names), len(outputs))
    scales = np.linspace(1, 0.05, len(names)).reshape(-1, *[1] * (len(shape) - 2))
    values = size * scales * generator.normal(size=shape)
    base = np.asarray(4500.0) if len(outputs) == 1 else 0.1 * np.arange(1.0, len(outputs) + 1)
    temperature = numbers(n)
    temperature[::5] = np.nan
    kinds: list[Any] = [
        temperature,
        generator.choice(np.array(["spring", "summer", None], dtype=object), n),
        generator.gamma(2, 5, n),
        np.datetime64("2011-01-01", "us") + np.arange(n).astype("timedelta64[D]"),
        generator.random(n) < 0.5,
    ]
    fields = {
        "values": values, "se": np.zeros(shape), "feature_names": names, "output_names": outputs,
        "scale": "response" if len(outputs) == 1 else "probability", "method": "exact", "game": "marginal",
        "base": base, "prediction": base + values.sum(axis=1),
        "reference": Reference(100), **COMMON,
    }  # fmt: skip
    data = more.pop("data", tuple(kinds[j % 5] for j in range(len(names))))
    return Attribution(entries=Entries(data), **headed({**fields, **more}))


def with_pairs(n: int = 30, **more: Any) -> Attribution:
    """Contributions with interaction values whose rows sum to them."""
    found = attribution(n, **more)
    p = len(found.feature_names)
    pairs = np.random.default_rng(4).normal(size=(n, p, *found.values.shape[1:]))
    pairs = (pairs + np.swapaxes(pairs, 1, 2)) / 2
    own = np.arange(p)
    pairs[:, own, own] += found.values - pairs.sum(axis=2)
    return replace(found, interactions=InteractionValues(pairs))


ONE_ROW_KINDS = ("waterfall", "force", "bar", "decision")
KINDS = (*ONE_ROW_KINDS, "beeswarm", "stacked", "dependence", "interactions", "heatmap", "violin")


def attribution_cases() -> dict[str, Any]:
    """Every kind of chart of contributions, of realistic and of nasty results: a name and how to draw it."""
    from pellucid.charts import draw

    scenes = {
        "one row": lambda: with_pairs(1),
        "many rows": lambda: with_pairs(200),
        "classes": lambda: with_pairs(40, outputs=CLASSES[:3], size=0.1),
        "one row of classes": lambda: with_pairs(1, outputs=CLASSES[:2], size=0.1),
        "one feature": lambda: with_pairs(20, names=["only"]),
        "one row of one feature": lambda: with_pairs(1, names=["only"]),
        "sixty features": lambda: with_pairs(12, names=[f"f{j} {NASTY}" for j in range(60)]),
        "nothing": lambda: replace(attribution(9, size=0.0), interactions=InteractionValues(np.zeros((9, 5, 5)))),
        "estimates": lambda: replace(with_pairs(6), se=np.full((6, 5), 20.0)),
        "an estimate": lambda: replace(with_pairs(1), se=np.full((1, 5), 20.0)),
        "nasty names": lambda: with_pairs(9, names=(NASTY, "prediction", "average prediction", "2 others", "x")),
        "sparse": lambda: with_pairs(9).sparse(2),
        "a contrast": lambda: with_pairs(9).contrast(4),
        "groups": lambda: with_pairs(9).group({NASTY: ["day", "season"]}),
    }
    cases = {
        f"{kind} of {name}": (lambda scene=scene, kind=kind: draw(scene(), kind=kind))
        for kind in KINDS
        for name, scene in scenes.items()
    }
    options = {
        "stacked": [{"order": "given"}, {"order": "prediction"}, {"clusters": 3}, {"clusters": 50}],
        "dependence": [{"feature": name} for name in ("season", "day", "holiday", "wind speed")]
        + [{"colour": None}, {"colour": "season"}, {"colour": "day"}, {"colour": "holiday"}],
        "bar": [{"aggregate": "sum", "width": 90, "height": 40}],
        "force": [{"max_display": 2, "width": 60}],
    }
    for kind, choices in options.items():
        for n, choice in enumerate(choices):
            cases[f"{kind} with options {n}"] = lambda kind=kind, choice=choice: draw(
                with_pairs(60), kind=kind, **choice
            )
    return cases


def caveat() -> Caveat:
    return Caveat("correlated", "temperature is correlated with season (0.8).", 0.8, 0.5, "Compare with ALE.")


def at_missing(value: Any = 4000.0, se: Any = 150.0, share: float = 0.04) -> AtMissing:
    return AtMissing(np.asarray(value), np.asarray(se), share)
