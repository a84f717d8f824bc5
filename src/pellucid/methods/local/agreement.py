"""One prediction explained in several ways, side by side.

Reference. Krishna, Han, Gu, Wu, Jabbari and Lakkaraju 2022, "The disagreement problem in explainable machine learning".

Definition. phi (features) are the Shapley values of the row, e the effects in its local model (weight times distance
from an average row), and R the features of a rule that fixes the prediction. Compared are

    likeness = phi . e / (|phi| |e|),    overlap = features among the three largest of both,    on_rule = sum_R |phi| /
    sum |phi|

Cosines do not depend on units; log-odds beside probabilities are compared with a caveat.

When it misleads. Ways that agree may be wrong together: all three ask the model about rows in which features are moved
one by one. And ways that disagree may be right together: they answer different questions (see docs/lime.md and
docs/anchors.md).

Cost. None: the explanations are given.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from pellucid.diagnostics.by_method import agreement_caveats
from pellucid.errors import InputError
from pellucid.explanations import Agreement, Anchor, Attribution, Header, LocalAttribution, changed

Kind = TypeVar("Kind", bound=Attribution)


def agreement(
    contributions: Attribution,
    local: LocalAttribution,
    rule: Anchor | None = None,
    *,
    output: str | None = None,
    checks: bool = True,
) -> Agreement:
    """Whether Shapley values, a local model and (if given) a rule say the same of one row.

    ``output`` chooses one of several outputs, by default the first. ``checks=False`` leaves out the caveats.

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> ex = pellucid.Explainer(lambda X: 2 * X[:, 0] - X[:, 1], X, feature_names=["temp", "hum", "wind"])
    >>> both = pellucid.agreement(ex.shap(0), ex.lime(0), ex.anchor(0))
    >>> round(both.likeness, 2), both.overlap()
    (1.0, 1.0)
    """
    one, near = _single(contributions, output, "contributions"), _single(local, output, "local")
    if one.feature_names != near.feature_names:
        raise InputError(
            f"contributions are about {', '.join(one.feature_names[:3])}, ..., local about"
            f" {', '.join(near.feature_names[:3])}, ...; use the same Explainer for both, with the same groups."
        )
    if rule is not None and rule.feature_names != one.feature_names:
        raise InputError("rule is about other features than contributions; use the same Explainer for both.")
    _same_row(one, near)
    result = Agreement(
        values=np.column_stack([one.values[0], near.values[0]]),
        se=np.column_stack([one.se[0], near.se[0]]),
        header=Header(
            feature_names=one.feature_names,
            output_names=one.output_names,
            scale=one.scale,
            cost=one.cost,
            library=one.library,
            settings={"method": "agreement", "contributions": one.method, "features": len(one.feature_names)},
        ),
        contributions=one,
        local=near,
        rule=rule,
    )
    return changed(result, caveats=tuple(agreement_caveats(result)) if checks else ())


def _single(given: Kind, output: str | None, name: str) -> Kind:
    """One row and one output of an explanation."""
    if len(given) != 1:
        raise InputError(
            f"{name} explains {len(given)} rows; give one of them, as in agreement(shap.row(0), lime.row(0))."
        )
    return given.for_output(given.output_names[0] if output is None else output)


def _same_row(one: Attribution, near: LocalAttribution) -> None:
    """Refuses explanations of different rows, where their values show it."""
    for name, mine, theirs in zip(one.feature_names, one.data, near.data, strict=True):
        if str(mine[0]) != str(theirs[0]):
            raise InputError(
                f"contributions and local explain different rows: {name} is {mine[0]} in one and {theirs[0]} in the"
                " other."
            )
