"""Permutation importance for given donors, and over all pairs."""

from .partial_dependence import weighted_mean, with_values


def with_donor(row, donor, player):
    """The row with all features of the player taken from the donor."""
    return with_values(row, player, [donor[j] for j in player])


def model_loss(loss, f, rows, y, weights):
    """Weighted mean of loss(outcome, prediction) over rows."""
    return weighted_mean([loss(t, f(row)) for row, t in zip(rows, y, strict=True)], weights)


def permuted_loss(loss, f, rows, y, weights, donors, player):
    """The loss with the player's values of row donors[i] given to row i."""
    mixed = [with_donor(row, rows[d], player) for row, d in zip(rows, donors, strict=True)]
    return model_loss(loss, f, mixed, y, weights)


def pairs_loss(loss, f, rows, y, player):
    """Mean loss over all n (n - 1) pairs of a row with another row's values."""
    losses = [
        loss(y[i], f(with_donor(rows[i], rows[k], player)))
        for i in range(len(rows))
        for k in range(len(rows))
        if i != k
    ]
    return sum(losses) / len(losses)


def shifted_loss(total_loss, f, rows, y, player):
    """Mean over the n - 1 cyclic shifts of a loss of all rows together."""
    n = len(rows)
    losses = []
    for s in range(1, n):
        mixed = [with_donor(rows[i], rows[(i + s) % n], player) for i in range(n)]
        losses.append(total_loss(y, [f(row) for row in mixed]))
    return sum(losses) / len(losses)
