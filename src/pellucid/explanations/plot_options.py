"""The options of ``.plot``: one class of declarations (see `option`) for each kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pellucid import checks
from pellucid.errors import InputError
from pellucid.explanations.option import PlotOptions, anything, choice, declare, flag, name, whole


def _features(option: str, value: Any) -> bool | tuple[str, ...]:
    if checks.is_flag(value):
        return bool(value)
    names = (value,) if isinstance(value, str) else value
    if isinstance(names, Sequence) and names and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise InputError(f"{option} must be True, False or names of features, got {value!r}.")


@dataclass(frozen=True, kw_only=True)
class EffectOptions(PlotOptions):
    """Options of effects."""

    colour: str | None = name(
        "auto",
        '"auto", None or a colour such as "teal"',
        '"auto" colours individual curves by the feature that explains their differences; None does not',
    )
    max_lines: int = whole(100, "individual curves drawn at most")
    distribution: str | None = choice(
        "histogram", ("histogram", "rug", None), "the data below a curve, on its axis, or not shown"
    )
    order: str = choice(
        "auto",
        ("auto", "value", "name"),
        "order of categories: natural (months, weekdays) or the result's, from high to low, or by name",
    )
    show_data: bool = flag(True, "whether rows of the data are put on a heat map")
    kind: str = choice(
        "auto", ("auto", "surface"), 'a heat map of two features, or, of two numeric ones, "surface": seen in space'
    )
    log: bool | str | Sequence[str] = declare(
        False,
        "True, False or names of features",
        "features whose axis is logarithmic, for skewed positive numbers; True for all",
        _features,
    )


@dataclass(frozen=True, kw_only=True)
class PanelOptions(EffectOptions):
    """Options of several effects in one chart (`panel`)."""

    labels: Sequence[str] | None = anything(None, "names, one per effect", "names of the curves of an overlay")


def _two_names(option: str, value: Any) -> tuple[str, str]:
    if isinstance(value, str) or len(value) != 2 or value[0] == value[1]:
        raise InputError(f"{option} must be two different names, such as ('train', 'test'), got {value!r}.")
    return (str(value[0]), str(value[1]))


@dataclass(frozen=True, kw_only=True)
class ImportanceOptions(PlotOptions):
    """Options of importance."""

    max_display: int = whole(20, "features shown")
    against: object | None = anything(
        None, "another result of `importance`", "drawn beside the first, as of other rows"
    )
    labels: Sequence[str] = declare(("train", "test"), "two names", "names of the two results", _two_names)


@dataclass(frozen=True, kw_only=True)
class CoefficientsOptions(PlotOptions):
    """Options of coefficients."""

    max_display: int = whole(30, "columns shown, the strongest first")
    standardised: bool = flag(False, "whether coefficients are per standard deviation of their column")


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(PlotOptions):
    """Options of several measures of importance."""

    max_display: int = whole(15, "features shown")
    agreement: bool = flag(True, "whether the agreement of the measures is drawn")


@dataclass(frozen=True, kw_only=True)
class AssociationsOptions(PlotOptions):
    """Options of associations."""

    order: str = choice("given", ("given", "cluster"), "order of the features, as given or by similarity")


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(PlotOptions):
    """Options of clusters."""

    max_display: int = whole(60, "features shown, those of the largest clusters first")


@dataclass(frozen=True, kw_only=True)
class InteractionOptions(PlotOptions):
    """Options of interactions."""

    kind: str = choice("auto", ("auto", "bars", "matrix"), 'bars (also "auto"), or a matrix of pairs')
    max_display: int = whole(20, "sets (in a matrix: features) shown")


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(PlotOptions):
    """Options of networks."""

    max_display: int = whole(60, "edges shown, the most costly first")


@dataclass(frozen=True, kw_only=True)
class DecompositionOptions(PlotOptions):
    """Options of decompositions."""

    kind: str = choice(
        "auto", ("auto", "shares", "components"), 'shares of the variance, the largest components, or both ("auto")'
    )
    component: str | Sequence[str] | None = anything(
        None, 'a feature, or features such as ("temp", "hum")', "the only component that is drawn"
    )
    max_display: int = whole(9, "components shown")
    output: str | None = anything(None, "name of an output", "which of several outputs is drawn")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.component is not None and self.kind == "shares":
            raise InputError("component= draws a component; leave kind='shares' out.")


PERFORMANCE_KINDS = (
    "auto",
    "predicted",
    "residuals",
    "confusion",
    "roc",
    "precision-recall",
    "calibration",
    "thresholds",
)


@dataclass(frozen=True, kw_only=True)
class PerformanceOptions(PlotOptions):
    """Options of performance."""

    kind: str = choice(
        "auto",
        PERFORMANCE_KINDS,
        'of numbers predicted against actual values and residuals, of classes the other charts; "auto" is all of them',
    )
    max_rows: int = whole(1000, "rows drawn as dots, at most")
    output: str | None = anything(None, "name of an output or class", "the only one that is drawn")


@dataclass(frozen=True, kw_only=True)
class InfluenceOptions(PlotOptions):
    """Options of influence."""

    kind: str = choice(
        "auto",
        ("auto", "bar", "leverage", "checked"),
        '"bar" has the most influential training rows, "leverage" every training row by leverage and residual,'
        ' "checked" what was shown against what refitting gave; "auto" is the first, with the second where known',
    )
    top: int = whole(12, "training rows shown as bars", kind="auto bar")
    max_rows: int = whole(2000, "training rows drawn as dots, at most", kind="auto leverage")
    target: str | None = anything(
        None, "name of a target", "the explained row or coefficient that is drawn; default: the mean over all"
    )
    output: str | None = anything(None, "name of an output or class", "the only one that is drawn")


@dataclass(frozen=True, kw_only=True)
class TriageOptions(PlotOptions):
    """Options of triage."""

    kind: str = choice(
        "curve",
        ("curve", "rows"),
        '"curve" is the share of changed outcomes found by checking so much of the list,'
        ' "rows" the first rows of the list',
    )
    top: int = whole(12, "rows shown as bars", kind="rows")


@dataclass(frozen=True, kw_only=True)
class PoisoningOptions(PlotOptions):
    """Options of poisoning."""


@dataclass(frozen=True, kw_only=True)
class RobustFitOptions(PlotOptions):
    """Options of robust fits."""


@dataclass(frozen=True, kw_only=True)
class SurrogateOptions(PlotOptions):
    """Options of a surrogate."""

    kind: str = choice(
        "auto",
        ("auto", "tree", "leaves", "coefficients", "size", "subgroups", "inside"),
        '"tree" draws the tree with the distribution of the model\'s predictions in each leaf, "leaves" these alone,'
        ' "coefficients" those of a linear surrogate, "size" R² against the size, "subgroups" where it fails,'
        ' "inside" what'
        ' a glass box says of itself; "auto" is the surrogate itself',
    )
    output: str | None = name(None, "name of an output or class", "the one that is drawn; default: the first")
    top: int = whole(12, "coefficients shown", kind="auto coefficients")


@dataclass(frozen=True, kw_only=True)
class SurrogatesOptions(PlotOptions):
    """Options of several surrogates side by side."""

    kind: str = choice(
        "r2",
        ("r2", "kept"),
        '"r2" is how far each stands in for the model on held-out rows, "kept" the share of the model\'s gain over'
        " a constant"
        " that each keeps",
    )


ATTRIBUTION_KINDS = (
    "auto",
    "waterfall",
    "force",
    "bar",
    "beeswarm",
    "stacked",
    "dependence",
    "interactions",
    "decision",
    "heatmap",
    "violin",
)


@dataclass(frozen=True, kw_only=True)
class AttributionOptions(PlotOptions):
    """Options of contributions."""

    kind: str = choice(
        "auto",
        ATTRIBUTION_KINDS,
        '"auto" is a waterfall for one row, else a SHAP summary (beeswarm); "waterfall", "force" and'
        ' "decision" lead from'
        ' the average prediction to that of single rows, "bar" has mean absolute contributions, "beeswarm" and "violin"'
        ' show how contributions spread, "heatmap" and "stacked" every row, "dependence" one feature against'
        " its values,"
        ' "interactions" pairs',
    )
    max_display: int = whole(12, "features shown")
    by_level: bool = flag(False, "in a beeswarm one strip for each category instead of one for each feature")
    log: bool = flag(False, "whether the feature's axis is logarithmic", kind="dependence")
    aggregate: str = choice("mean", ("mean", "sum"), "of the absolute contributions", kind="bar")
    order: str = choice("cluster", ("cluster", "given", "prediction"), "order of the rows", kind="stacked heatmap")
    clusters: int | None = whole(None, "into how many clusters the rows are cut", kind="stacked")
    feature: str | None = anything(
        None, "name of a feature", "by default the one that contributes most", kind="dependence"
    )
    colour: str | None = name(
        "auto", '"auto", a feature\'s name or None', '"auto" colours by the strongest interaction', kind="dependence"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clusters is not None and self.order != "cluster":
            raise InputError(
                f"clusters={self.clusters!r} needs rows in clusters; use order='cluster', not {self.order!r}."
            )


LOCAL_KINDS = ("effects", "widths", "boundary")


@dataclass(frozen=True, kw_only=True)
class LocalOptions(AttributionOptions):
    """Options of local models (LIME)."""

    kind: str = choice(
        "auto",
        (*LOCAL_KINDS, *ATTRIBUTION_KINDS),
        '"effects" (also "auto"), the weights over the kernel widths that were tried ("widths"), model and local model'
        ' in two features ("boundary"), or a chart of contributions',
    )
    max_rows: int = whole(6, "rows shown")


@dataclass(frozen=True, kw_only=True)
class PickOptions(PlotOptions):
    """Options of picked rows (SP-LIME)."""

    max_display: int = whole(15, "features shown")


@dataclass(frozen=True, kw_only=True)
class RuleOptions(PlotOptions):
    """Options of rules (anchors)."""

    max_display: int = whole(20, "rules shown")


@dataclass(frozen=True, kw_only=True)
class DecisionListOptions(PlotOptions):
    """Options of lists of rules."""

    max_display: int = whole(30, "rules shown, the first ones and the default")


COUNTERFACTUAL_KINDS = ("auto", "changes", "table", "parallel", "pareto", "surface", "frequency")


@dataclass(frozen=True, kw_only=True)
class CounterfactualOptions(PlotOptions):
    """Options of counterfactuals."""

    kind: str = choice(
        "auto",
        COUNTERFACTUAL_KINDS,
        '"changes" (also "auto"): from the own value of each changed feature to that of each answer, on its range in'
        ' the data; the same as a "table"; "parallel" coordinates of the row and its answers; the "pareto" front of'
        ' distance and another objective; the prediction over two features ("surface"); how often each feature'
        ' changes ("frequency")',
    )
    max_display: int = whole(8, "answers shown")
    max_features: int = whole(
        7, "changed features shown, those that change most often first", kind="auto changes table parallel frequency"
    )
    against: str = choice(
        "nearest",
        ("nearest", "changes", "target"),
        "objective drawn over the distance: distance from the data, number of changes, or distance from the target",
        kind="pareto",
    )
    every_name: bool = flag(
        False,
        "whether answers are named beside every panel, for pages that may break between them",
        kind="auto changes",
    )


@dataclass(frozen=True, kw_only=True)
class FragileOptions(PlotOptions):
    """Options of fragile rows."""

    kind: str = choice(
        "rows",
        ("rows", "curve"),
        '"rows" are the most fragile rows with the change of each, "curve" the share of rows that flip within a'
        " distance",
    )
    max_display: int = whole(12, "rows shown", kind="rows")


def _shape(option: str, value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return (checks.whole(option, value[0]), checks.whole(option, value[1]))
    raise InputError(f"{option} must be two whole numbers, such as (8, 8), or None, got {value!r}.")


@dataclass(frozen=True, kw_only=True)
class PrototypeOptions(PlotOptions):
    """Options of prototypes."""

    kind: str = choice(
        "auto",
        ("auto", "table", "scree", "map", "gallery", "errors"),
        '"table" (also "auto") has the examples and what is typical of each, "scree" MMD² over the number of'
        ' prototypes, "map" all rows in the plane with their density, "gallery" rows that are images,'
        ' "errors" where the model is mistaken',
    )
    max_display: int = whole(12, "examples shown of each role (in a gallery: 50)")
    max_features: int = whole(8, "features shown, those first in which prototypes differ most", kind="auto table")
    shape: Sequence[int] | None = declare(
        None, "(height, width) or None", "height and width of the images; by default a square", _shape, "gallery"
    )


@dataclass(frozen=True, kw_only=True)
class NeighborOptions(PlotOptions):
    """Options of neighbours."""

    max_display: int = whole(12, "neighbours shown")
    max_features: int = whole(12, "features shown, those first that differ")


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(PlotOptions):
    """Options of explanations side by side."""

    max_display: int = whole(10, "features shown")
    every_name: bool = flag(False, "whether names stand beside every panel, for pages that may break between them")
