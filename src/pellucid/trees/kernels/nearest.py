"""Branch and bound for the cheapest row whose sums of leaves are where they should be.

A node of the search is a set of cells for each player (a run, or bits). Its cheapest row costs the sum of the players'
cheapest cells, a lower bound on all that is in it. Of each tree only those leaves are kept which the node can reach
without costing as much as the best row known, so the largest and smallest leaf of each tree bound the sums; what all
kept leaves of a tree have in common is true of every row that matters, and narrows the node again. A node ends where
the bounds miss the target, or where its cheapest row meets it; otherwise one player's cells are cut in two, where most
of the missing sum is at stake.

The cells of a player with bits are in the order of their costs (the row's own is the first), those of a player with a
run rise in cost on either side of the row's own.
"""

from __future__ import annotations

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.nearest_node import (
    BEST,
    DEPTH,
    LEAST,
    NODES,
    STATE,
    VERDICT,
    bound_players,
    keep_leaves,
    keep_values,
    within,
)
from pellucid.trees.kernels.nearest_split import choose_split, outside_region, split_at

# What the search stands at; a caller answers CANDIDATE by writing ACCEPT, REJECT, PRUNE or SPLIT into `VERDICT`, and
# for SPLIT which PLAYER, from which CELL on (-1: beside its cheapest one), RISING or falling. REJECT and SPLIT are seen
# to by `divide`, before the search goes on: few searches need it, so it is compiled for those alone.
RUNNING, DONE, TOO_DEEP, CANDIDATE = 0, 1, 2, 3
ACCEPT, REJECT, PRUNE, SPLIT, DIVIDED = 1, 2, 3, 4, 5


@kernel
def search(trees, conditions, players, target, rules, stack, scratch, control, most):
    """Goes on for at most so many nodes; `control` says how it stands."""
    low, high, bits, waiting = stack[0], stack[1], stack[2], stack[6]
    other_low, other_high, other_bits = stack[3], stack[4], stack[5]
    depth = int(control[DEPTH])
    verdict = int(control[VERDICT])
    control[VERDICT], control[STATE] = 0, RUNNING
    nodes = 0
    while True:
        going = True
        if verdict == 0:
            nodes += 1
            going = narrow(trees, conditions, players, target, rules, stack, scratch, control, depth)
            if going and within(trees, target, scratch):
                control[DEPTH], control[STATE] = depth, CANDIDATE
                control[NODES] += nodes
                return
        split = verdict == DIVIDED
        if verdict == ACCEPT:
            control[BEST] = control[LEAST]
        elif verdict == 0 and going:
            split = choose_split(trees, conditions, players, target, stack, scratch, control[BEST], depth)
        verdict = 0
        if split:
            depth += 1
            waiting[depth] = 1
            if depth + 2 >= len(waiting):
                control[DEPTH], control[STATE] = depth, TOO_DEEP
                control[NODES] += nodes
                return
        else:
            while depth > 0 and waiting[depth] == 0:
                depth -= 1
            if depth == 0:
                control[DEPTH], control[STATE] = 0, DONE
                control[NODES] += nodes
                return
            waiting[depth] = 0
            for j in range(low.shape[1]):
                low[depth, j], high[depth, j] = other_low[depth, j], other_high[depth, j]
            for w in range(bits.shape[1]):
                bits[depth, w] = other_bits[depth, w]
        if nodes >= most:
            control[DEPTH] = depth
            control[NODES] += nodes
            return


@kernel
def divide(conditions, players, stack, scratch, control):
    """Cuts the node at hand in two as REJECT or SPLIT asks for; the verdict is DIVIDED, or PRUNE if nothing is left."""
    depth = int(control[DEPTH])
    if control[VERDICT] == REJECT:
        split = outside_region(conditions, players, stack, scratch, depth)
    else:
        split = split_at(players, stack, scratch, control, depth)
    control[VERDICT] = DIVIDED if split else PRUNE


@inner
def narrow(trees, conditions, players, target, rules, stack, scratch, control, depth):
    """Bounds a node and narrows it as long as that helps; whether anything is left of it.

    Afterwards ``cell`` is its cheapest row, ``at`` the leaf of each tree there and ``top``, ``bottom`` the extreme
    leaves.
    """
    source = max(depth - 1, 0)
    while True:
        slack = bound_players(players, rules, stack, scratch, control, depth)
        if slack <= 0:
            return False
        if not keep_leaves(trees, conditions, players, target, rules, stack, scratch, source, depth, slack):
            return False
        outcome = keep_values(trees, conditions, players, target, stack, scratch, depth)
        if outcome < 0:
            return False
        if outcome == 0:
            return True
        source = depth
