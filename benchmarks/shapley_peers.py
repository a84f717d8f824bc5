"""The estimators compared by benchmarks/shapley.py: each maps a game, its players, a budget and a seed to values."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import shap
import shapiq.approximator as shapiq_estimators

import pellucid

Value = Callable[[np.ndarray], np.ndarray]
Estimate = Callable[[Value, int, int, int], "np.ndarray | None"]
SHAP = "shap KernelExplainer"
SLOW = ("ProxySPEX",)  # seconds for each answer: asked for two rows and one seed only


def ours(method: str, **options: Any) -> Estimate:
    def estimate(value: Value, players: int, budget: int, seed: int) -> np.ndarray | None:
        few = method == "permutation" and budget < 32 * players
        if few or (options and players < 20):  # trees as stand-ins are for many players
            return None
        found = pellucid.shapley(
            value, players, method=method, budget=budget, random_state=seed, progress=False, **options
        )
        return found.values[0]

    return estimate


def shap_kernel(value: Value, players: int, budget: int, seed: int) -> np.ndarray:
    """The masks themselves are the data: absent is 0, present 1. The seed is numpy's global one."""
    np.random.seed(seed)  # noqa: NPY002
    explainer = shap.KernelExplainer(lambda A: value(A > 0.5), np.zeros((1, players)))
    return explainer.shap_values(np.ones((1, players)), nsamples=budget, l1_reg=False, silent=True)[0]


def shapiq(name: str, *, most: int = 10_000, **options: Any) -> Estimate:
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
        for players_of, position in found.interaction_lookup.items():
            if len(players_of) == 1:
                values[players_of[0]] = found.values[position]
        return values if values.any() else None

    return estimate


def _asked(value: Value, coalitions: Any) -> Any:
    """Some estimators ask for one coalition at a time, without the axis of coalitions."""
    some = np.asarray(coalitions, dtype=bool)
    return value(some) if some.ndim == 2 else value(some[None])


OURS = ("pellucid kernel", "pellucid trees", "pellucid permutation")
PEERS: dict[str, Estimate] = {
    "pellucid kernel": ours("kernel"),
    "pellucid trees": ours("kernel", proxy="trees"),
    "pellucid permutation": ours("permutation"),
    SHAP: shap_kernel,
    "shapiq KernelSHAP": shapiq("KernelSHAP"),
    "KernelSHAP, pairs": shapiq("KernelSHAP", pairing_trick=True),
    "kADDSHAP": shapiq("kADDSHAP", max_order=2),
    # Of more players it would solve for tens of thousands of interactions.
    "kADDSHAP 3, pairs": shapiq("kADDSHAP", max_order=3, pairing_trick=True, most=30),
    "ProxySPEX": shapiq("ProxySPEX", index="SII", max_order=1),
    "Unbiased": shapiq("UnbiasedKernelSHAP"),
    "SVARM": shapiq("SVARM"),
    "Permutation": shapiq("PermutationSamplingSV"),
    "Stratified": shapiq("StratifiedSamplingSV"),
    "Owen": shapiq("OwenSamplingSV", n_anchor_points=10),
}
