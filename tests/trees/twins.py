"""Attributions of a fitted model by enumeration, to be held beside the engine's and other libraries' answers."""

import warnings
from fractions import Fraction
from math import factorial, prod

import numpy as np

from pellucid.trees.convert import convert
from pellucid.trees.engine import attribute
from reference.indices import interaction_matrix, shapley
from reference.trees import goes_left, is_leaf, marginal_game, model_of, path_game


def quiet():
    """A context in which the other libraries may warn."""
    return warnings.catch_warnings(action="ignore")


def ours(model, table, game="path", background=None, **options):
    """The engine's answer about a library's model and its own table."""
    known = convert(model)
    if background is not None:
        background = known.encode(background)
    return attribute(
        known.ensemble, known.encode(table), game=game, background=background, players=known.source, **options
    )


def assert_close(got, expected, width=1e-9, scale=None):
    """Equal to `width` relative to the largest expected number."""
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    scale = np.abs(expected).max() if scale is None else scale
    assert scale > 0  # else nothing is compared
    np.testing.assert_allclose(got, expected, rtol=0, atol=width * scale)


def as_values(games):
    return np.array([shapley(game) for game in games]), np.array([game[0] for game in games])


def assert_is(got, games, width=1e-9):
    """An engine's answer is that of the games, one table of coalitions per row; interactions too where it has them."""
    values, base = as_values(games)
    scale = max(np.abs(game).max() for game in games)
    assert_close(got.values, values, width, scale)
    assert_close(np.broadcast_to(got.base, base.shape), base, width, scale)
    if got.interactions is not None:
        assert_close(got.interactions, np.array([interaction_matrix(game) for game in games]), width, scale)


def path_games(ensemble, X, players=None):
    return [path_game(ensemble, row, players) for row in X]


def marginal_games(f, X, background, weights=None, players=None):
    """The games of a function of many rows, each coalition and background row in one call of it."""
    games = []
    for row in X:
        asked = []
        marginal_game(lambda mixed: asked.append(mixed) or 0.0, row, background, weights, players)  # noqa: B023
        answers = iter(np.reshape(f(np.array(asked)), (len(asked), -1)).astype(float))
        games.append(marginal_game(lambda _: next(answers), row, background, weights, players))  # noqa: B023
    return games


def ensemble_games(ensemble, X, background, weights=None, players=None):
    """The marginal games of an ensemble walked node by node."""
    f = model_of(ensemble)
    return [marginal_game(f, row, background, weights, players) for row in X]


# ------------------------------------------------------------ single trees with more players than can be enumerated


def leaf_paths(nodes, root):
    """Every leaf with the splits above it: ``(leaf, [(node, whether left)])``."""
    waiting = [(int(root), [])]
    while waiting:
        i, above = waiting.pop()
        if is_leaf(nodes, i):
            yield i, above
        else:
            waiting.append((int(nodes.left[i]), [*above, (i, True)]))
            waiting.append((int(nodes.right[i]), [*above, (i, False)]))


def follows(nodes, above, row):
    """For each column on a path: whether the row takes all its splits as the path does."""
    taken = {}
    for i, left in above:
        column = int(nodes.feature[i])
        taken[column] = taken.get(column, True) and goes_left(nodes, i, row[column]) == left
    return taken


def rational_path_values(ensemble, row):
    """Path-game Shapley values of a tree of one output, in rational numbers.

    A leaf is worth the product over its columns of (followed or not: o; share of the cover: z). Of such a product
    the Shapley value of c is (o_c - z_c) times the coefficients of the others' product of (z + o t), each with its
    Shapley weight.
    """
    nodes, (root,) = ensemble.nodes, ensemble.roots
    values = [Fraction(0)] * ensemble.n_features
    for leaf, above in leaf_paths(nodes, root):
        known = follows(nodes, above, row)
        share = dict.fromkeys(known, Fraction(1))
        for i, left in above:
            child = nodes.left[i] if left else nodes.right[i]
            share[int(nodes.feature[i])] *= Fraction(nodes.cover[child]) / Fraction(nodes.cover[i])
        m = len(known)
        weights = [factorial(k) * factorial(m - 1 - k) for k in range(m)]
        product = [1]  # of (numerator + denominator o t): whole numbers, which need no common divisors
        for c, o in known.items():
            product = _times(product, share[c], o)
        whole = Fraction(nodes.value[leaf, 0]) / (factorial(m) * prod(z.denominator for z in share.values()))
        for c, o in known.items():
            rest = _without(product, share[c], o)
            worth = sum(w * r for w, r in zip(weights, rest, strict=True))
            values[c] += whole * (o - share[c]) * worth * share[c].denominator
    return np.array([float(value) for value in values])


def _times(polynomial, z, o):
    longer = [z.numerator * a for a in polynomial] + [0]
    if o:
        for k, a in enumerate(polynomial):
            longer[k + 1] += z.denominator * a
    return longer


def _without(polynomial, z, o):
    """Divided by the factor that `_times` put in."""
    if not o:
        return [a // z.numerator for a in polynomial[:-1]]
    rest = [0] * len(polynomial)
    for k in range(len(polynomial) - 2, -1, -1):
        rest[k] = (polynomial[k + 1] - z.numerator * rest[k + 1]) // z.denominator
    return rest[:-1]


def rational_marginal_values(ensemble, row, background):
    """Marginal-game Shapley values of a tree of one output, in rational numbers.

    A leaf and a background row: only coalitions with all of A (columns where only x follows the path) and none of
    B (where only the background row does) reach it.
    """
    nodes, (root,) = ensemble.nodes, ensemble.roots
    values = [Fraction(0)] * ensemble.n_features
    for leaf, above in leaf_paths(nodes, root):
        x = follows(nodes, above, row)
        for other in background:
            b = follows(nodes, above, other)
            if not all(x[c] or b[c] for c in x):
                continue
            first = [c for c in x if not b[c]]
            last = [c for c in x if not x[c]]
            n, m = len(first), len(last)
            value = Fraction(nodes.value[leaf, 0]) / len(background)
            for c in first:
                values[c] += value * Fraction(factorial(n - 1) * factorial(m), factorial(n + m))
            for c in last:
                values[c] -= value * Fraction(factorial(n) * factorial(m - 1), factorial(n + m))
    return np.array([float(value) for value in values])
