"""scikit-learn pipelines: steps that work column by column, then trees.

The matrix is made by the transformers themselves; which input column each of its columns comes from is known to
`pellucid.models.columnwise`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pellucid.arrays import FloatArray
from pellucid.models.columnwise import Mixing, chained, is_absent
from pellucid.models.quiet import quietly
from pellucid.trees.convert.registry import convert as convert_any
from pellucid.trees.convert.tables import dense
from pellucid.trees.convert.tree_model import TreeModel, Unsupported


@dataclass(frozen=True, eq=False)
class _Steps:
    """The transformers one after another, then the model's own encoding."""

    steps: tuple[Any, ...]
    final: TreeModel

    def __call__(self, table: Any) -> FloatArray:
        with quietly():
            for step in self.steps:
                table = step.transform(table)
        return self.final.encode(dense(table, self.final.fill))


def convert(model: Any) -> TreeModel:
    """The trees at the end of a pipeline, on its input columns."""
    last = model.steps[-1][1]
    if is_absent(last):
        raise Unsupported(f"{type(model).__name__} ends with {last!r}: it holds no model")
    final = convert_any(last)
    steps = tuple(step for _, step in model.steps[:-1] if not is_absent(step))
    if not steps:
        return final
    try:
        source = chained(steps)
    except Mixing as reason:
        raise Unsupported(str(reason)) from None
    return replace(
        final, encode=_Steps(steps, final), source=final.source if source is None else source[final.source], fill=0.0
    )
