"""Draws docs/images/gallery and writes docs/gallery.md: python docs/make_gallery.py [name ...]

Every picture is drawn by the line of code below it, on simulated data (`pellucid.datasets.simulate_bike`) and on toy models of
texts and images.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.charts.png import smaller

HERE = Path(__file__).parent
PICTURES = HERE / "images" / "gallery"
MOST = 58_000  # bytes of a picture
SCALE = 1.5  # image pixels per pixel on screen; less for what would be too large

HEAD = """# Gallery: every kind of chart

Each picture is what the line of code above it draws; its title is the finding, the grey line below says what the chart is.
`ex` explains a boosted model of simulated bicycle rentals (`train` on the rows it was fitted to), `classes` one that predicts whether they are few, some or many, `texts`
and `images` toy models (docs/make_gallery.py has them). All options, with their defaults, are in [charts.md](charts.md) and in the
docstring of each result's `plot`.

In a notebook a result shows itself like this, with its caveats to fold out below; `.plot()` returns the chart, which has tooltips,
composes (`|`, `&`, `+`) and saves to PNG, SVG, PDF, HTML or JSON.
"""

SETUP = """
import numpy as np, pandas as pd, pellucid
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from pellucid.glassbox import AdditiveModel, LinearModel, RuleList

days = pellucid.datasets.simulate_bike(n=1500, seed=0)
X, y = days.X, days.y
new = X[1000:].reset_index(drop=True)
sort = pd.cut(y, [-np.inf, *y.quantile([1 / 3, 2 / 3]), np.inf], labels=["few", "some", "many"]).astype(str)
how = {"categorical_features": "from_dtype", "random_state": 0, "max_iter": 60}
model = HistGradientBoostingRegressor(**how).fit(X[:1000], y[:1000])
ex = pellucid.Explainer(model, new, y[1000:], checks=False)
train = pellucid.Explainer(model, X[:1000], y[:1000], checks=False)
classes = pellucid.Explainer(
    HistGradientBoostingClassifier(**how).fit(X[:1000], sort[:1000]), new, sort[1000:], checks=False
)
two = pellucid.Explainer(
    HistGradientBoostingClassifier(**how).fit(X[:1000], y[:1000] > 5000), new, y[1000:] > 5000, checks=False
)
numbers = X[:1000].select_dtypes("number").dropna(axis=1)
line = pellucid.Explainer(LinearRegression().fit(numbers, y[:1000]), numbers, y[:1000], checks=False)
many = y[:1000] > 5000
logistic = pellucid.Explainer(
    make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers, many), numbers, many, checks=False
)
checked = pellucid.Explainer(model, X[:1000], y[:1000])
rows = ex.shap(range(400))
one = ex.shap(0)
pairs = ex.shap(range(100), interactions=True)

generator = np.random.default_rng(0)
cloud = np.vstack([generator.normal(at, 0.3, size=(60, 2)) for at in ((1, 1), (4, 2), (3, 3.5), (2.6, 1.7))])
clouds = pellucid.Explainer(lambda X: X[:, 0], cloud, feature_names=["length", "width"], checks=False)
written = load_digits()
digits = pellucid.Explainer(
    LogisticRegression(max_iter=200).fit(written.data[:900] / 16, written.target[:900]),
    written.data[900:] / 16,
    written.target[900:],
    checks=False,
)


def spam(some):
    return np.array([1 / (1 + np.exp(2 - 3 * ("free" in t) - 2 * ("win" in t) + 2 * ("meeting" in t))) for t in some])


def bright(some):
    return np.array([image[4:9, 6:11].mean() / 255 for image in some])


texts = pellucid.TextExplainer(spam)
text = "You win a free trip, see you at the meeting"
corpus = [text, "a free trip", "meeting at noon", "win a trip", "see the free meeting", "you win", "free, free!"] * 4
images = pellucid.ImageExplainer(bright)
across, down = np.meshgrid(np.arange(16), np.arange(12))
picture = np.clip(255 * np.exp(-((across - 8) ** 2 + (down - 6) ** 2) / 20), 0, 255).astype(np.uint8)
reader = pellucid.ImageExplainer(
    LogisticRegression(max_iter=200).fit(written.data[:900] / 16, written.target[:900]), checks=False
)
written.images = written.images / 16
subject, verb = ["song", "video", "channel", "voice"], ["love this", "check out my", "subscribe to my", "what a great"]
said = [f"{v} {n}{end}" for v in verb for n in subject for end in ("", " now", " again please", " so much")]
kinds = ["ham" if "my" not in each else "spam" for each in said]
comments = pellucid.TextExplainer(
    lambda texts: [0.9 if "my" in t else 0.15 + 0.4 * ("channel" in t) for t in texts], class_names=["ham", "spam"], checks=False
)
"""


@dataclass(frozen=True)
class Entry:
    """A chart: the result it is of, the name of its picture, what draws it, and what it is good for."""

    result: str
    name: str
    code: str
    what: str


GALLERY = (
    Entry(
        "Effect",
        "pdp",
        'ex.pdp("temp").plot()',
        "Partial dependence: the average prediction over the values of a feature.",
    ),
    Entry(
        "Effect", "levels", 'ex.pdp("season").plot()', 'Categories, in their natural order; `order="value"` sorts them.'
    ),
    Entry("Effect", "classes", 'classes.pdp("temp").plot()', "Several classes, each with its colour in every chart."),
    Entry(
        "Effect",
        "ice",
        'ex.ice("temp").plot()',
        "ICE: a curve for each row, coloured by what explains their differences.",
    ),
    Entry("Effect", "ale", 'ex.ale("temp").plot()', "Accumulated local effect: for correlated features."),
    Entry("Effect", "log", 'ex.ale("windspeed").plot(log=True)', "A logarithmic axis, for skewed positive features."),
    Entry("Effect", "heat_map", 'ex.pdp(("temp", "humidity")).plot()', "Two features: a heat map."),
    Entry("Effect", "surface", 'ex.pdp(("temp", "humidity")).plot(kind="surface")', "The same seen in space."),
    Entry(
        "Effect",
        "slices",
        'ex.ale(("temp", "humidity", "season")).plot()',
        "Three features: heat maps of two, sliced by the third.",
    ),
    Entry("Importance", "importance", "ex.importance().plot()", "Feature importance with its repetitions."),
    Entry(
        "Importance",
        "against",
        'ex.importance().plot(against=train.importance(), labels=("test", "train"))',
        "Two sets of rows side by side.",
    ),
    Entry(
        "ImportanceComparison",
        "comparison",
        'ex.importance(method=["permutation", "shap", "pdp"]).plot()',
        "Several measures and how far they agree.",
    ),
    Entry(
        "Interactions",
        "interaction_bars",
        'ex.interactions().plot(kind="bars", max_display=8)',
        "The strongest interactions.",
    ),
    Entry("Interactions", "interaction_matrix", 'ex.interactions().plot(kind="matrix")', "All pairs."),
    Entry("Network", "network", "ex.interactions().network().plot()", "The interactions that the model needs."),
    Entry("Decomposition", "decomposition", "ex.decompose().plot(max_display=6)", "The model as a sum of parts."),
    Entry("Decomposition", "shares", 'ex.decompose().plot(kind="shares")', "Shares of the variance alone."),
    Entry(
        "Decomposition",
        "components",
        'ex.decompose().plot(kind="components", max_display=6)',
        "The largest components alone.",
    ),
    Entry("Decomposition", "component", 'ex.decompose().plot(component="temp")', "One component."),
    Entry("Associations", "associations", 'ex.associations().plot(order="cluster")', "Which features are correlated."),
    Entry("Clusters", "clusters", "ex.clusters().plot()", "Clusters of correlated features."),
    Entry("Attribution", "waterfall", 'one.plot(kind="waterfall")', "One row: from the average prediction to its own."),
    Entry("Attribution", "force", 'one.plot(kind="force")', "The same as a force plot."),
    Entry("Attribution", "bar", 'rows.plot(kind="bar")', "Mean absolute contributions."),
    Entry(
        "Attribution",
        "beeswarm",
        'rows.plot(kind="beeswarm")',
        "SHAP summary plot: a dot for each row, coloured by value.",
    ),
    Entry("Attribution", "by_level", 'rows.plot(kind="beeswarm", by_level=True)', "A strip for each category."),
    Entry("Attribution", "violin", 'rows.plot(kind="violin")', "The same as violins, for many rows."),
    Entry("Attribution", "heatmap", 'rows.plot(kind="heatmap")', "Every row: rows explained alike stand together."),
    Entry("Attribution", "stacked", 'rows.plot(kind="stacked")', "Force plots of many rows side by side."),
    Entry(
        "Attribution",
        "dependence",
        'rows.plot(kind="dependence", feature="temp")',
        "One feature's contributions and values.",
    ),
    Entry("Attribution", "decision", 'rows[:40].plot(kind="decision")', "Each row's way to its prediction."),
    Entry("Attribution", "interactions", 'pairs.plot(kind="interactions")', "Interaction values of pairs."),
    Entry("LocalAttribution", "effects", 'ex.lime(0).plot(kind="effects")', "A local surrogate (LIME)."),
    Entry(
        "LocalAttribution",
        "widths",
        'ex.lime(0).plot(kind="widths")',
        "What the width of the neighbourhood does to it.",
    ),
    Entry(
        "LocalAttribution",
        "boundary",
        'ex.lime(0, boundary=("temp", "days_since_start")).plot(kind="boundary")',
        "Model and surrogate in two features.",
    ),
    Entry("Pick", "pick", "ex.lime_pick(4).plot()", "Rows that show what the model uses (SP-LIME)."),
    Entry("Rules", "anchor", "ex.anchor(0).plot()", "One rule (anchor), condition by condition."),
    Entry("Rules", "rules", "ex.anchor([0, 1, 2]).plot()", "Several rules."),
    Entry(
        "Agreement", "agreement", "pellucid.agreement(one, ex.lime(0), ex.anchor(0)).plot()", "Do explanations agree?"
    ),
    Entry("Audit", "audit", "ex.audit().plot()", "Can explanations of this model be trusted?"),
    Entry(
        "Performance", "performance", "ex.performance().plot()", "How good the model is: all charts that fit the task."
    ),
    Entry(
        "Performance",
        "predicted",
        'ex.performance().plot(kind="predicted")',
        "A number: predicted against actual values.",
    ),
    Entry("Performance", "residuals", 'ex.performance().plot(kind="residuals")', "Residuals over the predictions."),
    Entry("Performance", "confusion", 'classes.performance().plot(kind="confusion")', "Classes: the confusion matrix."),
    Entry("Performance", "roc", 'classes.performance().plot(kind="roc")', "ROC curves, one class against the rest."),
    Entry(
        "Performance",
        "precision_recall",
        'classes.performance().plot(kind="precision-recall")',
        "Precision-recall curves.",
    ),
    Entry(
        "Performance",
        "calibration",
        'classes.performance().plot(kind="calibration")',
        "Calibration: predicted probabilities against observed shares.",
    ),
    Entry(
        "Performance",
        "thresholds",
        'two.performance().plot(kind="thresholds")',
        "Two classes: what a threshold does to precision, recall and the share flagged.",
    ),
    Entry(
        "Counterfactuals",
        "counterfactuals",
        'ex.counterfactuals(36, ">= 5900", fixed="days_since_start").plot(kind="changes")',
        "What would have to change for another prediction, on the range of each feature.",
    ),
    Entry(
        "Counterfactuals",
        "counterfactual_table",
        'ex.counterfactuals(36, ">= 5900", fixed="days_since_start").plot(kind="table")',
        "The same as a table.",
    ),
    Entry(
        "Counterfactuals",
        "parallel",
        'ex.counterfactuals(36, ">= 5900", fixed="days_since_start").plot(kind="parallel")',
        "The row and its answers in parallel coordinates.",
    ),
    Entry(
        "Counterfactuals",
        "pareto",
        'ex.counterfactuals(36, ">= 5900", fixed="days_since_start", method="moc", n=20).plot(kind="pareto")',
        "Trade-offs: near to the row, few changes, near to the data.",
    ),
    Entry(
        "Counterfactuals",
        "counterfactual_surface",
        'ex.counterfactuals(0, ">= 5800", fixed="days_since_start", surface=("temp", "humidity")).plot(kind="surface")',
        "The prediction around the row, its answers, and where the target begins.",
    ),
    Entry(
        "Counterfactuals",
        "frequency",
        'ex.counterfactuals(36, ">= 5900", fixed="days_since_start", method="moc", n=20).plot(kind="frequency")',
        "How often each feature changes, and in which direction.",
    ),
    Entry(
        "FragileRows",
        "fragile_rows",
        'classes.adversarial(sample=40).plot(kind="rows")',
        "The rows that the smallest change predicts otherwise, with that change.",
    ),
    Entry(
        "FragileRows",
        "fragile_curve",
        'classes.adversarial(sample=40).plot(kind="curve")',
        "The share of rows that flip within a distance.",
    ),
    Entry(
        "Prototypes",
        "prototypes",
        'ex.prototypes(6, criticisms=3).plot(kind="table")',
        "Typical rows, what is typical of the rows they stand for, and rows they represent badly.",
    ),
    Entry(
        "Prototypes",
        "prototypes_scree",
        'ex.prototypes(6).plot(kind="scree")',
        "MMD² and the silhouette over the number of prototypes.",
    ),
    Entry(
        "Prototypes",
        "prototypes_map",
        'clouds.prototypes(3, criticisms=2).plot(kind="map")',
        "Two features: all rows by the witness function, with the densities of rows and prototypes.",
    ),
    Entry(
        "Prototypes",
        "prototypes_errors",
        'ex.prototypes(6, criticisms=6).plot(kind="errors")',
        "Where the model is mistaken: on typical or on odd rows.",
    ),
    Entry(
        "Prototypes",
        "prototypes_gallery",
        'digits.prototypes(20, criticisms=10, by="class").plot(kind="gallery")',
        "Rows that are images: typical handwritten digits, and odd ones.",
    ),
    Entry(
        "Prototypes",
        "prototypes_texts",
        "comments.prototypes(said, 5, criticisms=2, y=kinds).plot()",
        "Typical texts, the words that are typical of those they stand for, and odd texts.",
    ),
    Entry("Neighbors", "neighbors", "ex.neighbors(0).plot()", "The rows most like one, and the nearest unlike row."),
    Entry(
        "Neighbors",
        "neighbors_images",
        "reader.neighbors(37, written.images, y=written.target).plot()",
        "An image, those most like it, and the nearest that the model reads otherwise.",
    ),
    Entry("Influence", "influence", 'train.influence(0).plot(kind="bar")', "Which training rows shaped a prediction."),
    Entry(
        "Influence",
        "influence_cook",
        'line.influence(method="cook").plot()',
        "Cook's distance of a linear model, and where the rows lie by leverage and residual.",
    ),
    Entry(
        "Influence",
        "influence_leverage",
        'line.influence(0).plot(kind="leverage")',
        "Every training row by leverage and residual, as large as its influence.",
    ),
    Entry(
        "Influence",
        "influence_checked",
        'checked.influence(0).plot(kind="checked")',
        "What leaf values alone give, against really fitting again.",
    ),
    Entry(
        "Triage",
        "triage",
        'logistic.triage().plot(kind="curve")',
        "What share of wrong labels a list of suspects finds.",
    ),
    Entry("Triage", "triage_rows", 'logistic.triage().plot(kind="rows")', "The rows to check first."),
    Entry("Poisoning", "poisoning", "logistic.poisoning(3).plot()", "How few changed labels turn a prediction."),
    Entry("RobustFit", "robust", "line.robust(3).plot()", "How predictions change without the most influential rows."),
    Entry(
        "Coefficients",
        "coefficients",
        "LinearModel().fit(X[:1000], y[:1000]).coefficients().plot(standardised=True)",
        "The coefficients of a linear model, with their intervals.",
    ),
    Entry(
        "Surrogate",
        "surrogate_tree",
        'ex.surrogate(size=6).plot(kind="tree")',
        "A tree that stands in for the model, with what the model predicts in each leaf.",
    ),
    Entry(
        "Surrogate",
        "surrogate_leaves",
        'ex.surrogate().plot(kind="leaves")',
        "The leaves alone: the rule of each, the model's predictions there, and by how much they are missed.",
    ),
    Entry(
        "Surrogate", "surrogate_coefficients", 'ex.surrogate("linear").plot(kind="coefficients")', "A linear surrogate."
    ),
    Entry(
        "Surrogate",
        "surrogate_inside",
        'ex.surrogate(AdditiveModel()).plot(kind="inside")',
        "A glass box as a surrogate: what it says of itself.",
    ),
    Entry(
        "Surrogate",
        "surrogate_size",
        'ex.surrogate().plot(kind="size")',
        "How large must it be? R² on held-out rows over the size.",
    ),
    Entry(
        "Surrogate",
        "surrogate_subgroups",
        'ex.surrogate().plot(kind="subgroups")',
        "Where it fails: parts of the data that it misses more than others.",
    ),
    Entry(
        "Surrogates",
        "surrogates",
        'ex.surrogate(["tree", "linear", AdditiveModel()]).plot(kind="r2")',
        "Several surrogates side by side, judged by the same held-out rows.",
    ),
    Entry(
        "Surrogates",
        "surrogates_kept",
        'ex.surrogate(["tree", "linear", AdditiveModel()]).plot(kind="kept")',
        "What each would keep of the model's gain over a constant.",
    ),
    Entry(
        "DecisionList",
        "decision_list",
        "RuleList(4, conditions=2).fit(X[:1000], y[:1000] > 4500).explain().plot()",
        "The rules of a rule list in their order: what they predict and how many rows they decide.",
    ),
    Entry("TextAttribution", "text", "texts.shap(text).plot()", "What each word contributes."),
    Entry("LocalTextAttribution", "text_local", "texts.lime(text).plot()", "The words of a local model."),
    Entry("LocalTextAttribution", "text_variants", 'texts.lime(text).plot(kind="variants")', "The variants behind it."),
    Entry("TextRule", "text_rule", "texts.anchor(text).plot()", "The words that fix the prediction."),
    Entry("WordImportance", "words", "texts.importance(corpus).plot()", "Which words matter, over many texts."),
    Entry(
        "TextCounterfactuals",
        "text_counterfactuals",
        'texts.counterfactuals(text, "<= 0.4").plot()',
        "The fewest words to take out for another prediction.",
    ),
    Entry("ImageAttribution", "image", "images.shap(picture).plot()", "What each segment contributes."),
    Entry(
        "ImageAttack",
        "image_attack",
        'images.adversarial(picture, ">= 0.9", kind="gradient").plot()',
        "A little change of every pixel that fools the model.",
    ),
    Entry("LocalImageAttribution", "image_local", "images.lime(picture).plot()", "The segments of a local model."),
    Entry("panel", "panel", "ex.pdp().plot()", "The most important features side by side."),
    Entry(
        "panel",
        "overlay",
        'pellucid.panel([ex.pdp("temp"), ex.ale("temp"), ex.mplot("temp")], overlay=True)',
        "Several methods in one axis.",
    ),
)


def page(pictures: Path = PICTURES) -> str:
    """The whole page."""
    lines, result = [HEAD], ""
    for entry in GALLERY:
        if entry.result != result:
            result = entry.result
            lines += [f"## {result}", ""]
        width = round(int.from_bytes((pictures / f"{entry.name}.png").read_bytes()[16:20], "big") / SCALE)
        image = f'<img src="images/gallery/{entry.name}.png" width="{width}" alt="{entry.what}">'
        lines += [entry.what, "", "```python", entry.code, "```", "", image, ""]
    return "\n".join(lines)


def draw(only: list[str]) -> None:
    """The pictures, all or some."""
    known: dict[str, Any] = {}
    exec(SETUP, known)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for entry in GALLERY:
        if only and entry.name not in only:
            continue
        chart, file = eval(entry.code, known), PICTURES / f"{entry.name}.png"
        for scale in (SCALE, 1.0):
            file.write_bytes(smaller(chart.save(file, scale=scale).read_bytes()))
            if file.stat().st_size <= MOST:
                break


if __name__ == "__main__":
    draw(sys.argv[1:])
    (HERE / "gallery.md").write_text(page(), encoding="utf-8")
