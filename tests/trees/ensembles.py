"""Random tree ensembles and rows that fall on their corners: drawn from a seed, with or without hypothesis."""

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from pellucid.trees.ensemble import Nodes, TreeEnsemble
from reference.trees import goes_left

THRESHOLDS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0)
ODD = (math.nan, math.inf, -math.inf, -0.0, 1e300, -1e300, 5e-324)
CODES = (-3.0, -1.0, -0.5, 0.0, 0.9, 1.0, 2.0, 3.0, 31.0, 63.0, 63.5, 64.0, 65.0, 127.0, 128.0, 500.0)


@dataclass
class Branch:
    """A node of a tree under construction; `left` is None at a leaf."""

    cover: float = 0.0
    value: tuple = ()
    left: "Branch | None" = None
    right: "Branch | None" = None
    feature: int = -1
    threshold: float = 0.0
    missing_left: bool = False
    words: tuple = ()  # of a bit-set; none: a numeric split
    other_left: bool = False


@dataclass
class Maker:
    """Draws trees; see `random_ensemble` for the options."""

    rng: np.random.Generator
    n_features: int
    width: int
    categorical: float
    zero_cover: float
    early: float

    def chance(self, probability):
        return bool(self.rng.random() < probability)

    def leaf(self, dead=False):
        """Covers are quarters so that sums are exact; whole for half of the leaves."""
        cover = int(self.rng.integers(1, 40)) / (4 if self.chance(0.5) else 1)
        value = self.rng.normal(size=self.width).round(3)
        return Branch(cover=0.0 if dead or self.chance(self.zero_cover) else cover, value=tuple(value))

    def split(self, left, right):
        branch = Branch(cover=left.cover + right.cover, left=left, right=right)
        branch.feature = int(self.rng.integers(self.n_features))
        branch.missing_left = self.chance(0.5)
        if self.chance(self.categorical):
            size = int(self.rng.integers(1, 3))
            branch.words = tuple(int(w) for w in self.rng.integers(0, 2**64, size, dtype=np.uint64))
            branch.other_left = self.chance(0.5)
            branch.threshold = math.nan
        else:
            branch.threshold = float(self.rng.choice(THRESHOLDS))
        return branch

    def tree(self, depth, dead=False):
        """Branching; stops early at some nodes."""
        if depth == 0 or self.chance(self.early):
            return self.leaf(dead)
        children = [self.tree(depth - 1, dead or self.chance(self.zero_cover / 2)) for _ in range(2)]
        return self.split(*children)

    def chain(self, depth):
        """A leaf beside every split; mostly the side is the one that a hidden row takes, so that it goes deep."""
        hidden = self.rng.choice(THRESHOLDS, self.n_features)
        branch = self.leaf()
        for _ in range(depth):
            split = self.split(branch, self.leaf())
            nodes = flat([[split]])
            if not goes_left(nodes, 0, hidden[split.feature]) ^ self.chance(0.02):
                split.left, split.right = split.right, split.left
            branch = split
        return branch


def in_order(root, breadth_first):
    """Parents before children: level by level, or the left subtree first."""
    waiting, order = deque([root]), []
    while waiting:
        branch = waiting.popleft() if breadth_first else waiting.pop()
        order.append(branch)
        if branch.left is not None:
            children = [branch.left, branch.right]
            waiting.extend(children if breadth_first else reversed(children))
    return order


def flat(trees):
    """Nodes from lists of branches, one list per tree; a child that is not listed is -1."""
    branches = [branch for tree in trees for branch in tree]
    place = {id(branch): i for i, branch in enumerate(branches)}
    width = max(len(branch.value) for branch in branches) or 1
    starts = np.cumsum([0, *[len(branch.words) for branch in branches]])
    return Nodes(
        feature=np.array([b.feature for b in branches]),
        threshold=np.array([b.threshold for b in branches]),
        left=np.array([place.get(id(b.left), -1) for b in branches]),
        right=np.array([place.get(id(b.right), -1) for b in branches]),
        missing_left=np.array([b.missing_left for b in branches]),
        cover=np.array([b.cover for b in branches]),
        value=np.array([b.value or (0.0,) * width for b in branches]),
        set_start=np.array([starts[i] if b.words else -1 for i, b in enumerate(branches)]),
        set_words=np.array([len(b.words) for b in branches]),
        other_left=np.array([b.other_left for b in branches]),
        sets=np.array([word for b in branches for word in b.words], dtype=np.uint64),
    )


def random_ensemble(
    rng,
    *,
    n_features=3,
    n_trees=2,
    depth=4,
    outputs=1,
    vector=False,
    chain=False,
    categorical=0.3,
    zero_cover=0.1,
    early=0.15,
    breadth_first=False,
):
    """A random ensemble.

    depth: the most of each tree (0: single leaves), exact for chains; vector: leaves hold all outputs (else each
    tree has one output, drawn); chain: trees are paths with a leaf beside every split; categorical: chance that a
    split is on a set; zero_cover: chance that a leaf has no cover (half of it: that a whole branch has none);
    early: chance that a branch ends before its depth; breadth_first: the order of nodes.
    """
    maker = Maker(rng, n_features, outputs if vector else 1, categorical, zero_cover, early)
    trees = [in_order(maker.chain(depth) if chain else maker.tree(depth), breadth_first) for _ in range(n_trees)]
    return TreeEnsemble(
        nodes=flat(trees),
        roots=np.cumsum([0, *[len(tree) for tree in trees]])[:-1],
        output=np.zeros(n_trees, int) if vector else rng.integers(outputs, size=n_trees),
        base=rng.normal(size=outputs).round(3),
        n_features=n_features,
    )


def corner_values(ensemble, column):
    """Values of a column on which something can go wrong: thresholds and their neighbours, codes, odd numbers."""
    nodes = ensemble.nodes
    here = nodes.feature == column
    numeric = np.unique(nodes.threshold[here & (nodes.set_start < 0)])
    near = [numeric, np.nextafter(numeric, math.inf), np.nextafter(numeric, -math.inf), numeric + 0.25]
    codes = CODES if np.any(here & (nodes.set_start >= 0)) else ()
    return np.concatenate([*near, codes, ODD])


def random_rows(rng, ensemble, n, *, odd=0.1):
    """Rows of corner values: half at random (odd ones with a small chance each), half aimed at a random leaf."""
    pools = [corner_values(ensemble, column) for column in range(ensemble.n_features)]
    parent = _parents(ensemble.nodes)
    rows = np.empty((n, ensemble.n_features))
    for row in rows:
        for column, pool in enumerate(pools):
            plain = pool[: len(pool) - len(ODD)]
            row[column] = rng.choice(pool if len(plain) == 0 or rng.random() < odd else plain)
        if rng.random() < 0.5:
            _aim(rng, ensemble, parent, pools, row)
    return rows


def _parents(nodes):
    """The node above each node that has one."""
    children = ((nodes.left[i], nodes.right[i]) for i in range(len(nodes.feature)))
    return {int(child): i for i, pair in enumerate(children) for child in pair if child >= 0}


def _aim(rng, ensemble, parent, pools, row):
    """Change the row so that it reaches a random leaf, in the columns where that can be."""
    nodes = ensemble.nodes
    at = int(rng.choice(np.flatnonzero(nodes.feature < 0)))
    fitting = [list(pool) for pool in pools]
    while at in parent:
        above = parent[at]
        column, left = nodes.feature[above], bool(nodes.left[above] == at)
        fitting[column] = [x for x in fitting[column] if goes_left(nodes, above, x) == left]
        at = above
    for column, values in enumerate(fitting):
        if values and len(values) < len(pools[column]):
            row[column] = rng.choice(values)


def seeded_ensemble(seed, **options):
    return random_ensemble(np.random.default_rng(seed), **options)


def seeded_scene(seed, n_rows, **options):
    """An ensemble and rows for it."""
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, **options)
    return ensemble, random_rows(rng, ensemble, n_rows)


def _options(n_features, n_trees, depth, outputs, chain):
    return {
        "seed": st.integers(0, 2**32 - 1),
        "n_features": st.integers(1, n_features),
        "n_trees": st.integers(1, n_trees),
        "depth": st.integers(0, depth),
        "outputs": st.integers(1, outputs),
        "vector": st.booleans(),
        "chain": st.just(chain),
        "categorical": st.sampled_from([0.0, 0.3, 1.0]),
        "zero_cover": st.sampled_from([0.0, 0.15, 0.5]),
        "breadth_first": st.booleans(),
    }


def ensembles(*, n_features=6, n_trees=4, depth=6, outputs=3, chain=False):
    """Strategy: ensembles up to these sizes."""
    return st.builds(seeded_ensemble, **_options(n_features, n_trees, depth, outputs, chain))


def scenes(*, n_rows=20, n_features=6, n_trees=4, depth=6, outputs=3, chain=False):
    """Strategy: pairs of an ensemble up to these sizes and 1 to `n_rows` rows for it."""
    options = _options(n_features, n_trees, depth, outputs, chain)
    return st.builds(seeded_scene, n_rows=st.integers(1, n_rows), **options)


def chains(*, n_rows=20, n_features=4, n_trees=2, depth=200, outputs=2):
    """Strategy: like `scenes`, with trees that are deep paths on which features come again."""
    return scenes(n_rows=n_rows, n_features=n_features, n_trees=n_trees, depth=depth, outputs=outputs, chain=True)
