"""The estimators compared by benchmarks/shapley.py: each maps a game, its players, a budget and a seed to values."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import shap
import shapiq.approximator as shapiq_estimators

import pellucid
from shapley_problems import Value

Estimate = Callable[[Value, int, int, int], "np.ndarray | None"]
OURS, SHAP = "pellucid", "shap KernelExplainer"


@dataclass(frozen=True)
class Limit:
    """What is asked of an estimator: one that takes long for an answer is asked for less."""

    rows: int = 10**9
    seeds: int = 10**9
    budget: int = 10**9
    problems: tuple[str, ...] = ()  # empty: all


SLOW = {
    # A minute or more for each answer.
    "ProxySPEX": Limit(1, 1, 256, ("MLP, 12 features", "SVR, 12 features")),
    "ShaplEIG": Limit(2, 1, 256, ("MLP, 12 features", "SVR, 12 features", "XGBoost, 12 features")),
    # Half a second, or one coalition at a time.
    "ProxySPEX, hpo=False": Limit(2, 1),
    "StratifiedSampling": Limit(2, 1),
    "OwenSampling": Limit(2, 1),
}


def ours(**options: Any) -> Estimate:
    def estimate(value: Value, players: int, budget: int, seed: int) -> np.ndarray | None:
        if options["method"] == "permutation" and budget < 32 * players:
            return None
        found = pellucid.shapley(value, players, budget=budget, random_state=seed, progress=False, **options)
        return found.values[0]

    return estimate


def shap_kernel(value: Value, players: int, budget: int, seed: int) -> np.ndarray:
    """The masks themselves are the data: absent is 0, present 1. The seed is numpy's global one."""
    np.random.seed(seed)  # noqa: NPY002
    explainer = shap.KernelExplainer(lambda A: value(A > 0.5), np.zeros((1, players)))
    return explainer.shap_values(np.ones((1, players)), nsamples=budget, l1_reg=False, silent=True)[0]


def shapiq(name: str, *, most: int = 10_000, **options: Any) -> Estimate:
    """An estimator of shapiq, for ``most`` players at most."""

    def estimate(value: Value, players: int, budget: int, seed: int) -> np.ndarray | None:
        if players > most:
            return None
        nobody = float(value(np.zeros((1, players), dtype=bool))[0])
        kind = getattr(shapiq_estimators, name)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            approximator = kind(n=players, random_state=seed, **options)
            found = approximator.approximate(budget, lambda S: _asked(value, S) - nobody)
        values = np.zeros(players)
        for players_of, worth in found.interactions.items():
            if len(players_of) == 1:
                values[players_of[0]] = worth
        return values if values.any() else None

    return estimate


def _asked(value: Value, coalitions: Any) -> Any:
    """Some estimators ask for one coalition at a time, without the axis of coalitions."""
    some = np.asarray(coalitions, dtype=bool)
    return value(some) if some.ndim == 2 else value(some[None])


ESTIMATORS: dict[str, Estimate] = {
    OURS: ours(method="kernel"),
    "pellucid, proxy of trees": ours(method="kernel", proxy="trees"),
    "pellucid, permutation": ours(method="permutation"),
    SHAP: shap_kernel,
    "KernelSHAP": shapiq("KernelSHAP"),
    "KernelSHAP, pairs": shapiq("KernelSHAP", pairing_trick=True),
    "LeverageSHAP": shapiq("LeverageSHAP"),
    "kADDSHAP": shapiq("kADDSHAP", max_order=2),
    # Of more players it would solve for tens of thousands of interactions.
    "kADDSHAP 3, pairs": shapiq("kADDSHAP", max_order=3, pairing_trick=True, most=30),
    "PolySHAP": shapiq("PolySHAP"),
    "PolySHAP, pairs": shapiq("PolySHAP", pairing_trick=True),
    "PolySHAP 3, pairs": shapiq("PolySHAP", max_order=3, pairing_trick=True, most=30),
    "OddSHAP": shapiq("OddSHAP"),
    "ProxySHAP": shapiq("ProxySHAP", index="SV", max_order=1),
    "ProxySHAP, adjusted": shapiq("ProxySHAP", index="SV", max_order=1, adjustment=True),
    "RegressionMSR": shapiq("RegressionMSR", index="SV"),
    "RegressionMSR, 5 folds": shapiq("RegressionMSR", index="SV", k_folds=5),
    "ProxySPEX": shapiq("ProxySPEX", index="SII", max_order=1),
    "ProxySPEX, hpo=False": shapiq("ProxySPEX", index="SII", max_order=1, hpo=False),
    "ShaplEIG": shapiq("ShaplEIG", refit="decaying", show_progress=False),
    "UnbiasedKernelSHAP": shapiq("UnbiasedKernelSHAP"),
    "SVARM": shapiq("SVARM"),
    "PermutationSampling": shapiq("PermutationSamplingSV"),
    "StratifiedSampling": shapiq("StratifiedSamplingSV"),
    "OwenSampling": shapiq("OwenSamplingSV", n_anchor_points=10),
}
