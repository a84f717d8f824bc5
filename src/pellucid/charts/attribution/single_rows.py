"""Pictures of single rows below each other."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
from altair.typing import ChartType

from pellucid.explanations import Attribution
from pellucid.explanations.plot_options import AttributionOptions

Picture = Callable[[Attribution, str, AttributionOptions, float, int], ChartType]


def below_each_other(
    picture: Picture, one: Attribution, output: str, options: AttributionOptions, width: float, most: int
) -> ChartType:
    """The picture of the only row, or those of the first ``most`` rows, each under its number."""
    if len(one) == 1:
        return picture(one, output, options, width, 0)
    named = [
        picture(one, output, options, width, i).properties(title=alt.TitleParams(f"row {i}", fontSize=12))
        for i in range(min(len(one), most))
    ]
    return alt.vconcat(*named)
