"""Writes docs/charts.md from the declarations of the options: python docs/make_charts_page.py"""

from __future__ import annotations

from pathlib import Path

import pellucid
import pellucid.parts
from pellucid.explanations.option import PlotOptions, table
from pellucid.explanations.plot_options import AttributionOptions, PanelOptions

RESULTS = {
    "Effect": "`pdp`, `ice`, `ale`, `mplot`",
    "Performance": "`performance`",
    "Counterfactuals": "`counterfactuals` and `adversarial`",
    "FragileRows": "`adversarial` of several rows",
    "Prototypes": "`prototypes`",
    "Neighbors": "`neighbors`",
    "Influence": "`influence`",
    "Triage": "`triage`",
    "Poisoning": "`poisoning`",
    "RobustFit": "`robust`",
    "Surrogate": "`surrogate`",
    "Surrogates": "`surrogate` with several kinds",
    "Importance": "`importance`",
    "Coefficients": "`coefficients` of linear glass boxes",
    "DecisionList": "`explain` of a `RuleList`",
    "ImportanceComparison": "`importance` with several methods",
    "Interactions": "`interactions`",
    "Network": "`interactions().network()`",
    "Decomposition": "`decompose`",
    "Associations": "`associations`",
    "Clusters": "`clusters`",
    "Attribution": "`shap`, `breakdown`",
    "LocalAttribution": "`lime`",
    "Pick": "`lime_pick`",
    "Rules": "`anchor`",
    "Agreement": "`agreement`",
    "TextAttribution": "`shap` of a text",
    "ImageAttribution": "`shap` of an image",
    "LocalTextAttribution": "`lime` of a text",
    "LocalImageAttribution": "`lime` of an image",
    "TextRule": "`anchor` of a text or an image",
    "WordImportance": "`importance` of words over many texts",
    "TextCounterfactuals": "`counterfactuals` and `adversarial` of a text or an image",
}
HEAD = """# Charts and their options

Every result draws itself with `.plot(**options)`: a chart that notebooks show, that composes with `|`, `&` and `+`, and
that saves to PNG, SVG, PDF, HTML or JSON (`chart.save("chart.png")`). Whole numbers may come as Python or numpy numbers.
The docstring of each result's `plot` lists the same options; [gallery.md](gallery.md) has a picture of every kind.

## All charts
"""


def page() -> str:
    """The whole page."""
    lines = [HEAD, *table(PlotOptions)]
    for name, made_by in RESULTS.items():
        kind = getattr(pellucid, name)
        besides = AttributionOptions if issubclass(kind._options, AttributionOptions) else PlotOptions
        besides = PlotOptions if kind._options is AttributionOptions else besides
        more = " They take the options of `Attribution`, too." if besides is AttributionOptions else ""
        lines += ["", f"## {name}", "", f"Results of {made_by}.{more}", "", *table(kind._options, besides=besides)]
    lines += [
        "",
        "## panel",
        "",
        "Several effects in one chart, and the `Effects` of `pdp()` and `ale()`: the options of `Effect`, and",
    ]
    lines += ["", *table(PanelOptions, besides=pellucid.Effect._options)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("charts.md").write_text(page(), encoding="utf-8")
