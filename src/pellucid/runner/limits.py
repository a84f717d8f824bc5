"""How work is cut into pieces, and from what size on a model is read instead of asked or a kernel compiled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What every run carries. Up to rounding no result depends on any of it but the last; it is a matter of time and
    memory.

    Another number than the usual one takes another path through the same work: an Explainer hands its own on.
    """

    batch_bytes: int = 16 * 2**20  # of table handed to the model at once: more no longer stays in the caches
    batch_rows: int = 131_072  # more no longer makes a forest or a linear model faster
    worth_trees: float = 1e7  # rows times variants times trees: some tenths of a second, as loading the kernels takes
    worth_components: float = 3e7  # entries of tables times rows times trees, likewise
    worth_sums: float = 15_000  # rows asked beyond those encoded: fewer are asked as quickly
    sums_held: int = 2**28  # terms, of eight bytes each: more are asked for, which takes hardly any memory
    sums_at_once: int = 2**16  # predictions made at once, so that they stay in the caches
    portion_bytes: int = 64 * 2**20  # of rows and results that go through the trees at once
    contribution_bytes: int = 2**19  # of rows and contributions that a thread works on at once, beside the results
    share_blocks: int = 64  # at most so many per call of a kernel: their rows and results stay in the cache
    tree_bytes: int = 32 * 2**20  # of nodes and steps held at once
    table_bytes: int = 64 * 2**20  # of what every row needs of the trees and the background
    listed_rows: int = 32  # a list, rather than bits, are the rows at a node that are fewer than one in so many
    pruning_points: int = 4096  # up to so many points, it is looked up first where they can go
    plain_cells: int = 1 << 20  # nodes or leaves times rows that numpy holds at once
    patience: float = 0.25  # seconds that the walks of a decomposition may take in numpy
    coalitions: int = 1 << 21  # of leaves that are held at once
    grid_cells: int = 1 << 22  # over which boxes are summed up
    compared: int = 1 << 22  # rows times boxes, or leaves and their players, at once
    patterns: int = 8  # players of a leaf of which all patterns are counted
    refitted: int = 1 << 22  # training rows times trees: influence in a larger model is checked by fewer refits


USUAL = Limits()
