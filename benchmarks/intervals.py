"""How often 95% intervals cover what they are about, in settings whose truth is known.

    python benchmarks/intervals.py [--only "permutation importance"] [--repetitions 200]

For every setting: the share of all intervals that cover, and that of the number that is covered least often.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from covered import (
    conditional,
    contributions,
    dependence,
    effects,
    importance,
    interactions,
    local,
    shapley,
    tests_of_nothing,
    variances,
)

ROOMS = (
    importance,
    conditional,
    dependence,
    contributions,
    interactions,
    shapley,
    variances,
    effects,
    tests_of_nothing,
    local,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--repetitions", type=int, default=200)
    options = parser.parse_args()
    print("| method | setting | of | coverage | least | seconds |\n|---|---|---|--:|--:|--:|")
    for room in ROOMS:
        for case in room.CASES():
            if options.only.lower() not in f"{case.method}: {case.name}".lower():
                continue
            start = time.process_time()
            covered = case.covered(min(options.repetitions, case.often))
            each = np.nanmean(covered, axis=0)
            spent = time.process_time() - start
            print(
                f"| {case.method} | {case.name} | {case.about} | {np.nanmean(covered):.1%} | {each.min():.1%} |"
                f" {spent:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
