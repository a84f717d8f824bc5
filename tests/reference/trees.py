"""Trees walked node by node, and the games that attributions of trees are about.

A game is a table over all coalitions: ``v[mask]`` is the array of outputs when the players whose bits are set in
`mask` are present. ``players[column]`` is the player that a column belongs to; a player's columns come together.
"""

import math

import numpy as np


def goes_left(nodes, i, x):
    """Whether the number x goes left at node i."""
    if math.isnan(x):
        return bool(nodes.missing_left[i])
    if nodes.set_start[i] < 0:
        return bool(x <= nodes.threshold[i])
    if math.isinf(x):
        return bool(nodes.other_left[i])
    category = math.trunc(x)
    if category < 0 or category >= 64 * int(nodes.set_words[i]):
        return bool(nodes.other_left[i])
    word = int(nodes.sets[int(nodes.set_start[i]) + category // 64])
    return (word >> (category % 64)) & 1 == 1


def is_leaf(nodes, i):
    return nodes.feature[i] < 0


def leaf_of(nodes, root, row):
    """The leaf that a row reaches from a root."""
    i = int(root)
    while not is_leaf(nodes, i):
        i = int(nodes.left[i] if goes_left(nodes, i, row[nodes.feature[i]]) else nodes.right[i])
    return i


def add_up(ensemble, per_tree):
    """Base plus one array of leaf width per tree, each put at its tree's outputs."""
    total = [float(b) for b in ensemble.base]
    for first, values in zip(ensemble.output, per_tree, strict=True):
        for k, value in enumerate(values):
            total[int(first) + k] += float(value)
    return np.array(total)


def predict_one(ensemble, row):
    """The outputs for one row."""
    nodes = ensemble.nodes
    return add_up(ensemble, [nodes.value[leaf_of(nodes, root, row)] for root in ensemble.roots])


def model_of(ensemble):
    """The ensemble as a function of one row."""
    return lambda row: predict_one(ensemble, row)


def left_share(nodes, i):
    """The part of the cover that goes left; a half if nothing does either way."""
    left, right = float(nodes.cover[nodes.left[i]]), float(nodes.cover[nodes.right[i]])
    return 0.5 if left + right == 0 else left / (left + right)


def path_expectation(nodes, i, row, known):
    """What the subtree at i is worth when only the `known` columns of the row are known."""
    if is_leaf(nodes, i):
        return nodes.value[i]
    left, right = int(nodes.left[i]), int(nodes.right[i])
    column = int(nodes.feature[i])
    if column in known:
        return path_expectation(nodes, left if goes_left(nodes, i, row[column]) else right, row, known)
    share = left_share(nodes, i)
    return share * path_expectation(nodes, left, row, known) + (1 - share) * path_expectation(nodes, right, row, known)


def own_players(n_columns):
    """Each column its own player."""
    return list(range(n_columns))


def columns_of(mask, players):
    """The columns of the players in a coalition."""
    return {column for column, player in enumerate(players) if mask >> int(player) & 1}


def table_of(value, players):
    """``value(columns)`` for every coalition."""
    n_players = max(int(player) for player in players) + 1
    return np.array([value(columns_of(mask, players)) for mask in range(2**n_players)])


def path_game(ensemble, row, players=None):
    """v(S): splits on columns of S follow the row, others average their children by cover."""
    nodes = ensemble.nodes

    def value(known):
        return add_up(ensemble, [path_expectation(nodes, int(r), row, known) for r in ensemble.roots])

    return table_of(value, own_players(ensemble.n_features) if players is None else players)


def mean_with(f, row, columns, background, weights=None):
    """Weighted mean over background rows of f, with the given columns taken from `row`."""
    weights = [1.0] * len(background) if weights is None else [float(w) for w in weights]
    total = 0.0
    for b, w in zip(background, weights, strict=True):
        mixed = [row[j] if j in columns else b[j] for j in range(len(b))]
        total = total + w * np.asarray(f(mixed))
    return total / math.fsum(weights)


def marginal_game(f, row, background, weights=None, players=None):
    """v(S): weighted mean over background rows b of f(x_S, b_rest); f is a function of one row."""
    return table_of(
        lambda columns: mean_with(f, row, columns, background, weights),
        own_players(len(row)) if players is None else players,
    )


def partial_dependence(f, columns, points, background, weights=None):
    """Mean over the background of f with the columns set to each point: ``(points, outputs)``."""
    means = []
    for point in points:
        row = dict(zip(columns, point, strict=True))
        means.append(mean_with(f, row, set(columns), background, weights))
    return np.array(means)
