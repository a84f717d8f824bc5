"""Importance by fitting again, for given folds and permuted outcomes: plain loops over rows and columns.

``fit(rows, y)`` returns a function from a row (a list of numbers) to a prediction; ``loss(outcome, prediction)`` is one number.
"""


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def without(rows, player):
    return [[value for j, value in enumerate(row) if j not in player] for row in rows]


def held_out_losses(fit, loss, rows, y, fold, k):
    """Losses of the rows of fold k under the model fitted to all other rows."""
    inside = [i for i in range(len(rows)) if fold[i] != k]
    f = fit([rows[i] for i in inside], [y[i] for i in inside])
    return [loss(y[i], f(rows[i])) for i in range(len(rows)) if fold[i] == k]


def drop_importance(fit, loss, rows, y, fold, player, compare="difference"):
    """Cross-validated loss without the player's columns against that with them."""
    before, after = [], []
    for k in sorted(set(fold)):
        before += held_out_losses(fit, loss, rows, y, fold, k)
        after += held_out_losses(fit, loss, without(rows, player), y, fold, k)
    return mean(after) / mean(before) if compare == "ratio" else mean(after) - mean(before)


def p_value(observed, null):
    """Share of null values at least as large, the observed one counted among them."""
    return (1 + sum(value >= observed for value in null)) / (1 + len(null))


def pairs_importance(f, loss, rows, y, j):
    """Exact permutation importance of one feature: the mean over all pairs of a row and another row's value."""
    n = len(rows)
    after = [
        loss(y[i], f([rows[k][c] if c == j else rows[i][c] for c in range(len(rows[i]))]))
        for i in range(n)
        for k in range(n)
        if i != k
    ]
    return mean(after) - mean(loss(y[i], f(rows[i])) for i in range(n))


def folds_importance(fit, loss, rows, y, fold, j):
    """Mean over folds, by their rows, of the importance on the fold of the model fitted to the others."""
    total = 0.0
    for k in sorted(set(fold)):
        inside = [i for i in range(len(rows)) if fold[i] != k]
        held = [i for i in range(len(rows)) if fold[i] == k]
        f = fit([rows[i] for i in inside], [y[i] for i in inside])
        total += len(held) * pairs_importance(f, loss, [rows[i] for i in held], [y[i] for i in held], j)
    return total / len(rows)
