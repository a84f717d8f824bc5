"""SAGE from the definition: the average gain over all orders in which the players become known."""

from itertools import permutations

from .partial_dependence import weighted_mean


def known_prediction(f, row, known, background, background_weights):
    """The mean prediction when only the known features keep the row's values."""
    mixed = [[row[j] if j in known else other[j] for j in range(len(row))] for other in background]
    return weighted_mean([f(one) for one in mixed], background_weights)


def worth(loss, f, rows, y, weights, known, background, background_weights):
    """Minus the mean loss of a model that knows only some features."""
    losses = [
        loss(truth, known_prediction(f, row, known, background, background_weights))
        for row, truth in zip(rows, y, strict=True)
    ]
    return -weighted_mean(losses, weights)


def sage_values(loss, f, rows, y, weights, players, background, background_weights):
    """One value per player (a tuple of features), and what they add up to."""
    found = {}

    def value(members):
        key = frozenset(j for i in members for j in players[i])
        if key not in found:
            found[key] = worth(loss, f, rows, y, weights, key, background, background_weights)
        return found[key]

    orders = list(permutations(range(len(players))))
    totals = [0.0] * len(players)
    for order in orders:
        for place, i in enumerate(order):
            totals[i] += value(order[: place + 1]) - value(order[:place])
    return [total / len(orders) for total in totals], value(range(len(players))) - value(())
