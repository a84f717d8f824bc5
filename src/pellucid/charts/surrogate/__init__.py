"""Surrogates: the tree with its leaves, coefficients, R² against size, and where the surrogate fails."""

from __future__ import annotations

from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.doorway import draw
from pellucid.charts.layout import told
from pellucid.charts.surrogate.coefficients import coefficients
from pellucid.charts.surrogate.leaves import leaves
from pellucid.charts.surrogate.size import size_curve
from pellucid.charts.surrogate.subgroups import subgroups
from pellucid.charts.surrogate.tree import tree
from pellucid.charts.text import caveat_note
from pellucid.errors import InputError
from pellucid.explanations import Surrogate
from pellucid.explanations.plot_options import SurrogateOptions
from pellucid.explanations.surrogate_words import findings_on

_WHAT = {
    "tree": "Surrogate tree: conditions, and the distribution of the model's predictions in each leaf",
    "leaves": "Leaves of the surrogate tree: the model's predictions in each",
    "coefficients": "Linear surrogate: what each feature adds",
    "size": "R² on held-out rows against the size of the surrogate",
    "subgroups": "Parts of the data by how far the surrogate misses the model (RMSE on held-out rows)",
    "fidelity": "R² on held-out rows",
}


def body(found: Surrogate, options: SurrogateOptions) -> ChartType:
    """The Altair chart of a surrogate."""
    known = shown_kinds(found)
    kind = options.kind if options.kind != "auto" else known[0]
    if kind not in known:
        raise InputError(f"kind must be one of {', '.join(['auto', *known])} for this surrogate, got {options.kind!r}.")
    if kind == "inside" and found.inside is not None:
        return draw(found.inside, **({"title": options.title} if options.title else {})).altair
    output = place_of(found, options.output)
    view, width = {
        "tree": tree,
        "leaves": leaves,
        "coefficients": coefficients,
        "size": size_curve,
        "subgroups": subgroups,
    }[kind](found, options, output)
    said = findings_on(found, kind)
    return told(view, found, options, _WHAT[kind], [caveat_note(found)], width or theme.WIDTH, finding=said)


def shown_kinds(found: Surrogate) -> list[str]:
    """The charts that this surrogate has, the usual one first."""
    return [
        *(["tree", "leaves"] if found.tree is not None else []),
        *(["coefficients"] if found.terms is not None and len(found.terms.features) else []),
        *(["inside"] if found.inside is not None else []),
        "size",
        *(["subgroups"] if found.subgroups else []),
    ]


def place_of(found: Surrogate, output: str | None) -> int:
    """The position of an output by its name."""
    if output is None:
        return 0
    if output not in found.output_names:
        raise InputError(f"output must be one of {', '.join(found.output_names)}, got {output!r}.")
    return found.output_names.index(output)
