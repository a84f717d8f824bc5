"""Values drawn given the other features: how near conditional importance comes to the truth, at what cost.

    python benchmarks/draws.py [--only ring] [--repetitions 20] [--together] [--write]

27 settings of known truth (`tests/covered/conditional.py`), 500 rows. Of each: the mean ratio of the measured to the true
importance by the copula alone and by what is chosen, how often each way of drawing was, how often the 95% interval covers,
what is missed (`pellucid.data.sampling.missed`), and the CPU seconds for the feature at 500 rows and, for every ninth
setting, at 5,000.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from page import ONE_THREAD, header, printed, restart_with, row, table, write, write_section

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

EACH_LARGE = 9  # of how many settings one is also drawn from 5,000 rows
FIRST_SEED = 1_000  # of repetitions, apart from those that anything was tuned on
HEAD = ("setting", "drawn by", "copula", "chosen", "sd", "covered", "missed", "carried", "CPU s, 500", "CPU s, 5,000")
NEAR, NORMAL = 0.15, 0.03
SIZES = ((5, 500), (10, 500), (10, 5_000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--together", action="store_true", help="only what is drawn given any set of columns")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    restart_with(ONE_THREAD)
    if options.together:
        together(options.repetitions, options.write)
        return
    import numpy as np

    from covered import conditional

    lines, beyond, shares = [header(HEAD, 2)], [], []
    print(lines[0], flush=True)
    for place, setting in enumerate(conditional.SETTINGS):
        if options.only not in setting.name:
            continue
        found = [conditional.measured(setting, 500, FIRST_SEED + r) for r in range(options.repetitions)]
        truth = setting.truth()
        ratios = np.array([one.importance.value for one in found]) / truth
        covered = np.mean([one.importance.low <= truth <= one.importance.high for one in found])
        names = Counter(one.drawn.choice.name for one in found)
        goal = NORMAL if setting.name.startswith("normal") else NEAR
        error = ratios.std(ddof=1) / np.sqrt(len(ratios))
        if abs(ratios.mean() - 1) > goal:
            beyond.append(f"{setting.name} ({ratios.mean():.2f} ± {1.96 * error:.2f})")
        shares.append(covered)
        cells = (
            setting.name,
            ", ".join(f"{name} {count}" for name, count in names.most_common()),
            f"{np.mean([one.copula for one in found]) / truth:.2f}",
            f"{ratios.mean():.2f}",
            f"{ratios.std(ddof=1):.2f}",
            f"{covered:.0%}",
            f"{np.mean([one.drawn.missed.association for one in found]):.2f}",
            f"{np.mean([one.importance.carried for one in found]):.2f}",
            f"{min(one.seconds for one in found):.2f}",
            f"{conditional.measured(setting, 5_000, FIRST_SEED).seconds:.1f}"
            if place % EACH_LARGE == EACH_LARGE - 1
            else "",
        )
        lines.append(row(cells))
        print(lines[-1], flush=True)
    summary = (
        f"Intervals covered in {np.mean(shares):.0%} of all cases. Beyond 15% (normal features: 3%) of the truth:"
        f" {'; '.join(beyond) or 'none'}."
    )
    print(summary)
    if options.write:
        what = (
            f"Conditional importance of one feature, {options.repetitions} repetitions of 500 rows: the mean ratio of the"
            " measured to the true value (1 is right) by the copula alone and by what pellucid chooses, the standard"
            " deviation of a single one, how often the 95% interval for the population holds the truth, what the draws"
            " miss (0 to 1; a caveat from 0.3), the share of the importance that ten rows carry (a caveat from 0.4), the least CPU seconds for the feature. The truth is worked out from the"
            " density that rows are drawn from."
        )
        write("DRAWS.md", "# Values drawn given the other features", what, "\n".join(lines), summary, printed(__file__))


def together(repetitions: int, written: bool) -> None:
    """Conditional Shapley values, Shapley effects and groups: how near to the truth, and what they cost."""
    import numpy as np

    from covered import together as cases

    lines = []
    for setting in cases.SETTINGS:
        found = {
            how: [cases.measured(setting, 500, FIRST_SEED + r, how) for r in range(repetitions)]
            for how in ("auto", "neighbours" if setting.category else "copula")
        }
        (shown, seen), (blind, unseen) = found.items()
        values = [f"{np.mean([one.values for one in each]):.3f}".replace("nan", "") for each in (seen, unseen)]
        effects = f"{np.mean([one.effects for one in seen]):.3f}"
        lines.append((setting.name, blind, *reversed(values), effects))
        print(lines[-1], shown, flush=True)
    spent = [(str(p), f"{n:,}", *(f"{s:.1f}" for s in cases.costs(p, n, FIRST_SEED))) for p, n in SIZES]
    parts = (
        f"Error of the conditional Shapley values of 50 rows (mean, {repetitions} repetitions of 500 rows) without curves and"
        " with what is chosen, and the largest error of the Shapley effects; CPU seconds of tables of two features that"
        " follow others and some that do not.",
        table(("setting", "without curves", "error", "chosen", "effects"), lines, 2),
        table(("features", "rows", "shap, first row", "next row", "effects", "a group"), spent, 2),
    )
    print("\n\n".join(parts))
    if written:
        write_section("DRAWS.md", "Any columns given any others", *parts)


if __name__ == "__main__":
    main()
