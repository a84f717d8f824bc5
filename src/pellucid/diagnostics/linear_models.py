"""What a fitted linear model cannot be trusted for: its assumptions, as measured on the rows that it was fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pellucid.explanations import Caveat
from pellucid.words import listed, number, percent

_BENT = 0.01  # of the squared residuals
_TOO_SMALL = 1.25  # times
_FEW = 30  # rows
_INFLATED = 10.0  # times the variance
OVERDISPERSED = 1.5  # times the variance
_LINK = 0.01  # of the deviance


def separated(certain: bool) -> Iterator[Caveat]:
    """Classes that a combination of columns tells apart without a mistake: the best coefficients are infinite."""
    if certain:
        yield Caveat(
            code="separated",
            message=("The classes are perfectly separated: coefficients and standard errors have no finite estimates."),
            value=1.0,
            threshold=0.0,
            advice="Fit with a penalty (ridge=0.01), or give more rows.",
        )


def overdispersed(dispersion: float, *, remedy: str) -> Iterator[Caveat]:
    """Counts that scatter more than their distribution does."""
    if dispersion > OVERDISPERSED:
        yield Caveat(
            code="overdispersed",
            message=(
                f"The outcome varies {number(dispersion)} times as much as its distribution allows (overdispersion):"
                " intervals are too narrow."
            ),
            value=dispersion,
            threshold=OVERDISPERSED,
            advice=remedy,
        )


def curved(found: Sequence[tuple[str, float]]) -> Iterator[Caveat]:
    """A straight line through a curve."""
    for name, share in found:
        if share > _BENT:
            yield Caveat(
                code="curved",
                message=(
                    f"The effect of {name} is not a straight line: a bend would explain {percent(share)} of what the"
                    " model leaves unexplained."
                ),
                value=share,
                threshold=_BENT,
                advice="Try the remedies: model.remedies(X, y) compares a logarithm, bins and AdditiveModel.",
                feature=name,
            )


def better_link(name: str, best: str, share: float) -> Iterator[Caveat]:
    """Another link fits better."""
    if share > _LINK:
        yield Caveat(
            code="link",
            message=(
                f"The link {name!r} does not suit these rows: with {best!r} the deviance is {percent(share)} lower."
            ),
            value=share,
            threshold=_LINK,
            advice=f"Fit with link={best!r}.",
        )


def uneven_variance(name: str, ratio: float) -> Iterator[Caveat]:
    """Standard errors that hold for equal variance alone."""
    if ratio > _TOO_SMALL:
        yield Caveat(
            code="uneven-variance",
            message=(
                "The errors vary more in some rows than in others (heteroscedasticity): the standard error of"
                f" {name} should be {number(ratio)} times as large."
            ),
            value=ratio,
            threshold=_TOO_SMALL,
            advice="Use robust='HC3'.",
            feature=name,
        )


def few_rows_decide(name: str, rows: float) -> Iterator[Caveat]:
    """Errors that are not Gaussian, where few rows decide."""
    if rows < _FEW:
        yield Caveat(
            code="not-gaussian",
            message=(
                f"The errors are not Gaussian, and about {number(round(rows))} rows decide the standard error of"
                f" {name}: its interval may be far off."
            ),
            value=1.0 / rows,
            threshold=1.0 / _FEW,
            advice=(
                "Look for outliers, or use GeneralizedLinearModel(family='gamma') or the logarithm of a positive"
                " outcome."
            ),
            feature=name,
        )


def inflated(name: str, partner: str, factor: float) -> Iterator[Caveat]:
    """Correlated features: each coefficient is uncertain, and holds the other fixed."""
    if factor > _INFLATED:
        yield Caveat(
            code="inflated",
            message=(
                f"{name} is strongly correlated with other features, most with {partner}: its standard error is"
                f" {number(factor**0.5)} times as large as it would be without them."
            ),
            value=factor,
            threshold=_INFLATED,
            advice=f"Read {name} and {partner} together, leave one of them out, or use ridge=0.01.",
            feature=name,
        )


def aliased(names: Sequence[str], columns: int) -> Iterator[Caveat]:
    """Columns that follow from others."""
    if names:
        one = len(names) == 1
        verb, whose = (
            ("is a linear combination", "it has no coefficient of its own, which counts")
            if one
            else ("are linear combinations", "they have no coefficients of their own, which count")
        )
        yield Caveat(
            code="aliased",
            message=f"{listed(list(names))} {verb} of the other columns: {whose} as zero.",
            value=len(names) / columns,
            threshold=0.0,
            advice="Leave out redundant features.",
        )


def outside_link(link: str, share: float, what: str) -> Iterator[Caveat]:
    """Sums that are the link of no mean."""
    if share > 0:
        yield Caveat(
            code="outside-link",
            message=(
                f"Just outside the training rows (by up to a tenth of their ranges) there are sums for which the link"
                f" {link!r} gives no {what}: there is no prediction."
            ),
            value=share,
            threshold=0.0,
            advice="Use link='log', which has a mean for every sum.",
        )
